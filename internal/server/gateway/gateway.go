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
	Ledger serverdb.Ledger
	Seal   secretbox.Keeper // of answers that are kept
	Pool   *tenant.Pool
	Clock  clock.Clock
	Log    *slog.Logger
	Meter  *metrics.Meter
	Trace  *tracing.Tracer // nil: nobody is told
	Ready  func(ctx context.Context) map[string]error
	Stir   func()       // something may have been written that must be told
	Tools  http.Handler // for agents, below ToolsPath; who asks has a good key
	Public string       // our address as others know it; "": whatever they ask
}

// Front answers requests.
type Front struct {
	o       Options
	keys    *keyring
	rates   *rates
	forward *forwarder
	flight  flight
	pages   *web.Pages
	wrong   wrongKeys
}

// New makes a front.
func New(o Options) *Front {
	return &Front{
		o: o, keys: newKeyring(o), rates: newRates(o.Clock), forward: newForwarder(), flight: flight{keys: map[string]bool{}},
		pages: web.NewPages(), wrong: wrongKeys{held: map[string]*rate.Limiter{}},
	}
}

const (
	idHeader  = "X-Request-Id"
	hopHeader = "Retake-Hop"
)

// ServeHTTP answers one request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/livez":
		writeText(w, http.StatusOK, "alive\n")
		return
	case "/readyz":
		f.ready(w, r)
		return
	}
	if f.console(w, r) || f.tools(w, r) {
		return
	}
	id := requestID(r.Header.Get(idHeader))
	w.Header().Set(idHeader, id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	a := wanted(r)
	operation := a.operation
	ctx, ended := f.o.Trace.Request(r, operation)
	r = r.WithContext(httpapi.WithRequestID(ctx, id))
	done, begun := f.o.Meter.Begin(), f.o.Clock.Now()
	seen := &status{ResponseWriter: w, code: http.StatusOK}
	defer func() {
		took := f.o.Clock.Now().Sub(begun)
		done(operation, seen.code, took)
		ended(seen.code)
		f.o.Log.Debug("request", "id", id, "operation", operation, "code", seen.code, "ms", took.Milliseconds())
	}()
	if r, ok := f.borrowed(seen, r); ok {
		f.admit(seen, r, a)
	}
}

// ask is what a request wants.
type ask struct {
	power     retake.Power
	operation string
	known     bool
}

// wanted finds out what a request wants, by its address alone.
func wanted(r *http.Request) ask {
	if strings.HasPrefix(r.URL.Path, web.ContentPrefix) {
		return ask{power: retake.PowerSee, operation: "content", known: true}
	}
	power, operation, known := httpapi.PowerOf(r)
	if !known {
		operation = "none"
	}
	return ask{power: power, operation: operation, known: known}
}

// admit lets a request in, step by step.
func (f *Front) admit(w http.ResponseWriter, r *http.Request, a ask) {
	who, err := f.keys.find(r)
	if err != nil {
		f.o.Meter.Refused("key")
		refuseKey(w, r, err)
		return
	}
	t, release, err := f.o.Pool.Open(r.Context(), who.ns)
	var elsewhere *tenant.ElsewhereError
	if errors.As(err, &elsewhere) {
		f.forward.send(w, r, elsewhere.Address)
		return
	}
	if err != nil {
		httpapi.WriteProblem(w, r, err, 0)
		return
	}
	defer release()
	if err := mayAsk(who.key, r, a); err != nil {
		f.o.Meter.Refused("power")
		httpapi.WriteProblem(w, r, err, 0)
		return
	}
	if wait := f.rates.take(who.key, t.Space().Limits, a); wait > 0 {
		f.o.Meter.Refused("rate")
		tooOften(w, r, wait)
		return
	}
	ctx := retake.WithActor(r.Context(), retake.Actor{Kind: who.key.Kind, Key: who.key.ID, Name: who.key.Name, Scope: who.key.Scope()})
	r = r.WithContext(httpapi.WithKey(ctx, who.key))
	f.once(w, r, who, t.Hang.(http.Handler))
	if r.Method != http.MethodGet {
		f.o.Stir()
	}
}

// mayAsk decides by the kind of the key and by the workspace that the address names. What
// the rest of a request names is decided where it is loaded, see retake.MayLoad.
func mayAsk(k retake.Key, r *http.Request, a ask) error {
	if !a.known {
		return nil // there is nothing at that address; the namespace says so
	}
	if !k.Kind.Has(a.power) {
		return &retake.Error{Kind: retake.Denied, What: "an API key with the role " + string(k.Kind) + " may not do this", Safe: unchanged, Hint: "this needs an API key with the role " + kindsWith(a.power)}
	}
	if len(k.Workspaces) == 0 || a.power == retake.PowerNone {
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

func kindsWith(p retake.Power) string {
	var out []string
	for _, k := range retake.KeyKinds {
		if k.Has(p) {
			out = append(out, string(k))
		}
	}
	return strings.Join(out, " or ")
}

const unchanged = "Nothing was changed."

// requestID takes the asker's own when it is harmless.
func requestID(given string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if len(given) > 0 && len(given) <= 128 && !strings.ContainsFunc(given, func(c rune) bool { return !strings.ContainsRune(harmless, c) }) {
		return given
	}
	return "req_" + uuid.NewString()
}

// ready tells whether the parts below answer. Without verbose it tells no more than that.
func (f *Front) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	code, text := http.StatusOK, ""
	for part, err := range f.o.Ready(ctx) {
		word := "ok"
		if err != nil {
			code, word = http.StatusServiceUnavailable, "away"
			f.o.Log.Warn("not ready", "part", part, "err", err)
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

// status remembers the code of an answer.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets streams flush.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
