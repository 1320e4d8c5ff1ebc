package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

const (
	signInPath  = "/console/enter"
	signOutPath = "/console/leave"

	// Browsers accept this name over TLS only, from this host and for all its paths.
	secureCookie = "__Host-retake"
	plainCookie  = "retake_console"

	sessionLifetime = 12 * time.Hour
	sessionPurpose  = "console session"
	maxSignInBody   = 4 << 10

	failedSignInBurst    = 10
	failedSignInInterval = 2 * time.Second
)

// session is the content of a cookie. It is sealed, so every server of the data directory can
// open it and only those that were ended are stored.
type session struct {
	ID    string    `json:"id"`
	Key   string    `json:"key"`
	Until time.Time `json:"until"`
}

// serveConsole serves the console and returns false if a request is for something else.
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

// requireConsolePost passes on a request only if it is a POST from our own page.
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

// signIn exchanges an API key for a cookie that scripts cannot read.
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
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "the request is no JSON with a key", Safe: unchanged}, http.StatusBadRequest) // without the cause, which could quote the key
		return
	}
	key := strings.TrimSpace(body.Key)
	who, err := f.keys.callerOf(r.Context(), key)
	if err != nil {
		f.opts.Metrics.CountRefused("key")
		status := 0
		if retake.IsKind(err, retake.Denied) {
			f.failedSignIns.recordFailure(from, f.opts.Clock.Now())
			status, err = http.StatusUnauthorized, &retake.Error{Kind: retake.Denied, What: "this key opens nothing here", Safe: unchanged, Hint: "an API key begins with rtk_; copy all of it"}
		}
		httpapi.WriteProblem(w, r, err, status)
		return
	}
	text, err := f.sealSession(r.Context(), session{ID: uuid.NewString(), Key: key, Until: f.opts.Clock.Now().Add(sessionLifetime)})
	if err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Away, What: "the key cannot be sealed", Safe: unchanged, Hint: "try again", Err: err}, 0)
		return
	}
	f.notes.add(r, who, "", "sign in", "console")
	http.SetCookie(w, newSessionCookie(r, text, sessionLifetime))
	w.WriteHeader(http.StatusNoContent)
}

// signOut ends the session and deletes the cookie under both names.
func (f *Gateway) signOut(w http.ResponseWriter, r *http.Request) {
	if s, ok := f.openSession(r.Context(), sessionCookieValue(r)); ok {
		who, err := f.keys.callerOf(r.Context(), s.Key)
		if err == nil {
			err = f.sessions.end(r.Context(), f.opts.Ledger.Book(who.ns), s)
		}
		switch {
		case err == nil:
			f.notes.add(r, who, "", "sign out", "console")
		case !errors.Is(err, errInvalidKey): // of a key that is not valid there is no session
			httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Away, What: "the session cannot be ended", Safe: unchanged, Hint: "try again", Err: err}, 0)
			return
		}
	}
	for _, c := range []*http.Cookie{{Name: secureCookie, Secure: true}, {Name: plainCookie}} {
		c.Path, c.MaxAge, c.HttpOnly, c.SameSite = "/", -1, true, http.SameSiteStrictMode
		http.SetCookie(w, c)
	}
	w.WriteHeader(http.StatusNoContent)
}

// newSessionCookie returns the cookie of a session, with the strict name if TLS is in use.
func newSessionCookie(r *http.Request, text string, age time.Duration) *http.Cookie {
	c := &http.Cookie{Name: plainCookie, Value: text, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
	// The browser reports the scheme even if a proxy does not.
	if isOverTLS(r) || strings.HasPrefix(r.Header.Get("Origin"), "https://") {
		c.Name, c.Secure = secureCookie, true
	}
	return c
}

// isOverTLS reports whether the client uses TLS. A client that forges the header only affects
// its own cookie.
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

// applySession replaces the cookie of a console request by the API key that is sealed in it, so
// that permissions, rates and the audit log apply as for the key itself. A request with an
// Authorization header is not changed. A cookie that is not valid gives no key. It returns
// false if it refused the request.
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
	looks := picture && (r.Method == http.MethodGet || r.Method == http.MethodHead) // an img element cannot send a custom header
	if !web.HasConsoleHeader(r) && !looks {
		return r, true
	}
	if !picture {
		web.SetSecurityHeaders(w.Header())
	}
	out := r.Clone(r.Context())
	out.Header.Del("Cookie") // it must not reach the namespace or another server
	out.Header.Del(web.ConsoleHeader)
	if s, ok := f.openSession(r.Context(), text); ok {
		out.Header.Set("Authorization", "Bearer "+s.Key)
		out = out.WithContext(context.WithValue(out.Context(), sessionKey{}, s))
	}
	return out, true
}

// sessionKey has, in the context of a request of the console, its session.
type sessionKey struct{}

// checkSession returns errInvalidKey if a request is of a session that was ended.
func (f *Gateway) checkSession(ctx context.Context, who caller) error {
	s, ok := ctx.Value(sessionKey{}).(session)
	if !ok {
		return nil
	}
	ended, err := f.sessions.hasEnded(ctx, f.opts.Ledger.Book(who.ns), s, f.opts.Clock.Now())
	if err != nil {
		return &retake.Error{Kind: retake.Away, What: "the sessions cannot be read", Safe: unchanged, Hint: "try again", Err: err}
	}
	if ended {
		return errInvalidKey
	}
	return nil
}

// sessionCookieValue returns the value of the session cookie. Over TLS only the strict name is
// accepted, which other hosts and plain HTTP cannot set.
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

// openSession returns the session that is sealed in a cookie, or false if it is not valid.
func (f *Gateway) openSession(ctx context.Context, text string) (s session, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) == 0 {
		return s, false
	}
	plain, err := f.opts.Sealer.Open(ctx, sessionPurpose, b)
	if err != nil {
		return s, false
	}
	err = json.Unmarshal(plain, &s)
	return s, err == nil && s.Key != "" && f.opts.Clock.Now().Before(s.Until)
}

// failedSignIns limits the rate of failed sign-ins by address, on this server. Behind a proxy
// all clients have one address, so the wait is kept short.
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

// retryDelay returns how long to wait before the next attempt, or 0.
func (k *failedSignIns) retryDelay(from string, now time.Time) time.Duration {
	if k.limiterFor(from).TokensAt(now) >= 1 {
		return 0
	}
	return failedSignInInterval
}

func (k *failedSignIns) recordFailure(from string, now time.Time) { k.limiterFor(from).AllowN(now, 1) }

// clientHost returns the address of the client without its port.
func clientHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
