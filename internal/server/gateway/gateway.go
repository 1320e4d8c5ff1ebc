// Package gateway stands between the network and the namespaces: it finds out who asks,
// whether he may, and how often, and then hands the request to the namespace.
//
// It reads rows of the ledger and talks to other servers of the same data directory. It
// never looks into a request beyond its address, its headers and, for one that may be
// repeated or brings a key to the console, its bytes.
//
//	R1  Who is not let in learns nothing: no name, no size, no existence.
//	R2  A route whose power is not known is closed.
//	R3  A repeated request with the same key gets the answer of the first.
//	R4  A secret is compared as a digest and never written anywhere.
//	R5  A cookie of the console is its key, sealed: it can no more than the key, and no longer.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/tracing"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

// Options are what a front stands on.
type Options struct {
	Ledger         serverdb.Ledger
	Sealer         secretbox.Keeper // of answers that are kept
	Pool           *tenant.Pool
	Clock          clock.Clock
	Log            *slog.Logger
	Metrics        *metrics.Meter
	Tracer         *tracing.Tracer // nil: nobody is told
	CheckReadiness func(ctx context.Context) map[string]error
	WakeOutbox     func()       // something may have been written that must be told
	Tools          http.Handler // for agents, below ToolsPath; who asks has a good key
	PublicURL      string       // our address as others know it; "": whatever they ask
}

// Gateway answers requests.
type Gateway struct {
	opts          Options
	keys          *keyCache
	rateLimiter   *rateLimiter
	forwarder     *forwarder
	inFlight      inFlightKeys
	pages         *web.Pages
	failedSignIns failedSignIns
}

// New makes a front.
func New(o Options) *Gateway {
	return &Gateway{
		opts: o, keys: newKeyCache(o), rateLimiter: newRateLimiter(o.Clock), forwarder: newForwarder(), inFlight: inFlightKeys{keys: map[string]bool{}},
		pages: web.NewPages(), failedSignIns: failedSignIns{limiters: map[string]*rate.Limiter{}},
	}
}

const (
	requestIDHeader = "X-Request-Id"
	hopHeader       = "Retake-Hop"
)

// ServeHTTP answers one request.
func (f *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/livez":
		writeText(w, http.StatusOK, "alive\n")
		return
	case "/readyz":
		f.serveReadiness(w, r)
		return
	}
	if f.serveConsole(w, r) || f.serveTools(w, r) {
		return
	}
	id := chooseRequestID(r.Header.Get(requestIDHeader))
	w.Header().Set(requestIDHeader, id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	a := lookUpRoute(r)
	operation := a.operation
	ctx, ended := f.opts.Tracer.StartRequest(r, operation)
	r = r.WithContext(httpapi.WithRequestID(ctx, id))
	done, begun := f.opts.Metrics.StartRequest(), f.opts.Clock.Now()
	seen := &statusRecorder{ResponseWriter: w, code: http.StatusOK}
	defer func() {
		took := f.opts.Clock.Now().Sub(begun)
		done(operation, seen.code, took)
		ended(seen.code)
		f.opts.Log.Debug("request", "id", id, "operation", operation, "code", seen.code, "ms", took.Milliseconds())
	}()
	if r, ok := f.applySession(seen, r); ok {
		f.authorizeAndServe(seen, r, a)
	}
}

// routeInfo is what a request wants.
type routeInfo struct {
	permission retake.Power
	operation  string
	known      bool
}

// lookUpRoute finds out what a request wants, by its address alone.
func lookUpRoute(r *http.Request) routeInfo {
	if strings.HasPrefix(r.URL.Path, web.ContentPrefix) {
		return routeInfo{permission: retake.PowerSee, operation: "content", known: true}
	}
	power, operation, known := httpapi.PermissionOf(r)
	if !known {
		operation = "none"
	}
	return routeInfo{permission: power, operation: operation, known: known}
}

