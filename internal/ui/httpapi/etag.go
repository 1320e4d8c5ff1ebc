package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

// IfMatch is a part of the input of routes that replace what others may change meanwhile. It is
// exported because huma ignores unexported embedded structs.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"Change it only if it still has this ETag, from the response in which you read it. Otherwise the answer is 412."`
}

func (m IfMatch) condition() string { return m.IfMatch }

// withCondition makes the service compare versions if the input has a condition. A * is met by all
// that exists, and a route answers 404 for what does not.
func withCondition(ctx context.Context, in any) (context.Context, bool) {
	c, ok := in.(interface{ condition() string })
	if !ok || c.condition() == "" {
		return ctx, false
	}
	var versions []string
	for tag := range strings.SplitSeq(c.condition(), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			return ctx, false
		}
		if version, ok := strings.CutPrefix(tag, `"`); ok { // a weak tag never matches
			versions = append(versions, strings.TrimSuffix(version, `"`))
		}
	}
	return retake.IfVersion(ctx, versions...), true
}

// entityTag writes a version as an ETag.
func entityTag(version string) string { return `"` + version + `"` }

// tagged is a response with the version of what can be changed.
type tagged[O any] struct {
	ETag string `header:"ETag" doc:"The version of what you can change, for If-Match."`
	Body O
}

// handleTagged registers a route that returns what can be changed, with its ETag.
func handleTagged[I, O any](a *api, op huma.Operation, version func(*O) string, f func(context.Context, *I) (O, error)) {
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*tagged[O], error) {
		out, err := callIfMatched(ctx, a, in, f)
		if err != nil {
			return nil, err
		}
		return &tagged[O]{entityTag(version(&out)), out}, nil
	})
}

// handleIfMatched registers a route that changes something and returns another thing.
func handleIfMatched[I, O any](a *api, op huma.Operation, f func(context.Context, *I) (O, error)) {
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*body[O], error) {
		out, err := callIfMatched(ctx, a, in, f)
		if err != nil {
			return nil, err
		}
		return &body[O]{out}, nil
	})
}

// callIfMatched calls f under the condition of its input. The error is a problem.
func callIfMatched[I, O any](ctx context.Context, a *api, in *I, f func(context.Context, *I) (O, error)) (O, error) {
	ctx, conditional := withCondition(ctx, in)
	out, err := recoverPanic(a, func() (O, error) { return f(ctx, in) })
	if err == nil {
		return out, nil
	}
	p := problemOf(err)
	if conditional && retake.IsKind(err, retake.Moved) {
		p.setMeaning(statusMeanings[http.StatusPreconditionFailed])
	}
	return out, p
}

// inOffice makes a function that needs the office one that says if there is none.
func inOffice[I, O any](a *api, f func(context.Context, retake.Office, *I) (O, error)) func(context.Context, *I) (O, error) {
	return func(ctx context.Context, in *I) (O, error) {
		if a.opts.Office == nil {
			var none O
			return none, errServerOnly()
		}
		return f(ctx, a.opts.Office, in)
	}
}
