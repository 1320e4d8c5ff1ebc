package client

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// PlanPurge returns what a purge would remove.
func (c *storage) PlanPurge(ctx context.Context, req retake.PurgeRequest) (retake.PurgePlan, error) {
	a := newRequest(http.MethodPost, wire.PurgeBody{Paths: req.Paths, Contents: req.Contents}, "workspaces", string(req.Workspace), "purge", "plan")
	a.onProgress = req.Progress
	return callJSON[retake.PurgePlan](ctx, c.conn, a)
}

// Purge removes a path or content from the whole history.
func (c *storage) Purge(ctx context.Context, req retake.PurgeRequest) (retake.PurgeReport, error) {
	a := newRequest(http.MethodPost, wire.PurgeBody{Paths: req.Paths, Contents: req.Contents}, "workspaces", string(req.Workspace), "purge")
	a.onProgress = req.Progress
	return callJSON[retake.PurgeReport](ctx, c.conn, a)
}

// Erase ends the protection of a workspace and removes its whole history.
func (c *storage) Erase(ctx context.Context, ws retake.WorkspaceID) (retake.PurgeReport, error) {
	return callJSON[retake.PurgeReport](ctx, c.conn, newRequest(http.MethodPost, nil, "workspaces", string(ws), "erase"))
}
