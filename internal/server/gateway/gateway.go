// Package gateway is between the network and the namespaces. It authenticates a request, checks
// its permission and its rate, and passes it to the namespace.
//
// It reads keys from the ledger and forwards requests to other servers of the same data
// directory. Of a request it reads only the URL and the headers, and the body only to repeat
// a response or to sign in to the console.
//
//	R1  A request that is refused learns nothing: no name, no size, no existence.
//	R2  A route without a known permission is closed.
//	R3  A request that is repeated with the same idempotency key gets the first response.
//	R4  A secret is compared by its digest and never written anywhere.
//	R5  A cookie of the console is a sealed API key: it has the key's permissions and ends no
//	    later than the key. Signing out ends it.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/tracing"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

// Options configure a gateway.
type Options struct {
	Ledger         serverdb.Ledger
	Sealer         secretbox.Keeper // seals stored responses and console sessions
	Pool           *tenant.Pool
	Clock          clock.Clock
	Log            *slog.Logger
	Metrics        *metrics.Meter
	Tracer         *tracing.Tracer // nil: no tracing
	CheckReadiness func(ctx context.Context) map[string]error
	WakeOutbox     func()       // called after each request that may have added events
	Tools          http.Handler // serves ToolsPath; called only with a valid key
	PublicURL      string       // URL of the API as clients know it; "": any
}

// Gateway is the HTTP handler of a server.
type Gateway struct {
	opts          Options
	keys          *keyCache
	rateLimiter   *rateLimiter
	forwarder     *forwarder
	inFlight      inFlightKeys
	pages         *web.Pages
	failedSignIns failedSignIns
	sessions      sessions
	notes         *auditNotes
}

// New creates a gateway.
func New(o Options) *Gateway {
	return &Gateway{
		opts: o, keys: newKeyCache(o), rateLimiter: newRateLimiter(o.Clock), forwarder: newForwarder(), inFlight: inFlightKeys{keys: map[string]bool{}},
		pages: web.NewPages(), failedSignIns: failedSignIns{limiters: map[string]*rate.Limiter{}},
		sessions: sessions{entries: map[string]sessionState{}},
		notes:    newAuditNotes(o.Ledger, o.Log),
	}
}

// Close writes what waits for the audit log.
func (f *Gateway) Close() { f.notes.flush() }

const (
	requestIDHeader = "X-Request-Id"
	hopHeader       = "Retake-Hop"
)

// ServeHTTP serves one request and records its duration and status.
func (f *Gateway) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	r, endBody := paceBody(to, r, bodyTimeout)
	defer endBody()
	w := pacedWriter{to, responseTimeout}
	w.begin()
	defer w.end()
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
	ctx = httpapi.WithRequestID(ctx, id)
	if r.Header.Get("Authorization") != "" && r.Header.Get(wire.VersionHeader) == "" {
		ctx = httpapi.WithRequestHints(ctx)
	}
	var cause atomic.Value
	r = r.WithContext(httpapi.WithFaultReport(ctx, func(text string) { cause.Store(text) }))
	done, begun := f.opts.Metrics.StartRequest(), f.opts.Clock.Now()
	seen := &statusRecorder{pacedWriter: w, code: http.StatusOK}
	defer func() {
		took := f.opts.Clock.Now().Sub(begun)
		done(operation, seen.code, took)
		ended(seen.code)
		f.logRequest(cause.Load(), seen.code, "id", id, "operation", operation, "code", seen.code, "ms", took.Milliseconds())
	}()
	if r, ok := f.applySession(seen, r); ok {
		f.authorizeAndServe(seen, r, a)
	}
}

// logRequest logs a request: one that failed and is not the caller's fault in any case, with its
// cause.
func (f *Gateway) logRequest(cause any, code int, facts ...any) {
	switch {
	case code < http.StatusInternalServerError && cause != nil: // it was found out after the response began
		f.opts.Log.Error("request failed", append(facts, "cause", cause)...)
	case code < http.StatusInternalServerError:
		f.opts.Log.Debug("request", facts...)
	case code == http.StatusServiceUnavailable || code == http.StatusInsufficientStorage: // it may work later
		f.opts.Log.Warn("request refused", append(facts, "cause", cause)...)
	default:
		f.opts.Log.Error("request failed", append(facts, "cause", cause)...)
	}
}

