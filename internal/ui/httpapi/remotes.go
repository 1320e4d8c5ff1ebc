package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type remotePath struct {
	Remote string `path:"remote" doc:"The name of the remote."`
}

// registerRemotes registers the routes for copies of the history at other places.
func (a *api) registerRemotes() {
	const path = "/v1/remotes"
	handleJSON(a, newOperation(http.MethodGet, path, "list-remotes", "List remotes"), func(ctx context.Context, _ *struct{}) (wire.RemoteList, error) {
		return listRemotes(a.Remotes(ctx))
	})
	handleJSON(a, newOperation(http.MethodPost, path, "add-remote", "Add a remote"), func(ctx context.Context, in *struct{ Body wire.RemoteBody }) (retake.Remote, error) {
		b := in.Body
		return fillRemote(a.AddRemote(ctx, retake.RemoteRequest{Name: b.Name, URL: b.URL, Workspaces: b.Workspaces, Access: retake.RemoteAccess(b.Access), Rate: b.Rate, NewCopy: b.NewCopy}))
	})
	handleJSON(a, newOperation(http.MethodDelete, path+"/{remote}", "remove-remote", "Remove a remote"), func(ctx context.Context, in *remotePath) (retake.Remote, error) {
		return fillRemote(a.RemoveRemote(ctx, in.Remote))
	})
	handleJSON(a, newOperation(http.MethodPost, path+"/sync", "sync-remotes", "Upload now"), func(ctx context.Context, in *struct{ Body wire.SyncBody }) (wire.RemoteList, error) {
		ctx, cancel := a.workContext(ctx)
		defer cancel()
		return listRemotes(a.SyncRemotes(ctx, retake.SyncQuery{Name: in.Body.Name, Workspace: in.Body.Workspace, Number: in.Body.Number}))
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/attach", "attach", "Attach a history"), func(ctx context.Context, in *struct{ Body wire.AttachBody }) (retake.Receipt, error) {
		ctx, cancel := a.workContext(ctx)
		defer cancel()
		b := in.Body
		r, err := a.Attach(ctx, retake.AttachRequest{URL: b.URL, Access: retake.RemoteAccess(b.Access), Key: b.Key, Workspace: b.Workspace, Dir: b.Dir, Browse: b.Browse})
		r.Missing = nonNil(r.Missing)
		return r, err
	})
	handleJSON(a, newOperation(http.MethodPost, path+"/check", "check-remote", "Check a remote"), func(ctx context.Context, in *struct{ Body wire.RemoteCheckBody }) (retake.RemoteCheck, error) {
		ctx, cancel := a.workContext(ctx)
		defer cancel()
		c, err := a.CheckRemote(ctx, retake.RemoteCheckQuery{Name: in.Body.Name, Share: in.Body.Share})
		c.Failed = nonNil(c.Failed)
		return c, err
	})
}

func listRemotes(all []retake.Remote, err error) (wire.RemoteList, error) {
	out := wire.RemoteList{Remotes: []retake.Remote{}}
	for _, r := range all {
		r, _ = fillRemote(r, nil)
		out.Remotes = append(out.Remotes, r)
	}
	return out, err
}

// fillRemote replaces nil lists, which must not be null in JSON.
func fillRemote(r retake.Remote, err error) (retake.Remote, error) {
	r.Workspaces = nonNil(r.Workspaces)
	if r.Check != nil {
		c := *r.Check
		c.Failed = nonNil(c.Failed)
		r.Check = &c
	}
	return r, err
}
