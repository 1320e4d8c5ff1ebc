package client

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// AddRemote begins to upload the history to another place.
func (c *storage) AddRemote(ctx context.Context, req retake.RemoteRequest) (retake.Remote, error) {
	return callJSON[retake.Remote](ctx, c.conn, newRequest(http.MethodPost, wire.RemoteBody{
		Name: req.Name, URL: req.URL, Workspaces: req.Workspaces, Access: wire.AccessBody(req.Access), Rate: req.Rate, NewCopy: req.NewCopy,
	}, "remotes"))
}

// Remotes lists the remotes.
func (c *storage) Remotes(ctx context.Context) ([]retake.Remote, error) {
	l, err := callJSON[wire.RemoteList](ctx, c.conn, newGet(nil, "remotes"))
	return l.Remotes, err
}

// RemoveRemote ends the uploads to a remote. If a response was lost, it may be removed already; then only
// its name is returned.
func (c *storage) RemoveRemote(ctx context.Context, name string) (retake.Remote, error) {
	a := newRequest(http.MethodDelete, nil, "remotes", name)
	a.idempotent = true
	r, err := callJSON[retake.Remote](ctx, c.conn, a)
	if a.mayHaveArrived && retake.IsKind(err, retake.NotFound) {
		return retake.Remote{Name: name}, nil
	}
	return r, err
}

// SyncRemotes uploads what is missing. It may be retried, because nothing is uploaded twice.
func (c *storage) SyncRemotes(ctx context.Context, q retake.SyncQuery) ([]retake.Remote, error) {
	a := newRequest(http.MethodPost, wire.SyncBody{Name: q.Name, Workspace: q.Workspace, Number: q.Number}, "remotes", "sync")
	a.idempotent = true
	l, err := callJSON[wire.RemoteList](ctx, c.conn, a)
	return l.Remotes, err
}

// Attach brings a history from a remote. It is not retried.
func (c *storage) Attach(ctx context.Context, req retake.AttachRequest) (retake.Receipt, error) {
	return callJSON[retake.Receipt](ctx, c.conn, newRequest(http.MethodPost, wire.AttachBody{
		URL: req.URL, Access: wire.AccessBody(req.Access), Key: req.Key, Workspace: req.Workspace, Dir: req.Dir, Browse: req.Browse,
	}, "attach"))
}

// CheckRemote reads back what a remote has.
func (c *storage) CheckRemote(ctx context.Context, q retake.RemoteCheckQuery) (retake.RemoteCheck, error) {
	a := newRequest(http.MethodPost, wire.RemoteCheckBody{Name: q.Name, Share: q.Share}, "remotes", "check")
	a.idempotent, a.readOnly = true, true
	return callJSON[retake.RemoteCheck](ctx, c.conn, a)
}
