package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type limitsInput struct {
	IfMatch string `header:"If-Match" doc:"Change the limits only if they still have this ETag, from the response in which you read them. Otherwise the answer is 412."`
	Body    wire.LimitsBody
}

// taggedNamespace is a namespace with the version of what can be set in it.
type taggedNamespace struct {
	ETag string `header:"ETag" doc:"The version of the limits, for If-Match."`
	Body retake.Namespace
}

// handleTagged registers a route that returns the namespace with its ETag.
func handleTagged[I any](a *api, op huma.Operation, f func(context.Context, retake.Office, *I) (retake.Namespace, error)) {
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*taggedNamespace, error) {
		ns, err := recoverPanic(a, func() (retake.Namespace, error) {
			if a.opts.Office == nil {
				return retake.Namespace{}, errServerOnly()
			}
			return f(ctx, a.opts.Office, in)
		})
		if err != nil {
			return nil, problemOf(err)
		}
		ns.Roots = nonNil(ns.Roots)
		return &taggedNamespace{entityTag(ns), ns}, nil
	})
}

func entityTag(ns retake.Namespace) string { return `"` + ns.Limits.Version() + `"` }

// matches reports whether a list of entity tags, or *, has this one.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || one == tag {
			return true
		}
	}
	return false
}

const maxChangeTries = 5

// changeLimits changes the limits that are named, and keeps what others change meanwhile.
func changeLimits(ctx context.Context, o retake.Office, in *limitsInput) (retake.Namespace, error) {
	for try := 1; ; try++ {
		ns, err := o.Namespace(ctx)
		if err != nil {
			return ns, err
		}
		if in.IfMatch != "" && !matches(in.IfMatch, entityTag(ns)) {
			e := &retake.Error{Kind: retake.Moved, What: "the limits have changed since you read them", Safe: unchanged, Hint: "read them again: GET /v1/namespace"}
			p := problemOf(e)
			p.setMeaning(meaningOf(e, http.StatusPreconditionFailed))
			return ns, p
		}
		l, err := in.Body.ApplyTo(ns.Limits)
		if err != nil {
			return ns, requestProblem(http.StatusUnprocessableEntity, "body."+err.Error())
		}
		got, err := o.SetLimits(ctx, retake.LimitsRequest{Limits: l, IfVersion: ns.Limits.Version()})
		if !retake.IsKind(err, retake.Moved) || try == maxChangeTries {
			return got, err
		}
	}
}
