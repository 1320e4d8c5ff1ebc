package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type backupPath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
}

type backupInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	IfMatch
	Body wire.BackupBody
}

// registerBackup registers the routes for the backup of a workspace.
func (a *api) registerBackup() {
	const path = "/v1/workspaces/{ws}/backup"
	handleTagged(a, newOperation(http.MethodPut, path, "set-backup", "Set the backup remote"), (*retake.Backup).Version, func(ctx context.Context, in *backupInput) (retake.Backup, error) {
		return fillBackup(a.SetBackup(ctx, retake.BackupRequest{Workspace: in.Workspace, URL: in.Body.URL, Host: in.Body.Host}))
	})
	handleTagged(a, newOperation(http.MethodGet, path, "backup", "Get the backup status"), (*retake.Backup).Version, func(ctx context.Context, in *backupPath) (retake.Backup, error) {
		return fillBackup(a.Backup(ctx, in.Workspace))
	})
	handleJSON(a, newOperation(http.MethodPost, path, "back-up", "Push the backup now"), func(ctx context.Context, in *backupPath) (retake.Backup, error) {
		ctx, cancel := a.workContext(ctx)
		defer cancel()
		return fillBackup(a.PushBackup(ctx, in.Workspace))
	})
	handleJSON(a, newOperation(http.MethodDelete, path, "drop-backup", "Turn the backup off"), func(ctx context.Context, in *backupPath) (retake.Backup, error) {
		return fillBackup(a.DropBackup(ctx, in.Workspace))
	})
}

// fillBackup replaces nil lists, which must not be null in JSON.
func fillBackup(b retake.Backup, err error) (retake.Backup, error) {
	b.Left = nonNil(b.Left)
	return b, err
}
