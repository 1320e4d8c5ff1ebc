package client

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
)

type backupBody struct {
	URL  string `json:"url"`
	Host string `json:"host,omitempty"`
}

// SetBackup says where the checkpoints of a workspace also go.
func (c *Client) SetBackup(ctx context.Context, req retake.BackupRequest) (retake.Backup, error) {
	a := newRequest(http.MethodPut, backupBody{req.URL, req.Host}, "workspaces", string(req.Workspace), "backup")
	a.idempotent = true
	return callJSON[retake.Backup](ctx, c, a)
}

// Backup tells how far a backup is.
func (c *Client) Backup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return callJSON[retake.Backup](ctx, c, newGet(nil, "workspaces", string(ws), "backup"))
}

// PushBackup sends what is not there yet. What was sent before is not sent again, so it may be
// asked twice.
func (c *Client) PushBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	a := newRequest(http.MethodPost, nil, "workspaces", string(ws), "backup")
	a.idempotent = true
	return callJSON[retake.Backup](ctx, c, a)
}

// DropBackup ends a backup. When an answer was lost on the way it may be ended already;
// then nothing more is known of it.
func (c *Client) DropBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	a := newRequest(http.MethodDelete, nil, "workspaces", string(ws), "backup")
	a.idempotent = true
	b, err := callJSON[retake.Backup](ctx, c, a)
	if a.mayHaveArrived && retake.IsKind(err, retake.NotFound) {
		return retake.Backup{Workspace: ws}, nil
	}
	return b, err
}
