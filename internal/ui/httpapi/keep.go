package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type pinPath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Name      string             `path:"name" doc:"The pin's name."`
}

type pinInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Name      string             `path:"name" doc:"The pin's name."`
	Body      wire.PinBody
}

type forgetInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.ForgetBody
}

// registerPins registers the routes for pins and for deleting checkpoints.
func (a *api) registerPins() {
	handleJSON(a, newOperation(http.MethodPut, "/v1/workspaces/{ws}/pins/{name}", "pin", "Pin a checkpoint"), func(ctx context.Context, in *pinInput) (retake.Pin, error) {
		return a.Pin(ctx, in.Workspace, in.Body.Ref, in.Name)
	})
	handleEmpty(a, newOperation(http.MethodDelete, "/v1/workspaces/{ws}/pins/{name}", "unpin", "Remove a pin"), func(ctx context.Context, in *pinPath) error {
		return a.Unpin(ctx, in.Workspace, in.Name)
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/forget", "forget", "Delete checkpoints"), func(ctx context.Context, in *forgetInput) (wire.TombstoneList, error) {
		stones, err := a.Forget(ctx, in.Workspace, in.Body.Refs)
		return wire.TombstoneList{Tombstones: nonNil(stones)}, err
	})
}
