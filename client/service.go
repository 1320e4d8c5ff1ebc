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
)

// Estimate looks at a directory without touching it.
func (c *Client) Estimate(ctx context.Context, dir string) (retake.Estimate, error) {
	return call[retake.Estimate](ctx, c, c.at(dir, "estimate"))
}

// Locate finds the workspace that dir lies in.
func (c *Client) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	return call[retake.Workspace](ctx, c, c.at(dir, "locate"))
}

// dir is a directory as the other end may understand it: on this machine it stands
// elsewhere; a server has directories of its own, and makes one when none is named.
func (c *Client) dir(path string) (string, error) {
	if c.o.Key != "" {
		return path, nil
	}
	return filepath.Abs(path)
}

// at asks about a directory.
func (c *Client) at(dir, what string) *ask {
	abs, err := c.dir(dir)
	a := get(url.Values{"dir": {abs}}, what)
	if err != nil {
		a.err = noDir(err)
	}
	return a
}

func noDir(err error) error {
	return &retake.Error{Kind: retake.NotFound, What: "no such directory", Safe: unchanged, Err: err}
}

type initBody struct {
	Dir     string            `json:"dir"`
	DirRaw  []byte            `json:"dir_raw,omitempty"`
	Name    string            `json:"name,omitempty"`
	NameRaw []byte            `json:"name_raw,omitempty"`
	Accept  []string          `json:"accept,omitempty"`
	Mark    retake.MarkChoice `json:"mark,omitempty"`
	Env     []string          `json:"env,omitempty"`
}

// Init protects a directory and takes its first checkpoint.
func (c *Client) Init(ctx context.Context, req retake.InitRequest) (retake.SaveResult, error) {
	dir, err := c.dir(req.Dir)
	if err != nil {
		return retake.SaveResult{}, noDir(err)
	}
	a := to(http.MethodPost, initBody{
		Dir: dir, DirRaw: twin(dir), Name: req.Name, NameRaw: twin(req.Name), Accept: req.Accept, Mark: req.Mark, Env: req.Env,
	}, "workspaces")
	a.follow = req.Progress
	return call[retake.SaveResult](ctx, c, a)
}

// twin holds the bytes of text that is not UTF-8.
func twin(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}

// Workspaces lists all, the most recently used first.
func (c *Client) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	out, err := call[struct{ Workspaces []retake.WorkspaceState }](ctx, c, get(nil, "workspaces"))
	return out.Workspaces, err
}

// Deinit ends the protection.
func (c *Client) Deinit(ctx context.Context, ws retake.WorkspaceID) (retake.Workspace, error) {
	return call[retake.Workspace](ctx, c, to(http.MethodDelete, nil, "workspaces", string(ws)))
}

type saveBody struct {
	ID        retake.CheckpointID `json:"id,omitempty"`
	Intent    string              `json:"intent,omitempty"`
	Trigger   retake.Trigger      `json:"trigger,omitempty"`
	Pin       string              `json:"pin,omitempty"`
	Budget    time.Duration       `json:"budget,omitempty"`
	IfChanged bool                `json:"if_changed,omitempty"`
}

// Save takes a checkpoint. It has an id before it is asked for, so that asking
// again adds nothing.
func (c *Client) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	id, err := checkpointID(req.ID)
	if err != nil {
		return retake.SaveResult{}, err
	}
	a := to(http.MethodPost, saveBody{
		ID: id, Intent: req.Intent, Trigger: req.Trigger, Pin: req.Pin, Budget: req.Budget, IfChanged: req.IfChanged,
	}, "workspaces", string(req.Workspace), "checkpoints")
	a.again, a.follow = true, req.Progress
	return call[retake.SaveResult](ctx, c, a)
}

// checkpointID is the one of the caller, or a new one.
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

// Log reads a part of the timeline.
func (c *Client) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
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
	return call[retake.Timeline](ctx, c, get(v, "workspaces", string(q.Workspace), "checkpoints"))
}

// Find resolves a ref to a checkpoint.
func (c *Client) Find(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	return call[retake.Checkpoint](ctx, c, get(url.Values{"ref": {ref}}, "workspaces", string(ws), "find"))
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
	return call[retake.Comparison](ctx, c, get(v, "workspaces", string(q.Workspace), "diff"))
}

// List gives the entries of a directory.
func (c *Client) List(ctx context.Context, ws retake.WorkspaceID, ref, dir string) ([]retake.Entry, error) {
	v := url.Values{"ref": {ref}, "dir": {dir}}
	out, err := call[struct{ Entries []retake.Entry }](ctx, c, get(v, "workspaces", string(ws), "list"))
	return out.Entries, err
}

// Status asks how well a workspace is protected.
func (c *Client) Status(ctx context.Context, ws retake.WorkspaceID) (retake.Status, error) {
	return call[retake.Status](ctx, c, get(nil, "workspaces", string(ws), "status"))
}
