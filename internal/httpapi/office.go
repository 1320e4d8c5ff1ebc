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
	Within      *time.Duration `json:"within,omitempty" doc:"Nanoseconds that checkpoints are kept."`
	GoneAfter   *time.Duration `json:"gone_after,omitempty" doc:"Nanoseconds after which no checkpoint is kept, except pins, legal holds, the newest one and the bases of forks. 0: never."`
	Checkpoint  *int64         `json:"moment,omitempty" doc:"Bytes of the tree of one checkpoint."`
	Store       *int64         `json:"store,omitempty" doc:"Bytes of all history."`
	Workspaces  *int64         `json:"workspaces,omitempty" doc:"Live ones."`
	PerSecond   *int64         `json:"per_second,omitempty" doc:"Requests of one key."`
	RestoreHour *int64         `json:"restore_hour,omitempty" doc:"Restores of one agent key in an hour."`
	Grace       *time.Duration `json:"grace,omitempty" doc:"Nanoseconds between a request to delete and the deletion."`
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
	Kind       retake.KeyKind `json:"kind" doc:"agent, reader, operator, admin or maintainer."`
	Name       string         `json:"name,omitempty" doc:"For people: whose it is, or what for."`
	Workspaces []string       `json:"workspaces,omitempty" nullable:"false" doc:"Ids of the workspaces that it is good for. None: all."`
	Expires    *time.Time     `json:"expires,omitempty" doc:"Absent: never."`
}

type keyPath struct {
	Key retake.KeyID `path:"key" doc:"The id of the key."`
}

func (a *api) tenancy() {
	offered(a, op(http.MethodGet, "/v1/namespace", "namespace", "The namespace that the key is of"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Namespace, error) {
		return space(o.Namespace(ctx))
	})
	offered(a, op(http.MethodGet, "/v1/usage", "usage", "What the namespace takes"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.Usage, error) {
		return o.Usage(ctx)
	})
	offered(a, op(http.MethodPut, "/v1/namespace/limits", "set-limits", "Change limits; what is absent stays"), func(ctx context.Context, o retake.Office, in *body[limitsBody]) (retake.Namespace, error) {
		ns, err := o.Namespace(ctx)
		if err != nil {
			return ns, err
		}
		return space(o.SetLimits(ctx, in.Body.over(ns.Limits)))
	})
	offered(a, made(op(http.MethodPost, "/v1/keys", "make-key", "Make a key; its secret is told once")), func(ctx context.Context, o retake.Office, in *body[keyBody]) (retake.NewKey, error) {
		b := in.Body
		k, err := o.MakeKey(ctx, retake.KeyRequest{Kind: b.Kind, Name: b.Name, Workspaces: b.Workspaces, Expires: b.Expires})
		k.Key.Workspaces = filled(k.Key.Workspaces)
		return k, err
	})
	offered(a, op(http.MethodGet, "/v1/keys", "list-keys", "All keys, also those that ended"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Key], error) {
		all, err := o.Keys(ctx)
		for i := range all {
			all[i].Workspaces = filled(all[i].Workspaces)
		}
		return paged(a, "keys", in, all, err, func(k *retake.Key) string { return string(k.ID) })
	})
	offered(a, op(http.MethodDelete, "/v1/keys/{key}", "revoke-key", "End a key at once"), func(ctx context.Context, o retake.Office, in *keyPath) (retake.Key, error) {
		k, err := o.RevokeKey(ctx, in.Key)
		k.Workspaces = filled(k.Workspaces)
		return k, err
	})
}

func space(ns retake.Namespace, err error) (retake.Namespace, error) {
	ns.Roots = filled(ns.Roots)
	return ns, err
}
