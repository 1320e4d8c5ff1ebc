package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Archive streams a checkpoint as a tar archive.
func (c *Client) Archive(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, error) {
	b, err := c.conn.openBytes(ctx, newGet(nil, "workspaces", string(ws), "checkpoints", ref, "archive"))
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Restore plans and restores in one call; the digest is ignored. If there are obstacles that
// were not accepted, nothing is changed and the error is an Obstructed.
func (c *Client) Restore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	if len(req.Hunks) > 0 {
		return retake.RestoreResult{}, &retake.Error{Kind: retake.Invalid, What: "hunks need a plan", Safe: "Nothing was changed.", Hint: "call PlanRestore, then ApplyRestore with its digest"}
	}
	id, err := checkpointID(req.ID)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	body := wire.ApplyBody{
		Course: req.Course, Ref: req.Ref, Paths: req.Paths, PathsRaw: rawTexts(req.Paths), To: req.To, Git: req.Git, Fork: req.Fork, Edits: req.Edits, Session: req.Session,
		Accept: req.Accept, ID: id,
	}
	a := newRequest(http.MethodPost, body, "workspaces", string(req.Workspace), "restore")
	a.idempotent, a.onProgress = true, req.Progress
	return callJSON[retake.RestoreResult](ctx, c.conn, a)
}

// snapshots is the part of a Client that is the snapshot API of a server.
type snapshots struct{ conn *conn }

// Snapshot is a checkpoint in the terms of the snapshot API.
type Snapshot struct {
	ID        retake.CheckpointID `json:"snapshot_id"`
	Workspace retake.WorkspaceID  `json:"workspace_id"`
	Number    int64               `json:"number"`
	Label     string              `json:"label"`
	Size      int64               `json:"size_bytes"`
	Files     int64               `json:"files"`
	Complete  bool                `json:"complete"`
	Created   time.Time           `json:"created_at"`
}

// Restored is the result of restoring a snapshot.
type Restored struct {
	Files   int                 `json:"files_restored"`
	Deleted int                 `json:"files_deleted"`
	Left    int                 `json:"files_left"`
	ID      retake.CheckpointID `json:"snapshot_id"`
	Safety  retake.CheckpointID `json:"safety_snapshot_id"`
	Now     retake.CheckpointID `json:"current_snapshot_id"`
}

// MakeSnapshot takes a snapshot. An empty workspace means the default one.
func (c *snapshots) MakeSnapshot(ctx context.Context, ws retake.WorkspaceID, label string) (Snapshot, error) {
	id, err := checkpointID("")
	if err != nil {
		return Snapshot{}, err
	}
	a := newRequest(http.MethodPost, wire.SnapshotBody{Label: label, Workspace: ws, ID: id}, "snapshots")
	a.idempotent = true
	return callJSON[Snapshot](ctx, c.conn, a)
}

// Snapshots lists a page of a workspace's snapshots, newest first, and returns the cursor of the
// next page. An empty cursor is the first page, and is returned with the last one.
func (c *snapshots) Snapshots(ctx context.Context, ws retake.WorkspaceID, cursor string, limit int) ([]Snapshot, string, error) {
	v := setNonEmpty(withLimit(url.Values{}, limit), "workspace_id", string(ws), "cursor", cursor)
	p, err := callJSON[wire.Page[Snapshot]](ctx, c.conn, newGet(v, "snapshots"))
	return p.Data, p.NextCursor, err
}

// Snapshot returns one snapshot.
func (c *snapshots) Snapshot(ctx context.Context, id retake.CheckpointID) (Snapshot, error) {
	return callJSON[Snapshot](ctx, c.conn, newGet(nil, "snapshots", string(id)))
}

// DropSnapshot requests the deletion of a snapshot.
func (c *snapshots) DropSnapshot(ctx context.Context, id retake.CheckpointID, why string) (retake.Deletion, error) {
	a := newRequest(http.MethodDelete, nil, "snapshots", string(id))
	a.query = setNonEmpty(url.Values{}, "why", why)
	return callJSON[retake.Deletion](ctx, c.conn, a)
}

// RestoreSnapshot restores a snapshot. No paths means everything.
func (c *snapshots) RestoreSnapshot(ctx context.Context, id retake.CheckpointID, paths, accept []string) (Restored, error) {
	made, err := checkpointID("")
	if err != nil {
		return Restored{}, err
	}
	a := newRequest(http.MethodPost, wire.RestoreSnapshotBody{Paths: paths, Accept: accept, ID: made}, "snapshots", string(id), "restore")
	a.idempotent = true
	return callJSON[Restored](ctx, c.conn, a)
}
