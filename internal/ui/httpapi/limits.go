package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type limitsInput struct {
	IfMatch
	Body wire.LimitsBody
}

// handleNamespace registers a route that returns a namespace with the ETag of its limits.
func handleNamespace[I any](a *api, op huma.Operation, f func(context.Context, retake.Office, *I) (retake.Namespace, error)) {
	handleTagged(a, op, (*retake.Namespace).Version, inOffice(a, func(ctx context.Context, o retake.Office, in *I) (retake.Namespace, error) {
		ns, err := f(ctx, o, in)
		return fillNamespace(ns), err
	}))
}

// fillNamespace replaces nil lists, which must not be null in JSON, and adds the ETag.
func fillNamespace(ns retake.Namespace) retake.Namespace {
	ns.Roots, ns.ETag = nonNil(ns.Roots), entityTag(ns.Version())
	return ns
}

const maxChangeTries = 5

// changeLimits changes the limits that are named, and keeps what others change meanwhile.
func changeLimits(ctx context.Context, o retake.Office, in *limitsInput) (retake.Namespace, error) {
	return changeLimitsOf(ctx, &in.Body,
		func() (retake.Namespace, error) { return o.Namespace(ctx) },
		func(q retake.LimitsRequest) (retake.Namespace, error) { return o.SetLimits(ctx, q) })
}

// changeLimitsOf is changeLimits for the namespace that read and set are about.
func changeLimitsOf(ctx context.Context, b *wire.LimitsBody, read func() (retake.Namespace, error), set func(retake.LimitsRequest) (retake.Namespace, error)) (retake.Namespace, error) {
	for try := 1; ; try++ {
		ns, err := read()
		if err != nil {
			return ns, err
		}
		if err := retake.CheckVersion(ctx, "the limits", ns.Version()); err != nil {
			return ns, err
		}
		l, err := b.ApplyTo(ns.Limits)
		if err != nil {
			return ns, requestProblem(http.StatusUnprocessableEntity, "body."+err.Error())
		}
		got, err := set(retake.LimitsRequest{Limits: l, IfVersion: ns.Version()})
		if !retake.IsKind(err, retake.Moved) || try == maxChangeTries {
			return got, err
		}
	}
}
