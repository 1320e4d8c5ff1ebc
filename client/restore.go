package client

import (
	"context"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

func newPlanBody(q *retake.PlanRequest) wire.PlanBody {
	return wire.PlanBody{Course: q.Course, Ref: q.Ref, Paths: q.Paths, PathsRaw: rawTexts(q.Paths), To: q.To, Git: q.Git, Fork: q.Fork, Edits: q.Edits, Session: q.Session, Hunks: q.Hunks, From: q.From, Spread: q.Spread, Asker: q.Asker}
}

// PlanRestore returns what a restore would do. It changes nothing, so it may be retried.
func (c *Client) PlanRestore(ctx context.Context, req retake.PlanRequest) (retake.Plan, error) {
	a := newRequest(http.MethodPost, newPlanBody(&req), "workspaces", string(req.Workspace), "plans")
	a.idempotent, a.readOnly = true, true
	return callJSON[retake.Plan](ctx, c.conn, a)
}

// ViewPlan returns a plan and what is shown of it. It changes nothing, so it may be retried.
func (c *Client) ViewPlan(ctx context.Context, req retake.PlanRequest) (retake.ViewedPlan, error) {
	a := newRequest(http.MethodPost, newPlanBody(&req), "workspaces", string(req.Workspace), "view", "plan")
	a.idempotent, a.readOnly = true, true
	return callJSON[retake.ViewedPlan](ctx, c.conn, a)
}

func newRestoreBody(q *retake.ApplyRequest, id retake.CheckpointID) wire.RestoreBody {
	return wire.RestoreBody{
		Course: q.Course, Ref: q.Ref, Paths: q.Paths, PathsRaw: rawTexts(q.Paths), To: q.To, Git: q.Git, Fork: q.Fork, Edits: q.Edits, Session: q.Session, Hunks: q.Hunks, From: q.From,
		Spread: q.Spread, Asker: q.Asker, Digest: q.Digest, Accept: q.Accept, ID: id,
	}
}

// ApplyRestore applies a plan. The new checkpoint gets its ID here, and the service returns the
// earlier result for an ID that it knows, so it may be retried.
func (c *Client) ApplyRestore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	id, err := checkpointID(req.ID)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	a := newRequest(http.MethodPost, newRestoreBody(&req, id), "workspaces", string(req.Workspace), "restores")
	a.idempotent, a.onProgress = true, req.Progress
	return callJSON[retake.RestoreResult](ctx, c.conn, a)
}

// Fork creates a new workspace from a checkpoint.
func (c *Client) Fork(ctx context.Context, req retake.ForkRequest) (retake.ForkResult, error) {
	dir, err := c.conn.resolveDir(req.Dir)
	if err != nil {
		return retake.ForkResult{}, dirError(err)
	}
	a := newRequest(http.MethodPost, wire.ForkBody{
		Ref: req.Ref, Dir: dir, DirRaw: rawBytes(dir), Name: req.Name, NameRaw: rawBytes(req.Name), Throwaway: req.Throwaway, Accept: req.Accept,
	}, "workspaces", string(req.Workspace), "forks")
	a.onProgress = req.Progress
	return callJSON[retake.ForkResult](ctx, c.conn, a)
}

// Forks lists the forks of a workspace.
func (c *Client) Forks(ctx context.Context, ws retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	out, err := callJSON[wire.ForkList](ctx, c.conn, newGet(nil, "workspaces", string(ws), "forks"))
	return out.Forks, err
}

// rawTexts returns the bytes of all texts if one of them is not valid UTF-8, otherwise nil.
func rawTexts(all []string) [][]byte {
	if !slices.ContainsFunc(all, func(s string) bool { return !utf8.ValidString(s) }) {
		return nil
	}
	raw := make([][]byte, len(all))
	for i, s := range all {
		raw[i] = []byte(s)
	}
	return raw
}
