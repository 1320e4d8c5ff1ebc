package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	jsonType  = wire.JSONType
	eventType = wire.EventType
)

// body is a request or a response with a JSON body.
type body[T any] struct{ Body T }

// handleJSON registers a route that returns the result of f as JSON.
func handleJSON[I, O any](a *api, op huma.Operation, f func(context.Context, *I) (O, error)) {
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*body[O], error) {
		out, err := recoverPanic(a, func() (O, error) { return f(ctx, in) })
		if err != nil {
			return nil, problemOf(err)
		}
		return &body[O]{out}, nil
	})
}

// handleEmpty registers a route that returns no body.
func handleEmpty[I any](a *api, op huma.Operation, f func(context.Context, *I) error) {
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*struct{}, error) {
		_, err := recoverPanic(a, func() (struct{}, error) { return struct{}{}, f(ctx, in) })
		if err != nil {
			return nil, problemOf(err)
		}
		return nil, nil
	})
}

// handleProgress registers a route for long work. If the client accepts events, it streams its
// progress; on a server, a client may prefer an operation that goes on after the response.
func handleProgress[I, O any](a *api, op huma.Operation, f func(context.Context, *I, func(retake.Progress)) (O, error)) {
	schemas := a.huma.OpenAPI().Components.Schemas
	op.Responses = map[string]*huma.Response{"200": {
		Description: http.StatusText(http.StatusOK),
		Content: map[string]*huma.MediaType{
			jsonType:  {Schema: schemas.Schema(reflect.TypeFor[O](), true, "")},
			eventType: {Schema: &huma.Schema{Type: huma.TypeString, Description: progressStreamText}},
		},
	}, "202": {
		Description: "The work goes on. Location has the address of the operation, which has its progress and its result.",
		Headers:     map[string]*huma.Param{"Location": {Description: "The operation's address.", Schema: &huma.Schema{Type: huma.TypeString}}},
		Content:     map[string]*huma.MediaType{jsonType: {Schema: schemas.Schema(reflect.TypeFor[wire.Operation](), true, "")}},
	}}
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "Prefer", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "With respond-async, a server answers 202 with an operation and does the work after that. A daemon ignores it.",
	})
	schemas.Schema(reflect.TypeFor[wire.Progress](), true, "") // registers the schema that the events refer to
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			if a.opts.Operations != nil && wantsAsync(r) {
				startOperation(a, ctx, w, r, op.OperationID, func(ctx context.Context, tell func(retake.Progress)) (O, error) { return f(ctx, in, tell) })
				return
			}
			if strings.Contains(r.Header.Get("Accept"), eventType) {
				streamProgress(a, r.Context(), w, func(tell func(retake.Progress)) (O, error) { return f(ctx, in, tell) })
				return
			}
			out, err := recoverPanic(a, func() (O, error) { return f(ctx, in, nil) })
			if err != nil {
				writeProblem(w, r, problemOf(err))
				return
			}
			writeJSON(w, http.StatusOK, jsonType, out)
		}}, nil
	})
}

// recoverPanic calls f and turns a panic into an error, so that the process continues.
func recoverPanic[O any](a *api, f func() (O, error)) (out O, err error) {
	defer func() {
		if v := recover(); v != nil {
			if a.opts.Log != nil {
				a.opts.Log.Error("panic in a request", "value", v, "stack", string(debug.Stack()))
			}
			err = &retake.Error{Kind: retake.Internal, What: "the work stopped in the middle by a fault of ours", Safe: "It is not certain what was done; earlier checkpoints are intact."}
		}
	}()
	return f()
}
