package client

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// SetBackup sets the remote that the checkpoints of a workspace are pushed to.
func (c *storage) SetBackup(ctx context.Context, req retake.BackupRequest) (retake.Backup, error) {
	return callJSON[retake.Backup](ctx, c.conn, newPut(ctx, wire.BackupBody{URL: req.URL, Host: req.Host}, "workspaces", string(req.Workspace), "backup"))
}

// Backup returns the status of a backup.
func (c *storage) Backup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return callJSON[retake.Backup](ctx, c.conn, newGet(nil, "workspaces", string(ws), "backup"))
}

// PushBackup pushes what the remote does not have yet. It may be retried, because nothing is
// pushed twice.
func (c *storage) PushBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	a := newRequest(http.MethodPost, nil, "workspaces", string(ws), "backup")
	a.idempotent = true
	return callJSON[retake.Backup](ctx, c.conn, a)
}

// DropBackup turns a backup off. If a response was lost, it may be off already; then only the
// workspace is returned.
func (c *storage) DropBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	a := newRequest(http.MethodDelete, nil, "workspaces", string(ws), "backup")
	a.idempotent = true
	b, err := callJSON[retake.Backup](ctx, c.conn, a)
	if a.mayHaveArrived && retake.IsKind(err, retake.NotFound) {
		return retake.Backup{Workspace: ws}, nil
	}
	return b, err
}