// authorizeAndServe lets a request in, step by step.
func (f *Gateway) authorizeAndServe(w http.ResponseWriter, r *http.Request, a routeInfo) {
	who, err := f.keys.authenticate(r)
	if err != nil {
		f.opts.Metrics.CountRefused("key")
		writeUnauthorized(w, r, err)
		return
	}
	t, release, err := f.opts.Pool.Open(r.Context(), who.ns)
	var elsewhere *tenant.ElsewhereError
	if errors.As(err, &elsewhere) {
		f.forwarder.forward(w, r, elsewhere.Address)
		return
	}
	if err != nil {
		httpapi.WriteProblem(w, r, err, 0)
		return
	}
	defer release()
	if err := checkPermission(who.key, r, a); err != nil {
		f.opts.Metrics.CountRefused("power")
		httpapi.WriteProblem(w, r, err, 0)
		return
	}
	if wait := f.rateLimiter.reserve(who.key, t.Namespace().Limits, a); wait > 0 {
		f.opts.Metrics.CountRefused("rate")
		writeRateLimited(w, r, wait)
		return
	}
	ctx := retake.WithActor(r.Context(), retake.Actor{Kind: who.key.Kind, Key: who.key.ID, Name: who.key.Name, Scope: who.key.Scope()})
	r = r.WithContext(httpapi.WithKey(ctx, who.key))
	f.serveIdempotent(w, r, who, t.Attachment.(http.Handler))
	if r.Method != http.MethodGet {
		f.opts.WakeOutbox()
	}
}

// checkPermission decides by the kind of the key and by the workspace that the address names. What
// the rest of a request names is decided where it is loaded, see retake.MayLoad.
func checkPermission(k retake.Key, r *http.Request, a routeInfo) error {
	if !a.known {
		return nil // there is nothing at that address; the namespace says so
	}
	if !k.Kind.Has(a.permission) {
		return &retake.Error{Kind: retake.Denied, What: "an API key with the role " + string(k.Kind) + " may not do this", Safe: unchanged, Hint: "this needs an API key with the role " + rolesWith(a.permission)}
	}
	if len(k.Workspaces) == 0 || a.permission == retake.PowerNone {
		return nil
	}
	for _, below := range []string{"/v1/workspaces/", web.ContentPrefix} {
		rest, ok := strings.CutPrefix(r.URL.Path, below)
		ws, _, _ := strings.Cut(rest, "/")
		if ok && slices.Contains(k.Workspaces, ws) {
			return nil
		}
	}
	return &retake.Error{Kind: retake.Denied, What: "this key is for some workspaces only", Safe: unchanged, Hint: "ask below /v1/workspaces/" + k.Workspaces[0]}
}

func rolesWith(p retake.Power) string {
	var out []string
	for _, k := range retake.KeyKinds {
		if k.Has(p) {
			out = append(out, string(k))
		}
	}
	return strings.Join(out, " or ")
}

const unchanged = "Nothing was changed."

// chooseRequestID takes the asker's own when it is harmless.
func chooseRequestID(given string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if len(given) > 0 && len(given) <= 128 && !strings.ContainsFunc(given, func(c rune) bool { return !strings.ContainsRune(harmless, c) }) {
		return given
	}
	return "req_" + uuid.NewString()
}

// serveReadiness tells whether the parts below answer. Without verbose it tells no more than that.
func (f *Gateway) serveReadiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	code, text := http.StatusOK, ""
	for part, err := range f.opts.CheckReadiness(ctx) {
		word := "ok"
		if err != nil {
			code, word = http.StatusServiceUnavailable, "away"
			f.opts.Log.Warn("not ready", "part", part, "err", err)
		}
		text += part + " " + word + "\n"
	}
	if !r.URL.Query().Has("verbose") {
		text = map[bool]string{true: "ready\n", false: "not ready\n"}[code == http.StatusOK]
	}
	writeText(w, code, text)
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text)) // the asker may be gone
}

// statusRecorder remembers the code of an answer.
type statusRecorder struct {
	http.ResponseWriter
	code int
}

func (s *statusRecorder) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets streams flush.
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
