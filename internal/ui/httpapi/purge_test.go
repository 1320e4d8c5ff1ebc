package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fixed) PlanPurge(_ context.Context, req retake.PurgeRequest) (retake.PurgePlan, error) {
	req.Progress = nil
	return give[retake.PurgePlan](f, req)
}

func (f *fixed) Purge(_ context.Context, req retake.PurgeRequest) (retake.PurgeReport, error) {
	req.Progress = nil
	return give[retake.PurgeReport](f, req)
}

func (f *fixed) Erase(_ context.Context, ws retake.WorkspaceID) (retake.PurgeReport, error) {
	return give[retake.PurgeReport](f, ws)
}

var (
	purgePaths    = retake.PurgeRequest{Workspace: wsID, Paths: []string{".env", "conf/keys"}}
	purgeContents = retake.PurgeRequest{Workspace: wsID, Contents: [][]byte{[]byte("secret one"), {0, 0xff, 1, 2, 3, 4}}}
)

// purgeCalls are those that remove content for good.
var purgeCalls = []asking{
	{"plan purge", []any{purgePaths}, func(ctx context.Context, c *client.Client) (any, error) { return c.PlanPurge(ctx, purgePaths) }},
	{"purge", []any{purgeContents}, func(ctx context.Context, c *client.Client) (any, error) { return c.Purge(ctx, purgeContents) }},
	{"erase", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Erase(ctx, wsID) }},
}
