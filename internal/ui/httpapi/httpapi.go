// Package httpapi is the HTTP face: retake.Service and retake.Office in JSON, under /v1.
//
// It decodes a request, makes one call (a restore in one request: two), and writes the
// answer; bytes are copied, never held. It never decides a use case, knows no tenant,
// lets everybody in, and sets no header for browsers of other places.
//
//	H1  Names and paths keep their bytes: percent-encoded in addresses, with a
//	    *_raw twin in JSON.
//	H2  Every error is a problem with the kind, the texts and the cause that the
//	    service gave.
//	H3  Bytes that end early never look like a good end.
//	H4  The description in api/openapi.yaml is what this package makes.
//	H5  Unknown fields and parameters are ignored: an older or newer asker is understood.
//	H6  Every route says which power it needs; who stands before it holds to that.
package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
)

// Options say how requests are answered.
type Options struct {
	// About tells who answers.
	About func() retake.About
	// Carry lets a save or a restore that has begun go on to its end when the asker
	// goes away.
	DetachWork bool
	// Stop ends what is carried; nil: it always goes to its end.
	WorkContext context.Context
	// Leaving ends streams of events, which have no end of their own; nil: they last as
	// long as their askers and Stop let them.
	StreamContext context.Context
	// Log is told of panics; nil: nobody is.
	Log *slog.Logger
	// Office is what a server has beside workspaces; nil: its routes answer not-found.
	Office retake.Office
	// News tells what happened; nil: the office does, if there is one.
	Events EventSource
	// Cursors seal the places of lists; nil: good as long as this handler lives.
	Cursors Cursors
}

// EventSource tells events, as an office does.
type EventSource interface {
	Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error)
}

const descriptionRoute = "GET /v1/openapi.json"

// New makes the handler. It belongs to one tenant, as the service does.
func New(s retake.Service, o Options) http.Handler {
	mux, _ := buildRoutes(s, o)
	description := sync.OnceValues(func() ([]byte, error) { // few ask for it
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
		_, _ = w.Write(text) // the asker may be gone
	})
	return handler{mux}
}

// api is what the routes share.
type api struct {
	retake.Service
	opts        Options
	cursors     Cursors
	eventSource EventSource // nil: nobody tells
	huma        huma.API
}

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
	a.registerStorage()
	a.registerArchives()
	a.registerNamespace()
	a.registerWebhooks()
	a.registerEvents()
	a.registerSchedules()
	a.registerAudit()
	a.registerDeletions()
	a.registerSnapshots()
	adjustSchemas(a.huma.OpenAPI())
	adjustServerSchemas(a.huma.OpenAPI())
	return mux, a.huma
}

// handler stands before the routes: what fits none is a problem too.
type handler struct{ mux *http.ServeMux }

func (f handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if recover() != nil { // half an answer; its cause is told where it happened
			panic(http.ErrAbortHandler)
		}
	}()
	tidied, err := normalizeQuery(r)
	if err != nil {
		writeProblem(w, r, requestProblem(http.StatusBadRequest, "the query is not percent-encoded"))
		return
	}
	r = tidied
	if _, pattern := f.mux.Handler(r); pattern == "" {
		f.writeNoRoute(w, r)
		return
	}
	f.mux.ServeHTTP(w, r)
}

// normalizeQuery writes the query anew. The router takes a parameter that it cannot decode
// for one that is not there, and one without a value for the word true.
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

// workContext is the context of a save or a restore that has begun: the asker may go.
func (a *api) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if !a.opts.DetachWork {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if a.opts.WorkContext == nil {
		return ctx, cancel
	}
	free := context.AfterFunc(a.opts.WorkContext, cancel)
	return ctx, func() { free(); cancel() }
}
