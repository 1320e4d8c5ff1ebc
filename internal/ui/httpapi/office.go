package httpapi

import (
	"context"
	"net/http"
	"time"

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
	handleJSON(a, op, func(ctx context.Context, in *I) (O, error) {
		if a.opts.Office == nil {
			var none O
			return none, errServerOnly()
		}
		return f(ctx, a.opts.Office, in)
	})
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

type limitsBody struct {
	Within      *time.Duration `json:"within,omitempty" doc:"How long checkpoints are kept at least, in nanoseconds."`
	GoneAfter   *time.Duration `json:"gone_after,omitempty" doc:"The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, legal holds, the newest one and fork bases are kept. 0 means never."`
	Checkpoint  *int64         `json:"moment,omitempty" doc:"The largest snapshot that one checkpoint may have, in bytes."`
	Store       *int64         `json:"store,omitempty" doc:"The storage limit of the whole history, in bytes."`
	Workspaces  *int64         `json:"workspaces,omitempty" doc:"The number of workspaces, not counting those whose protection ended."`
	PerSecond   *int64         `json:"per_second,omitempty" doc:"The requests per second of one API key."`
	RestoreHour *int64         `json:"restore_hour,omitempty" doc:"The restores per hour of one agent key."`
	Grace       *time.Duration `json:"grace,omitempty" doc:"The grace period between a request to delete and the deletion, in nanoseconds."`
}

// applyTo returns l with the limits that the body sets.
func (b *limitsBody) applyTo(l retake.Limits) retake.Limits {
	setIfPresent(&l.Within, b.Within)
	setIfPresent(&l.GoneAfter, b.GoneAfter)
	setIfPresent(&l.Checkpoint, b.Checkpoint)
	setIfPresent(&l.Store, b.Store)
	setIfPresent(&l.Workspaces, b.Workspaces)
	setIfPresent(&l.PerSecond, b.PerSecond)
	setIfPresent(&l.RestoreHour, b.RestoreHour)
	setIfPresent(&l.Grace, b.Grace)
	return l
}

func setIfPresent[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

type keyPath struct {
	Key retake.KeyID `path:"key" doc:"The API key's ID."`
}

// registerNamespace registers the routes for the namespace, its limits and its API keys.
func (a *api) registerNamespace() {
	handleOffice(a, newOperation(http.MethodGet, "/v1/namespace", "namespace", "Get the namespace"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Namespace, error) {
		return fillNamespace(o.Namespace(ctx))
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/usage", "usage", "Get the usage"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Usage, error) {
		return o.Usage(ctx)
	})
	handleOffice(a, newOperation(http.MethodPut, "/v1/namespace/limits", "set-limits", "Change the limits"), func(ctx context.Context, o retake.Office, in *body[limitsBody]) (retake.Namespace, error) {
		ns, err := o.Namespace(ctx)
		if err != nil {
			return ns, err
		}
		return fillNamespace(o.SetLimits(ctx, in.Body.applyTo(ns.Limits)))
	})
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

// fillNamespace replaces nil lists, which must not be null in JSON.
func fillNamespace(ns retake.Namespace, err error) (retake.Namespace, error) {
	ns.Roots = nonNil(ns.Roots)
	return ns, err
}
