package client

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Pin pins a checkpoint. If a response was lost, the pin may exist already; it counts as created
// if it is on the same checkpoint.
func (c *Client) Pin(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	a := newRequest(http.MethodPut, wire.PinBody{Ref: ref}, "workspaces", string(ws), "pins", name)
	a.idempotent = true
	pin, err := callJSON[retake.Pin](ctx, c.conn, a)
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
	return c.conn.sendDelete(ctx, newRequest(http.MethodDelete, nil, "workspaces", string(ws), "pins", name))
}

// Forget deletes checkpoints.
func (c *Client) Forget(ctx context.Context, ws retake.WorkspaceID, refs []string) ([]retake.Tombstone, error) {
	a := newRequest(http.MethodPost, wire.ForgetBody{Refs: append([]string{}, refs...)}, "workspaces", string(ws), "forget")
	out, err := callJSON[wire.TombstoneList](ctx, c.conn, a)
	return out.Tombstones, err
}
