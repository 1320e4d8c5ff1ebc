package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

// errNoOffice: one machine has no tenants.
func errNoOffice() error {
	return &retake.Error{Kind: retake.NotFound, What: "only a server has this", Safe: unchanged, Hint: "start one: retake serve"}
}

// offered adds a route that asks the office.
func offered[I, O any](a *api, op huma.Operation, f func(context.Context, retake.Office, *I) (O, error)) {
	answer(a, op, func(ctx context.Context, in *I) (O, error) {
		if a.o.Office == nil {
			var none O
			return none, errNoOffice()
		}
		return f(ctx, a.o.Office, in)
	})
}

// ordered is offered for what has nothing to say when it worked.
func ordered[I any](a *api, op huma.Operation, f func(context.Context, retake.Office, *I) error) {
	obey(a, op, func(ctx context.Context, in *I) error {
		if a.o.Office == nil {
			return errNoOffice()
		}
		return f(ctx, a.o.Office, in)
	})
}

// made is the description of a route that makes something.
func made(o huma.Operation) huma.Operation {
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

// over are the limits with what the body says.
func (b *limitsBody) over(l retake.Limits) retake.Limits {
	take(&l.Within, b.Within)
	take(&l.GoneAfter, b.GoneAfter)
	take(&l.Checkpoint, b.Checkpoint)
	take(&l.Store, b.Store)
	take(&l.Workspaces, b.Workspaces)
	take(&l.PerSecond, b.PerSecond)
	take(&l.RestoreHour, b.RestoreHour)
	take(&l.Grace, b.Grace)
	return l
}

func take[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

type keyBody struct {
	Kind       retake.KeyKind `json:"kind" doc:"The role: agent, reader, operator, admin or maintainer."`
	Name       string         `json:"name,omitempty" doc:"A name for people, such as the key's owner or purpose."`
	Workspaces []string       `json:"workspaces,omitempty" nullable:"false" doc:"The IDs of the workspaces that the key may access. Empty means all of them."`
	Expires    *time.Time     `json:"expires,omitempty" doc:"The time at which the key expires. Absent means never."`
}

type keyPath struct {
	Key retake.KeyID `path:"key" doc:"The API key's ID."`
}

func (a *api) tenancy() {
	offered(a, op(http.MethodGet, "/v1/namespace", "namespace", "Get the namespace"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Namespace, error) {
		return space(o.Namespace(ctx))
	})
	offered(a, op(http.MethodGet, "/v1/usage", "usage", "Get the usage"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Usage, error) {
		return o.Usage(ctx)
	})
	offered(a, op(http.MethodPut, "/v1/namespace/limits", "set-limits", "Change the limits"), func(ctx context.Context, o retake.Office, in *body[limitsBody]) (retake.Namespace, error) {
		ns, err := o.Namespace(ctx)
		if err != nil {
			return ns, err
		}
		return space(o.SetLimits(ctx, in.Body.over(ns.Limits)))
	})
	offered(a, made(op(http.MethodPost, "/v1/keys", "make-key", "Create an API key")), func(ctx context.Context, o retake.Office, in *body[keyBody]) (retake.NewKey, error) {
		b := in.Body
		k, err := o.MakeKey(ctx, retake.KeyRequest{Kind: b.Kind, Name: b.Name, Workspaces: b.Workspaces, Expires: b.Expires})
		k.Key.Workspaces = filled(k.Key.Workspaces)
		return k, err
	})
	offered(a, op(http.MethodGet, "/v1/keys", "list-keys", "List API keys"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Key], error) {
		all, err := o.Keys(ctx)
		for i := range all {
			all[i].Workspaces = filled(all[i].Workspaces)
		}
		return paged(a, "keys", in, all, err, func(k *retake.Key) string { return string(k.ID) })
	})
	offered(a, op(http.MethodDelete, "/v1/keys/{key}", "revoke-key", "Revoke an API key"), func(ctx context.Context, o retake.Office, in *keyPath) (retake.Key, error) {
		k, err := o.RevokeKey(ctx, in.Key)
		k.Workspaces = filled(k.Workspaces)
		return k, err
	})
}

func space(ns retake.Namespace, err error) (retake.Namespace, error) {
	ns.Roots = filled(ns.Roots)
	return ns, err
}
