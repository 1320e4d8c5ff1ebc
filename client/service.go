package client

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Estimate counts what a directory contains.
func (c *Client) Estimate(ctx context.Context, dir string) (retake.Estimate, error) {
	return callJSON[retake.Estimate](ctx, c.conn, c.conn.newDirRequest(dir, "estimate"))
}

// Locate finds the workspace that contains dir.
func (c *Client) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	return callJSON[retake.Workspace](ctx, c.conn, c.conn.newDirRequest(dir, "locate"))
}

// resolveDir returns a directory as the service understands it. The daemon has another working
// directory, so it gets an absolute path. A server has its own directories, and creates one if
// the path is empty.
func (c *conn) resolveDir(path string) (string, error) {
	if c.opts.Key != "" {
		return path, nil
	}
	return filepath.Abs(path)
}

// newDirRequest returns a request about a directory.
func (c *conn) newDirRequest(dir, what string) *apiRequest {
	abs, err := c.resolveDir(dir)
	a := newGet(url.Values{"dir": {abs}}, what)
	if err != nil {
		a.err = dirError(err)
	}
	return a
}

func dirError(err error) error {
	return &retake.Error{Kind: retake.NotFound, What: "no such directory", Safe: unchanged, Err: err}
}

// Init protects a directory and takes its first checkpoint.
func (c *Client) Init(ctx context.Context, req retake.InitRequest) (retake.SaveResult, error) {
	dir, err := c.conn.resolveDir(req.Dir)
	if err != nil {
		return retake.SaveResult{}, dirError(err)
	}
	a := newRequest(http.MethodPost, wire.InitBody{
		Dir: dir, DirRaw: rawBytes(dir), Name: req.Name, NameRaw: rawBytes(req.Name), Accept: req.Accept, Mark: req.Mark, Env: req.Env, Automatic: req.Automatic,
	}, "workspaces")
	a.onProgress = req.Progress
	return callJSON[retake.SaveResult](ctx, c.conn, a)
}

// rawBytes returns the bytes of a text that is not valid UTF-8, or nil.
func rawBytes(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}

// Workspaces lists all workspaces, the most recently used first.
func (c *Client) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	out, err := callJSON[wire.WorkspaceList](ctx, c.conn, newGet(nil, "workspaces"))
	return out.Workspaces, err
}

// Deinit stops protecting a workspace.
func (c *Client) Deinit(ctx context.Context, ws retake.WorkspaceID) (retake.Workspace, error) {
	return callJSON[retake.Workspace](ctx, c.conn, newRequest(http.MethodDelete, nil, "workspaces", string(ws)))
}

// Save takes a checkpoint. The checkpoint gets its ID here, so that a retry adds nothing.
func (c *Client) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	id, err := checkpointID(req.ID)
	if err != nil {
		return retake.SaveResult{}, err
	}
	a := newRequest(http.MethodPost, wire.SaveBody{
		ID: id, Intent: req.Intent, Trigger: req.Trigger, Pin: req.Pin, Budget: req.Budget, IfChanged: req.IfChanged,
	}, "workspaces", string(req.Workspace), "checkpoints")
	a.idempotent, a.onProgress = true, req.Progress
	return callJSON[retake.SaveResult](ctx, c.conn, a)
}

// checkpointID returns id, or a new ID if it is empty.
func checkpointID(id retake.CheckpointID) (retake.CheckpointID, error) {
	if id != "" {
		return id, nil
	}
	u, err := uuid.NewV7()
	if err != nil {
		return "", &retake.Error{Kind: retake.Internal, What: "no id could be made", Safe: unchanged, Err: err}
	}
	return retake.CheckpointID(retake.CheckpointPrefix + u.String()), nil
}

// Log returns a part of the timeline.
func (c *Client) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
	t, err := callJSON[retake.Timeline](ctx, c.conn, newGet(logValues(q), "workspaces", string(q.Workspace), "checkpoints"))
	t.NextCursor = "" // of HTTP: Before does the same
	return t, err
}

// ViewTimeline arranges a part of the timeline in rows.
func (c *Client) ViewTimeline(ctx context.Context, q retake.TimelineQuery) (retake.TimelineView, error) {
	v := logValues(q.LogQuery)
	if len(q.Open) > 0 {
		v["open"] = q.Open
	}
	for name, set := range map[string]bool{"fold_replaced": q.FoldReplaced, "now": q.Now, "flat": q.Flat, "graph": q.Graph} {
		if set {
			v.Set(name, "true")
		}
	}
	return callJSON[retake.TimelineView](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "view", "timeline"))
}

// logValues are the parameters of a part of the timeline.
func logValues(q retake.LogQuery) url.Values {
	v := url.Values{}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.Format(time.RFC3339Nano))
	}
	if q.Before != 0 {
		v.Set("before", strconv.FormatInt(q.Before, 10))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Good {
		v.Set("good", "true")
	}
	if q.Path != "" {
		v.Set("path", q.Path)
	}
	if q.Session != "" {
		v.Set("session", q.Session)
	}
	return v
}

// Find resolves a ref to a checkpoint.
func (c *Client) Find(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	return callJSON[retake.Checkpoint](ctx, c.conn, newGet(url.Values{"ref": {ref}}, "workspaces", string(ws), "find"))
}

// Diff compares two checkpoints.
func (c *Client) Diff(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	v := url.Values{"from": {q.From}, "to": {q.To}, "path": q.Paths}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.After != "" {
		v.Set("after", q.After)
	}
	out, err := callJSON[retake.Comparison](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "diff"))
	out.NextCursor = "" // of HTTP: Next does the same
	return out, err
}

// List returns the entries of a directory.
func (c *Client) List(ctx context.Context, ws retake.WorkspaceID, ref, dir string) ([]retake.Entry, error) {
	v := url.Values{"ref": {ref}, "dir": {dir}}
	out, err := callJSON[wire.EntryList](ctx, c.conn, newGet(v, "workspaces", string(ws), "list"))
	return out.Entries, err
}

// Status returns how well a workspace is protected.
func (c *Client) Status(ctx context.Context, ws retake.WorkspaceID) (retake.Status, error) {
	return callJSON[retake.Status](ctx, c.conn, newGet(nil, "workspaces", string(ws), "status"))
}
