package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
)

type backupPath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
}

type backupInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      backupBody
}

type backupBody struct {
	URL  string `json:"url" doc:"Where the checkpoints go: git@host:path, or ssh://git@host/path."`
	Host string `json:"host,omitempty" doc:"The key of the host or its fingerprint. Without one nothing is set, and the answer tells what the host says of itself."`
}

func (a *api) backing() {
	const path = "/v1/workspaces/{ws}/backup"
	answer(a, op(http.MethodPut, path, "set-backup", "Send the checkpoints to a git remote too"), func(ctx context.Context, in *backupInput) (retake.Backup, error) {
		return leftFilled(a.SetBackup(ctx, retake.BackupRequest{Workspace: in.Workspace, URL: in.Body.URL, Host: in.Body.Host}))
	})
	answer(a, op(http.MethodGet, path, "backup", "How far the backup is"), func(ctx context.Context, in *backupPath) (retake.Backup, error) {
		return leftFilled(a.Backup(ctx, in.Workspace))
	})
	answer(a, op(http.MethodPost, path, "back-up", "Send what the remote does not have, now"), func(ctx context.Context, in *backupPath) (retake.Backup, error) {
		ctx, cancel := a.carried(ctx)
		defer cancel()
		return leftFilled(a.BackUp(ctx, in.Workspace))
	})
	answer(a, op(http.MethodDelete, path, "drop-backup", "End the backup; the remote keeps what it has"), func(ctx context.Context, in *backupPath) (retake.Backup, error) {
		return leftFilled(a.DropBackup(ctx, in.Workspace))
	})
}

func leftFilled(b retake.Backup, err error) (retake.Backup, error) {
	b.Left = filled(b.Left)
	return b, err
}
