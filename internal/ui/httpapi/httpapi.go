// Package httpapi is the HTTP API: retake.Service and retake.Office in JSON, under /v1.
//
// It decodes a request, makes one call (two for a restore in one request) and writes the
// response. Bodies of files are streamed. It contains no business logic, does not know
// tenants, checks no permissions, and sets no CORS headers.
//
//	H1  Names and paths keep their bytes: percent-encoded in URLs, and in JSON with a second
//	    field that ends in _raw.
//	H2  Every error is a problem with the kind, the texts and the cause that the
//	    service returned.
//	H3  A body that is cut short never looks complete.
//	H4  The description in api/openapi.yaml is what this package generates.
//	H5  Unknown fields and parameters of a request are refused, so that no wish is dropped
//	    silently. Those of a response are to be ignored, so that older clients work.
//	H6  Every route declares the permission it needs; the gateway enforces it.
package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
)

// Options configure the handler.
type Options struct {
	// About describes the process that serves the API.
	About func() retake.About
	// DetachWork lets a save or a restore that has started continue after the client
	// disconnects.
	DetachWork bool
	// WorkContext ends detached work; nil: it always runs to its end.
	WorkContext context.Context
	// StreamContext ends streams of events, which never end by themselves; nil: they last
	// until the client disconnects or WorkContext ends.
	StreamContext context.Context
	// Log receives panics; nil: they are not logged.
	Log *slog.Logger
	// Office is what a server has besides workspaces; nil: its routes return not-found.
	Office retake.Office
	// Events is the source of events; nil: Office, if there is one.
	Events EventSource
	// Cursors seal positions in lists; nil: cursors are valid for the lifetime of this handler.
	Cursors Cursors
	// Operations has the requests that go on after their response; nil: none does.
	Operations *Operations
	// KeepOpen keeps the service open while an operation uses it. It is needed with Operations.
	KeepOpen func(ctx context.Context) (release func(), err error)
}

// EventSource lists events. An office is one.
type EventSource interface {
	Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error)
}

const descriptionRoute = "GET /v1/openapi.json"

// New creates the handler. Like the service, it belongs to one tenant.
func New(s retake.Service, o Options) http.Handler {
	mux, routes := buildRoutes(s, o)
	description := sync.OnceValues(func() ([]byte, error) { // built on the first request
		o, err := buildDescription()
		if err != nil {
			return nil, err
		}
		return json.Marshal(o)
	})
	mux.HandleFunc(descriptionRoute, func(w http.ResponseWriter, r *http.Request) {
		text, err := description()
		if err != nil {
			writeProblem(w, r, problemOf(err))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(text) // the client may be gone
	})
	parameters := queryParameters(routes.OpenAPI())
	parameters[descriptionRoute] = nil
	return handler{mux, parameters, o.Log}
}

// api is the state that the routes share.
type api struct {
	retake.Service
	opts        Options
	cursors     Cursors
	eventSource EventSource // nil: there are no events
	huma        huma.API
}

// buildRoutes registers all routes and returns the router with their description. With a nil
// service only the description can be used.
func buildRoutes(s retake.Service, o Options) (*http.ServeMux, huma.API) {
	mux := http.NewServeMux()
	a := &api{Service: s, opts: o, cursors: o.Cursors, huma: newHumaAPI(mux)}
	if a.eventSource = o.Events; a.eventSource == nil && o.Office != nil {
		a.eventSource = o.Office
	}
	if a.cursors == nil {
		a.cursors = token.NewCursors(nil)
	}
	a.registerWorkspaces()
	a.registerCheckpoints()
	a.registerReads()
	a.registerRestores()
	a.registerAgents()
	a.registerStories()
	a.registerPins()
	a.registerPurge()
	a.registerBackup()
	a.registerRemotes()
	a.registerStorage()
	a.registerArchives()
	a.registerFiles()
	a.registerNamespace()
	a.registerProvisioning()
	a.registerWebhooks()
	a.registerEvents()
	a.registerSchedules()
	a.registerAudit()
	a.registerDeletions()
	a.registerSnapshots()
	a.registerOperations()
	adjustSchemas(a.huma.OpenAPI())
	adjustServerSchemas(a.huma.OpenAPI())
	refuseUnknownFields(a.huma.OpenAPI())
	return mux, a.huma
}

// handler wraps the router, so that a request without a route gets a problem, too.
type handler struct {
	mux        *http.ServeMux
	parameters map[string][]string // the names in queries, by pattern
	log        *slog.Logger        // may be nil
}

func (f handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil { // the response is incomplete
			if err, _ := v.(error); !errors.Is(err, http.ErrAbortHandler) && f.log != nil {
				f.log.Error("panic in a response", "value", v, "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler)
		}
	}()
	tidied, err := normalizeQuery(r)
	if err != nil {
		writeProblem(w, r, requestProblem(http.StatusBadRequest, "the query is not percent-encoded"))
		return
	}
	r = tidied
	_, pattern := f.mux.Handler(r)
	if pattern == "" {
		f.writeNoRoute(w, r)
		return
	}
	if name := unknownParameter(f.parameters[pattern], r.URL.Query()); name != "" {
		writeProblem(w, r, requestProblem(http.StatusUnprocessableEntity, "query."+name+": there is no such parameter"))
		return
	}
	f.mux.ServeHTTP(w, r)
}

// normalizeQuery decodes and encodes the query. The router treats a parameter that it cannot
// decode as absent, and one without a value as true.
func normalizeQuery(r *http.Request) (*http.Request, error) {
	if r.URL.RawQuery == "" {
		return r, nil
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	u, out := *r.URL, *r
	u.RawQuery = q.Encode()
	out.URL = &u
	return &out, nil
}

// writeNoRoute answers a request without a route: with the allowed methods if the path has
// any, otherwise with not found.
func (f handler) writeNoRoute(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		other := *r
		other.Method = m
		if _, pattern := f.mux.Handler(&other); pattern != "" {
			allow = append(allow, m)
		}
	}
	if allow == nil {
		writeProblem(w, r, requestProblem(http.StatusNotFound, "there is nothing at this address"))
		return
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	writeProblem(w, r, requestProblem(http.StatusMethodNotAllowed, "this address does not take "+r.Method))
}

// workContext returns the context for a save or a restore. With DetachWork it does not end when
// the client disconnects.
func (a *api) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if !a.opts.DetachWork {
		return context.WithCancel(ctx)
	}
	operation, isOperation := ctx.Value(cancelKey{}).(context.Context)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	end := a.opts.WorkContext
	if isOperation {
		end = operation // which ends with WorkContext, too
	}
	if end == nil {
		return ctx, cancel
	}
	free := context.AfterFunc(end, cancel)
	return ctx, func() { free(); cancel() }
}
