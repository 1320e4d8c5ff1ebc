package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

const (
	signInPath  = "/console/enter"
	signOutPath = "/console/leave"

	// A browser takes the first over TLS only, from this host only, for all its paths.
	secureCookie = "__Host-retake"
	plainCookie  = "retake_console"

	sessionLifetime = 12 * time.Hour
	sessionPurpose  = "console session"
	maxSignInBody   = 4 << 10

	failedSignInBurst    = 10
	failedSignInInterval = 2 * time.Second
)

// session is what a cookie holds, sealed: every server of the data directory can open it,
// and nothing is stored.
type session struct {
	Key   string    `json:"key"`
	Until time.Time `json:"until"`
}

// serveConsole answers what only browsers ask for; false: it is another's.
func (f *Gateway) serveConsole(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.URL.Path == signInPath:
		f.requireConsolePost(w, r, f.signIn)
	case r.URL.Path == signOutPath:
		f.requireConsolePost(w, r, f.signOut)
	case f.pages.Serves(r):
		f.pages.ServeHTTP(w, r)
	default:
		return false
	}
	return true
}

func (f *Gateway) originGuard() web.OriginGuard { return web.OriginGuard{PublicURL: f.opts.PublicURL} }

// requireConsolePost lets only posts of our own page through.
func (f *Gateway) requireConsolePost(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	web.SetSecurityHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "this address does not take " + r.Method, Safe: unchanged}, http.StatusMethodNotAllowed)
		return
	}
	if status, err := f.originGuard().Check(r); err != nil {
		httpapi.WriteProblem(w, r, err, status)
		return
	}
	if !web.HasConsoleHeader(r) {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Denied, What: "only the console asks this", Safe: unchanged, Hint: "send the key itself: Authorization: Bearer rtk_…"}, http.StatusForbidden)
		return
	}
	next(w, r)
}

// signIn takes a key for a cookie that no script can read.
func (f *Gateway) signIn(w http.ResponseWriter, r *http.Request) {
	from := clientHost(r)
	if wait := f.failedSignIns.retryDelay(from, f.opts.Clock.Now()); wait > 0 {
		f.opts.Metrics.CountRefused("rate")
		writeRateLimited(w, r, wait)
		return
	}
	var body struct {
		Key string `json:"key"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSignInBody)).Decode(&body); err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "the request is no JSON with a key", Safe: unchanged}, http.StatusBadRequest) // its cause could quote the key
		return
	}
	key := strings.TrimSpace(body.Key)
	if _, err := f.keys.callerOf(r.Context(), key); err != nil {
		f.opts.Metrics.CountRefused("key")
		status := 0
		if retake.IsKind(err, retake.Denied) {
			f.failedSignIns.recordFailure(from, f.opts.Clock.Now())
			status, err = http.StatusUnauthorized, &retake.Error{Kind: retake.Denied, What: "this key opens nothing here", Safe: unchanged, Hint: "an API key begins with rtk_; copy all of it"}
		}
		httpapi.WriteProblem(w, r, err, status)
		return
	}
	text, err := f.sealSession(r.Context(), session{Key: key, Until: f.opts.Clock.Now().Add(sessionLifetime)})
	if err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Away, What: "the key cannot be sealed", Safe: unchanged, Hint: "try again", Err: err}, 0)
		return
	}
	http.SetCookie(w, newSessionCookie(r, text, sessionLifetime))
	w.WriteHeader(http.StatusNoContent)
}

// signOut drops the cookie, under both names. What was sealed in it ends with its time or
// with its key.
func (f *Gateway) signOut(w http.ResponseWriter, _ *http.Request) {
	for _, c := range []*http.Cookie{{Name: secureCookie, Secure: true}, {Name: plainCookie}} {
		c.Path, c.MaxAge, c.HttpOnly, c.SameSite = "/", -1, true, http.SameSiteStrictMode
		http.SetCookie(w, c)
	}
	w.WriteHeader(http.StatusNoContent)
}

func newSessionCookie(r *http.Request, text string, age time.Duration) *http.Cookie {
	c := &http.Cookie{Name: plainCookie, Value: text, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
	// The browser itself says how it asked, also behind a proxy that does not.
	if isOverTLS(r) || strings.HasPrefix(r.Header.Get("Origin"), "https://") {
		c.Name, c.Secure = secureCookie, true
	}
	return c
}

// isOverTLS: who lies about it harms nobody but himself.
func isOverTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (f *Gateway) sealSession(ctx context.Context, s session) (string, error) {
	plain, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	b, err := f.opts.Sealer.Seal(ctx, sessionPurpose, plain)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// applySession gives a request of the console the key that its cookie holds, so that all that
// follows is as for the key itself: powers, rates, the audit log. A request that carries a
// key of its own is left as it is. Whatever is wrong with a cookie, there is no key.
func (f *Gateway) applySession(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	text := sessionCookieValue(r)
	if text == "" || r.Header.Get("Authorization") != "" {
		return r, true
	}
	if status, err := f.originGuard().Check(r); err != nil {
		httpapi.WriteProblem(w, r, err, status)
		return r, false
	}
	picture := strings.HasPrefix(r.URL.Path, web.ContentPrefix)
	looks := picture && (r.Method == http.MethodGet || r.Method == http.MethodHead) // markup sends no header of ours
	if !web.HasConsoleHeader(r) && !looks {
		return r, true
	}
	if !picture {
		web.SetSecurityHeaders(w.Header())
	}
	out := r.Clone(r.Context())
	out.Header.Del("Cookie") // it goes no further, also not to another server
	out.Header.Del(web.ConsoleHeader)
	if key := f.openSession(r.Context(), text); key != "" {
		out.Header.Set("Authorization", "Bearer "+key)
	}
	return out, true
}

// sessionCookieValue is what a cookie holds. Over TLS only the name counts that another host, or
// plain HTTP, cannot have set.
func sessionCookieValue(r *http.Request) string {
	names := []string{secureCookie, plainCookie}
	if isOverTLS(r) {
		names = names[:1]
	}
	for _, name := range names {
		if c, err := r.Cookie(name); err == nil && c.Value != "" {
			return c.Value
		}
	}
	return ""
}

func (f *Gateway) openSession(ctx context.Context, text string) string {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	plain, err := f.opts.Sealer.Open(ctx, sessionPurpose, b)
	if err != nil {
		return ""
	}
	var s session
	if json.Unmarshal(plain, &s) != nil || !f.opts.Clock.Now().Before(s.Until) {
		return ""
	}
	return s.Key
}

// failedSignIns slows down who tries keys, by address. They are this server's. Behind a proxy
// all have one address, so that a short wait is all that may come of it.
type failedSignIns struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter // guarded by mu
}

func (k *failedSignIns) limiterFor(from string) *rate.Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.limiters[from]
	if l == nil {
		if len(k.limiters) >= maxCacheEntries {
			clear(k.limiters)
		}
		l = rate.NewLimiter(rate.Every(failedSignInInterval), failedSignInBurst)
		k.limiters[from] = l
	}
	return l
}

// retryDelay answers how long to wait before the next try; 0: none is needed.
func (k *failedSignIns) retryDelay(from string, now time.Time) time.Duration {
	if k.limiterFor(from).TokensAt(now) >= 1 {
		return 0
	}
	return failedSignInInterval
}

func (k *failedSignIns) recordFailure(from string, now time.Time) { k.limiterFor(from).AllowN(now, 1) }

func clientHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
