package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fakeService) AddRemote(_ context.Context, req retake.RemoteRequest) (retake.Remote, error) {
	return answerWith[retake.Remote](f, req)
}

func (f *fakeService) Remotes(context.Context) ([]retake.Remote, error) {
	return answerWith[[]retake.Remote](f)
}

func (f *fakeService) RemoveRemote(_ context.Context, name string) (retake.Remote, error) {
	return answerWith[retake.Remote](f, name)
}

func (f *fakeService) SyncRemotes(_ context.Context, q retake.SyncQuery) ([]retake.Remote, error) {
	return answerWith[[]retake.Remote](f, q)
}

func (f *fakeService) Attach(_ context.Context, req retake.AttachRequest) (retake.Receipt, error) {
	return answerWith[retake.Receipt](f, req)
}

func (f *fakeService) CheckRemote(_ context.Context, q retake.RemoteCheckQuery) (retake.RemoteCheck, error) {
	return answerWith[retake.RemoteCheck](f, q)
}

var (
	remoteRequest = retake.RemoteRequest{
		Name: "nas", URL: "s3://bucket/prefix", Workspaces: []retake.WorkspaceID{wsID}, Rate: 3, NewCopy: true,
		Access: retake.RemoteAccess{Endpoint: "https://host", Region: "r", User: "u", Secret: "s", PrivateKey: "k", KnownHosts: "h"},
	}
	attachRequest    = retake.AttachRequest{URL: "/d", Key: "k", Workspace: "w", Dir: "/x", Browse: true, Access: retake.RemoteAccess{User: "u"}}
	syncQuery        = retake.SyncQuery{Name: "nas", Workspace: wsID, Number: 7}
	remoteCheckQuery = retake.RemoteCheckQuery{Name: "nas", Share: 0.5}
)

// remoteCalls are those about copies of the history at other places.
var remoteCalls = []apiCall{
	{"add remote", []any{remoteRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.AddRemote(ctx, remoteRequest) }},
	{"remotes", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Remotes(ctx) }},
	{"remove remote", []any{"nas"}, func(ctx context.Context, c *client.Client) (any, error) { return c.RemoveRemote(ctx, "nas") }},
	{"sync remotes", []any{syncQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.SyncRemotes(ctx, syncQuery) }},
	{"attach", []any{attachRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.Attach(ctx, attachRequest) }},
	{"check remote", []any{remoteCheckQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.CheckRemote(ctx, remoteCheckQuery) }},
}

func init() { allCalls = append(allCalls, remoteCalls...) }
