package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// errServerOnly is the error of routes that a daemon does not have.
func errServerOnly() error {
	return &retake.Error{Kind: retake.NotFound, What: "only a server has this", Safe: unchanged, Hint: "start one: retake serve"}
}

// handleOffice registers a route that calls the office and returns JSON.
func handleOffice[I, O any](a *api, op huma.Operation, f func(context.Context, retake.Office, *I) (O, error)) {
	handleJSON(a, op, inOffice(a, f))
}

// handleOfficeEmpty registers a route that calls the office and returns no body.
func handleOfficeEmpty[I any](a *api, op huma.Operation, f func(context.Context, retake.Office, *I) error) {
	handleEmpty(a, op, func(ctx context.Context, in *I) error {
		if a.opts.Office == nil {
			return errServerOnly()
		}
		return f(ctx, a.opts.Office, in)
	})
}

// withStatusCreated makes a route return 201.
func withStatusCreated(o huma.Operation) huma.Operation {
	o.DefaultStatus = http.StatusCreated
	return o
}

type keyPath struct {
	Key retake.KeyID `path:"key" doc:"The API key's ID."`
}

// registerNamespace registers the routes for the namespace, its limits and its API keys.
func (a *api) registerNamespace() {
	handleNamespace(a, newOperation(http.MethodGet, "/v1/namespace", "namespace", "Get the namespace"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Namespace, error) {
		return o.Namespace(ctx)
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/usage", "usage", "Get the usage"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Usage, error) {
		return o.Usage(ctx)
	})
	handleNamespace(a, newOperation(http.MethodPut, "/v1/namespace/limits", "set-limits", "Change the limits"), changeLimits)
	handleOffice(a, withStatusCreated(newOperation(http.MethodPost, "/v1/keys", "make-key", "Create an API key")), func(ctx context.Context, o retake.Office, in *body[wire.KeyBody]) (retake.NewKey, error) {
		b := in.Body
		k, err := o.MakeKey(ctx, retake.KeyRequest{Kind: b.Kind, Name: b.Name, Workspaces: b.Workspaces, Expires: b.Expires})
		k.Key.Workspaces = nonNil(k.Key.Workspaces)
		return k, err
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/keys", "list-keys", "List API keys"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Key], error) {
		all, err := o.Keys(ctx)
		for i := range all {
			all[i].Workspaces = nonNil(all[i].Workspaces)
		}
		return pageFromList(a, "keys", in, all, err, func(k *retake.Key) string { return string(k.ID) })
	})
	handleOffice(a, newOperation(http.MethodDelete, "/v1/keys/{key}", "revoke-key", "Revoke an API key"), func(ctx context.Context, o retake.Office, in *keyPath) (retake.Key, error) {
		k, err := o.RevokeKey(ctx, in.Key)
		k.Workspaces = nonNil(k.Workspaces)
		return k, err
	})
}
