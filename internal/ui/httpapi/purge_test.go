package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fakeService) PlanPurge(_ context.Context, req retake.PurgeRequest) (retake.PurgePlan, error) {
	req.Progress = nil
	return answerWith[retake.PurgePlan](f, req)
}

func (f *fakeService) Purge(_ context.Context, req retake.PurgeRequest) (retake.PurgeReport, error) {
	req.Progress = nil
	return answerWith[retake.PurgeReport](f, req)
}

func (f *fakeService) Erase(_ context.Context, ws retake.WorkspaceID) (retake.PurgeReport, error) {
	return answerWith[retake.PurgeReport](f, ws)
}

var (
	purgePaths    = retake.PurgeRequest{Workspace: wsID, Paths: []string{".env", "conf/keys"}}
	purgeContents = retake.PurgeRequest{Workspace: wsID, Contents: [][]byte{[]byte("secret one"), {0, 0xff, 1, 2, 3, 4}}}
)

// purgeCalls are those that remove content for good.
var purgeCalls = []apiCall{
	{"plan purge", []any{purgePaths}, func(ctx context.Context, c *client.Client) (any, error) { return c.PlanPurge(ctx, purgePaths) }},
	{"purge", []any{purgeContents}, func(ctx context.Context, c *client.Client) (any, error) { return c.Purge(ctx, purgeContents) }},
	{"erase", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Erase(ctx, wsID) }},
}
