package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fakeService) SetBackup(_ context.Context, req retake.BackupRequest) (retake.Backup, error) {
	return answerWith[retake.Backup](f, req)
}

func (f *fakeService) Backup(_ context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return answerWith[retake.Backup](f, ws)
}

func (f *fakeService) PushBackup(_ context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return answerWith[retake.Backup](f, ws)
}

func (f *fakeService) DropBackup(_ context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return answerWith[retake.Backup](f, ws)
}

var backupRequest = retake.BackupRequest{Workspace: wsID, URL: "git@host:path", Host: "SHA256:x"}

// backupCalls are those about the git remote of a workspace.
var backupCalls = []apiCall{
	{"set backup", []any{backupRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.SetBackup(ctx, backupRequest) }},
	{"backup", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Backup(ctx, wsID) }},
	{"back up", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.PushBackup(ctx, wsID) }},
	{"drop backup", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.DropBackup(ctx, wsID) }},
}

func init() { allCalls = append(allCalls, backupCalls...) }
