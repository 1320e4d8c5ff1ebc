package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// observer is the part of a Client that is retake.Observer: what agents do and say.
type observer struct{ conn *conn }

// Observe reports a signal. It has an ID, so it may be sent again.
func (c *observer) Observe(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
	a := newRequest(http.MethodPost, s, "signals")
	a.idempotent = true
	return callJSON[retake.Reaction](ctx, c.conn, a)
}

// Effects lists the external actions of agents.
func (c *observer) Effects(ctx context.Context, ws retake.WorkspaceID, since string) ([]retake.Effect, error) {
	q := url.Values{}
	if since != "" {
		q.Set("since", since)
	}
	out, err := callJSON[wire.EffectList](ctx, c.conn, newGet(q, "workspaces", string(ws), "effects"))
	return out.Effects, err
}

// Tasks returns the newest to-do list.
func (c *observer) Tasks(ctx context.Context, ws retake.WorkspaceID) ([]retake.Task, error) {
	out, err := callJSON[wire.TaskList](ctx, c.conn, newGet(nil, "workspaces", string(ws), "tasks"))
	return out.Tasks, err
}

// SetTasks replaces the to-do list.
func (c *observer) SetTasks(ctx context.Context, ws retake.WorkspaceID, tasks []retake.Task) (retake.Reaction, error) {
	if tasks == nil {
		tasks = []retake.Task{}
	}
	a := newPut(ctx, wire.TaskList{Tasks: tasks}, "workspaces", string(ws), "tasks")
	a.idempotent = false // it may take a checkpoint
	return callJSON[retake.Reaction](ctx, c.conn, a)
}

// Approve lets a stopped call pass once.
func (c *observer) Approve(ctx context.Context, req retake.ApproveRequest) (retake.Effect, error) {
	body := wire.ApproveBody{Asker: req.Asker}
	return callJSON[retake.Effect](ctx, c.conn, newRequest(http.MethodPost, body, "workspaces", string(req.Workspace), "effects", req.ID, "approve"))
}

// State returns the state of the agent at a checkpoint.
func (c *observer) State(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.State, error) {
	return callJSON[retake.State](ctx, c.conn, newGet(url.Values{"ref": {ref}}, "workspaces", string(ws), "state"))
}

// Conversation streams a conversation.
func (c *observer) Conversation(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	state, err := c.State(ctx, ws, ref)
	if err != nil {
		return nil, retake.Conversation{}, err
	}
	b, err := c.conn.openBytes(ctx, newGet(url.Values{"ref": {string(state.Checkpoint.ID)}}, "workspaces", string(ws), "conversation"))
	if err != nil {
		return nil, retake.Conversation{}, err
	}
	if state.Conversation == nil { // it was added between the two requests
		state.Conversation = &retake.Conversation{}
	}
	return b, *state.Conversation, nil
}

// Spoken returns what was said up to a checkpoint, with likely secrets masked.
func (c *observer) Spoken(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Spoken, error) {
	return callJSON[retake.Spoken](ctx, c.conn, newGet(url.Values{"ref": {ref}}, "workspaces", string(ws), "spoken"))
}

// Resume forks a conversation, so that an agent can continue it.
func (c *observer) Resume(ctx context.Context, req retake.ResumeRequest) (retake.Resumption, error) {
	body := wire.ResumeBody{Ref: req.Ref, Dir: req.Dir, DirRaw: rawBytes(req.Dir), Look: req.Look}
	return callJSON[retake.Resumption](ctx, c.conn, newRequest(http.MethodPost, body, "workspaces", string(req.Workspace), "resume"))
}
