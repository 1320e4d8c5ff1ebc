package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fixed) SetBackup(_ context.Context, req retake.BackupRequest) (retake.Backup, error) {
	return give[retake.Backup](f, req)
}

func (f *fixed) Backup(_ context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return give[retake.Backup](f, ws)
}

func (f *fixed) PushBackup(_ context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return give[retake.Backup](f, ws)
}

func (f *fixed) DropBackup(_ context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return give[retake.Backup](f, ws)
}

var backupRequest = retake.BackupRequest{Workspace: wsID, URL: "git@host:path", Host: "SHA256:x"}

// backupCalls are those about the git remote of a workspace.
var backupCalls = []asking{
	{"set backup", []any{backupRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.SetBackup(ctx, backupRequest) }},
	{"backup", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Backup(ctx, wsID) }},
	{"back up", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.PushBackup(ctx, wsID) }},
	{"drop backup", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.DropBackup(ctx, wsID) }},
}

func init() { calls = append(calls, backupCalls...) }
