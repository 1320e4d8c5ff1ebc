package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
)

type pinPath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Name      string             `path:"name" doc:"The name of the pin."`
}

type pinInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Name      string             `path:"name" doc:"The name of the pin."`
	Body      pinBody
}

type pinBody struct {
	Ref string `json:"ref" doc:"What to pin."`
}

type forgetInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      forgetBody
}

type forgetBody struct {
	Refs []string `json:"refs" nullable:"false" doc:"What to forget. The newest checkpoint and pinned ones stay."`
}

type tombstoneList struct {
	Tombstones []retake.Tombstone `json:"tombstones" nullable:"false"`
}

func (a *api) keeping() {
	answer(a, op(http.MethodPut, "/v1/workspaces/{ws}/pins/{name}", "pin", "Keep a checkpoint under a name"), func(ctx context.Context, in *pinInput) (retake.Pin, error) {
		return a.Pin(ctx, in.Workspace, in.Body.Ref, in.Name)
	})
	obey(a, op(http.MethodDelete, "/v1/workspaces/{ws}/pins/{name}", "unpin", "Take a pin off"), func(ctx context.Context, in *pinPath) error {
		return a.Unpin(ctx, in.Workspace, in.Name)
	})
	answer(a, op(http.MethodPost, "/v1/workspaces/{ws}/forget", "forget", "Drop checkpoints from the timeline"), func(ctx context.Context, in *forgetInput) (tombstoneList, error) {
		stones, err := a.Forget(ctx, in.Workspace, in.Body.Refs)
		return tombstoneList{filled(stones)}, err
	})
}
