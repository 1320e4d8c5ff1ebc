package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// storage is the part of a Client that looks after the stored bytes: it verifies, measures,
// frees, backs up and erases them.
type storage struct{ conn *conn }

// Scrub reads stored data back and verifies it, and repairs it if that is asked for. It may be
// retried.
func (c *storage) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	a := newRequest(http.MethodPost, wire.ScrubBody{Share: q.Share, Repair: q.Repair}, "scrub")
	a.idempotent, a.readOnly, a.onProgress = true, !q.Repair, q.Progress
	return callJSON[retake.ScrubReport](ctx, c.conn, a)
}

// Space returns the size of the store and the free space of its disk.
func (c *storage) Space(ctx context.Context) (retake.StoreState, error) {
	return callJSON[retake.StoreState](ctx, c.conn, newGet(nil, "space"))
}

// Sweep frees the bytes that no checkpoint needs.
func (c *storage) Sweep(ctx context.Context) (retake.SweepReport, error) {
	return callJSON[retake.SweepReport](ctx, c.conn, newRequest(http.MethodPost, nil, "sweep"))
}

// SpacePlan returns what the next cleanup would delete.
func (c *storage) SpacePlan(ctx context.Context) (retake.SpacePlan, error) {
	return callJSON[retake.SpacePlan](ctx, c.conn, newGet(nil, "space", "plan"))
}

// Thin runs the cleanup now.
func (c *storage) Thin(ctx context.Context, req retake.ThinRequest) (retake.ThinReport, error) {
	a := newRequest(http.MethodPost, nil, "thin")
	a.onProgress = req.Progress
	return callJSON[retake.ThinReport](ctx, c.conn, a)
}

// Rebuild rebuilds the catalog from the store.
func (c *storage) Rebuild(ctx context.Context) (retake.RebuildReport, error) {
	return callJSON[retake.RebuildReport](ctx, c.conn, newRequest(http.MethodPost, nil, "rebuild"))
}

// Prove compares the tree ID of a checkpoint with that of the stock engine.
func (c *storage) Prove(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Proof, error) {
	return callJSON[retake.Proof](ctx, c.conn, newGet(url.Values{"ref": {ref}}, "workspaces", string(ws), "proof"))
}