// routeInfo is the route that a request is for, and the permission that it needs.
type routeInfo struct {
	permission retake.Power
	operation  string
	known      bool
}

// lookUpRoute finds the route of a request by its method and path alone.
func lookUpRoute(r *http.Request) routeInfo {
	if strings.HasPrefix(r.URL.Path, web.ContentPrefix) {
		return routeInfo{permission: retake.PowerSee, operation: "content", known: true}
	}
	permission, operation, known := httpapi.PermissionOf(r)
	if !known {
		operation = "none"
	}
	return routeInfo{permission: permission, operation: operation, known: known}
}

// authorizeAndServe authenticates a request, checks its permission and its rate, and serves it.
// A namespace that another server has open is forwarded there before any further check.
func (f *Gateway) authorizeAndServe(w http.ResponseWriter, r *http.Request, a routeInfo) {
	who, err := f.authenticate(r)
	if err != nil {
		f.opts.Metrics.CountRefused("key")
		refuseBody(w, r)
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
	id := w.Header().Get(requestIDHeader)
	if wait := f.rateLimiter.reserve(w.Header(), who.key, t.Namespace().Limits, a); wait > 0 {
		f.opts.Metrics.CountRefused("rate")
		f.notes.add(r, who, id, "refused: too often", subjectOf(r, a.operation))
		refuseBody(w, r)
		writeRateLimited(w, r, wait)
		return
	}
	if err := checkPermission(who.key, r, a); err != nil {
		f.opts.Metrics.CountRefused("power")
		f.notes.add(r, who, id, "refused: no permission", subjectOf(r, a.operation))
		refuseBody(w, r)
		httpapi.WriteProblem(w, r, err, 0)
		return
	}
	valid, stop := f.whileKeyIsValid(r)
	defer stop()
	ctx := serverdb.WithOrigin(retake.WithActor(valid, actorFor(who.key)), serverdb.Origin{Address: clientAddress(r), Request: id})
	if verb := notedOperations[a.operation]; verb != "" {
		f.notes.add(r, who, id, verb, subjectOf(r, a.operation))
	}
	r = r.WithContext(httpapi.WithKey(ctx, who.key))
	f.serveIdempotent(w, r, who, t.Attachment.(http.Handler))
	if r.Method != http.MethodGet {
		f.opts.WakeOutbox()
	}
}

// authenticate returns the caller of a request, whose session of the console, if it has one, goes on.
func (f *Gateway) authenticate(r *http.Request) (caller, error) {
	who, err := f.keys.authenticate(r)
	if err != nil {
		return who, err
	}
	return who, f.checkSession(r.Context(), who)
}

// checkPermission checks the role of the key, and the workspace in the path if the key is
// limited to some. IDs elsewhere in the request are checked where they are loaded, see
// retake.MayLoad.
func checkPermission(k retake.Key, r *http.Request, a routeInfo) error {
	if !a.known {
		return nil // the namespace answers with not found
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

// rolesWith lists the roles that have a permission.
func rolesWith(p retake.Power) string {
	var out []string
	for _, k := range append(slices.Clone(retake.KeyKinds), retake.KeyProvisioner) {
		if k.Has(p) {
			out = append(out, string(k))
		}
	}
	return strings.Join(out, " or ")
}

const unchanged = "Nothing was changed."

// chooseRequestID returns the client's request ID if it is safe to log, or a new one.
func chooseRequestID(given string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if len(given) > 0 && len(given) <= 128 && !strings.ContainsFunc(given, func(c rune) bool { return !strings.ContainsRune(harmless, c) }) {
		return given
	}
	return "req_" + uuid.NewString()
}

// serveReadiness reports whether the server can serve requests. It names the parts only if
// verbose is set.
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
	_, _ = w.Write([]byte(text)) // the client may be gone
}

// statusRecorder records the status code of a response, whose parts the client must take in time.
type statusRecorder struct {
	pacedWriter
	code int
}

func (s *statusRecorder) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}
