package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/retake-dev/retake"
)

type pinBody struct {
	Ref string `json:"ref"`
}

// Pin pins a checkpoint. If a response was lost, the pin may exist already; it counts as created
// if it is on the same checkpoint.
func (c *Client) Pin(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	a := newRequest(http.MethodPut, pinBody{ref}, "workspaces", string(ws), "pins", name)
	a.idempotent = true
	pin, err := callJSON[retake.Pin](ctx, c, a)
	if !a.mayHaveArrived || !retake.IsKind(err, retake.Exists) {
		return pin, err
	}
	wanted, ferr := c.Find(ctx, ws, ref)
	if ferr != nil {
		return pin, err
	}
	tl, lerr := c.Log(ctx, retake.LogQuery{Workspace: ws, Limit: 1})
	if lerr != nil {
		return pin, err
	}
	for _, p := range tl.Pins {
		if p.Name == name && p.Checkpoint == wanted.ID {
			return p, nil
		}
	}
	return pin, err
}

// Unpin removes a pin.
func (c *Client) Unpin(ctx context.Context, ws retake.WorkspaceID, name string) error {
	a := newRequest(http.MethodDelete, nil, "workspaces", string(ws), "pins", name)
	a.idempotent = true
	err := c.send(ctx, a, func(r *http.Response) error { return r.Body.Close() })
	if a.mayHaveArrived && retake.IsKind(err, retake.NotFound) {
		return nil // the lost response said that it was removed
	}
	return err
}

type forgetBody struct {
	Refs []string `json:"refs"`
}

// Forget deletes checkpoints.
func (c *Client) Forget(ctx context.Context, ws retake.WorkspaceID, refs []string) ([]retake.Tombstone, error) {
	a := newRequest(http.MethodPost, forgetBody{append([]string{}, refs...)}, "workspaces", string(ws), "forget")
	out, err := callJSON[struct{ Tombstones []retake.Tombstone }](ctx, c, a)
	return out.Tombstones, err
}

type scrubBody struct {
	Share float64 `json:"share,omitempty"`
}

// Scrub reads stored data back and verifies it. It changes nothing, so it may be retried.
func (c *Client) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	a := newRequest(http.MethodPost, scrubBody{q.Share}, "scrub")
	a.idempotent, a.readOnly, a.onProgress = true, true, q.Progress
	return callJSON[retake.ScrubReport](ctx, c, a)
}

// Space returns the size of the store and the free space of its disk.
func (c *Client) Space(ctx context.Context) (retake.StoreState, error) {
	return callJSON[retake.StoreState](ctx, c, newGet(nil, "space"))
}

// Sweep frees the bytes that no checkpoint needs.
func (c *Client) Sweep(ctx context.Context) (retake.SweepReport, error) {
	return callJSON[retake.SweepReport](ctx, c, newRequest(http.MethodPost, nil, "sweep"))
}

// SpacePlan returns what the next cleanup would delete.
func (c *Client) SpacePlan(ctx context.Context) (retake.SpacePlan, error) {
	return callJSON[retake.SpacePlan](ctx, c, newGet(nil, "space", "plan"))
}

// Thin runs the cleanup now.
func (c *Client) Thin(ctx context.Context, req retake.ThinRequest) (retake.ThinReport, error) {
	a := newRequest(http.MethodPost, nil, "thin")
	a.onProgress = req.Progress
	return callJSON[retake.ThinReport](ctx, c, a)
}

// Rebuild rebuilds the catalog from the store.
func (c *Client) Rebuild(ctx context.Context) (retake.RebuildReport, error) {
	return callJSON[retake.RebuildReport](ctx, c, newRequest(http.MethodPost, nil, "rebuild"))
}

// Prove compares the tree ID of a checkpoint with that of the stock engine.
func (c *Client) Prove(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Proof, error) {
	return callJSON[retake.Proof](ctx, c, newGet(url.Values{"ref": {ref}}, "workspaces", string(ws), "proof"))
}
