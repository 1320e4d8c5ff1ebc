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
	enterPath = "/console/enter"
	leavePath = "/console/leave"

	// A browser takes the first over TLS only, from this host only, for all its paths.
	secureCookie = "__Host-retake"
	plainCookie  = "retake_console"

	sessionAge     = 12 * time.Hour
	sessionPurpose = "console session"
	maxEnter       = 4 << 10

	wrongBurst = 10
	wrongEvery = 2 * time.Second
)

// session is what a cookie holds, sealed: every server of the data directory can open it,
// and nothing is stored.
type session struct {
	Key   string    `json:"key"`
	Until time.Time `json:"until"`
}

// console answers what only browsers ask for; false: it is another's.
func (f *Front) console(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.URL.Path == enterPath:
		f.ours(w, r, f.enter)
	case r.URL.Path == leavePath:
		f.ours(w, r, f.leave)
	case f.pages.Serves(r):
		f.pages.ServeHTTP(w, r)
	default:
		return false
	}
	return true
}

func (f *Front) guard() web.Guard { return web.Guard{Public: f.o.Public} }

// ours lets only posts of our own page through.
func (f *Front) ours(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	web.Harden(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "this address does not take " + r.Method, Safe: unchanged}, http.StatusMethodNotAllowed)
		return
	}
	if status, err := f.guard().Judge(r); err != nil {
		httpapi.WriteProblem(w, r, err, status)
		return
	}
	if !web.Marked(r) {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Denied, What: "only the console asks this", Safe: unchanged, Hint: "send the key itself: Authorization: Bearer rtk_…"}, http.StatusForbidden)
		return
	}
	next(w, r)
}

// enter takes a key for a cookie that no script can read.
func (f *Front) enter(w http.ResponseWriter, r *http.Request) {
	from := asker(r)
	if wait := f.wrong.wait(from, f.o.Clock.Now()); wait > 0 {
		f.o.Meter.Refused("rate")
		tooOften(w, r, wait)
		return
	}
	var body struct {
		Key string `json:"key"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxEnter)).Decode(&body); err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "the request is no JSON with a key", Safe: unchanged}, http.StatusBadRequest) // its cause could quote the key
		return
	}
	key := strings.TrimSpace(body.Key)
	if _, err := f.keys.whose(r.Context(), key); err != nil {
		f.o.Meter.Refused("key")
		status := 0
		if retake.IsKind(err, retake.Denied) {
			f.wrong.count(from, f.o.Clock.Now())
			status, err = http.StatusUnauthorized, &retake.Error{Kind: retake.Denied, What: "this key opens nothing here", Safe: unchanged, Hint: "an API key begins with rtk_; copy all of it"}
		}
		httpapi.WriteProblem(w, r, err, status)
		return
	}
	text, err := f.sealed(r.Context(), session{Key: key, Until: f.o.Clock.Now().Add(sessionAge)})
	if err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Away, What: "the key cannot be sealed", Safe: unchanged, Hint: "try again", Err: err}, 0)
		return
	}
	http.SetCookie(w, cookie(r, text, sessionAge))
	w.WriteHeader(http.StatusNoContent)
}

// leave drops the cookie, under both names. What was sealed in it ends with its time or
// with its key.
func (f *Front) leave(w http.ResponseWriter, _ *http.Request) {
	for _, c := range []*http.Cookie{{Name: secureCookie, Secure: true}, {Name: plainCookie}} {
		c.Path, c.MaxAge, c.HttpOnly, c.SameSite = "/", -1, true, http.SameSiteStrictMode
		http.SetCookie(w, c)
	}
	w.WriteHeader(http.StatusNoContent)
}

func cookie(r *http.Request, text string, age time.Duration) *http.Cookie {
	c := &http.Cookie{Name: plainCookie, Value: text, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
	// The browser itself says how it asked, also behind a proxy that does not.
	if overTLS(r) || strings.HasPrefix(r.Header.Get("Origin"), "https://") {
		c.Name, c.Secure = secureCookie, true
	}
	return c
}

// overTLS: who lies about it harms nobody but himself.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (f *Front) sealed(ctx context.Context, s session) (string, error) {
	plain, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	b, err := f.o.Seal.Seal(ctx, sessionPurpose, plain)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// borrowed gives a request of the console the key that its cookie holds, so that all that
// follows is as for the key itself: powers, rates, the audit log. A request that carries a
// key of its own is left as it is. Whatever is wrong with a cookie, there is no key.
func (f *Front) borrowed(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	text := sessionText(r)
	if text == "" || r.Header.Get("Authorization") != "" {
		return r, true
	}
	if status, err := f.guard().Judge(r); err != nil {
		httpapi.WriteProblem(w, r, err, status)
		return r, false
	}
	picture := strings.HasPrefix(r.URL.Path, web.ContentPrefix)
	looks := picture && (r.Method == http.MethodGet || r.Method == http.MethodHead) // markup sends no header of ours
	if !web.Marked(r) && !looks {
		return r, true
	}
	if !picture {
		web.Harden(w.Header())
	}
	out := r.Clone(r.Context())
	out.Header.Del("Cookie") // it goes no further, also not to another server
	out.Header.Del(web.Mark)
	if key := f.opened(r.Context(), text); key != "" {
		out.Header.Set("Authorization", "Bearer "+key)
	}
	return out, true
}

// sessionText is what a cookie holds. Over TLS only the name counts that another host, or
// plain HTTP, cannot have set.
func sessionText(r *http.Request) string {
	names := []string{secureCookie, plainCookie}
	if overTLS(r) {
		names = names[:1]
	}
	for _, name := range names {
		if c, err := r.Cookie(name); err == nil && c.Value != "" {
			return c.Value
		}
	}
	return ""
}

func (f *Front) opened(ctx context.Context, text string) string {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	plain, err := f.o.Seal.Open(ctx, sessionPurpose, b)
	if err != nil {
		return ""
	}
	var s session
	if json.Unmarshal(plain, &s) != nil || !f.o.Clock.Now().Before(s.Until) {
		return ""
	}
	return s.Key
}

// wrongKeys slows down who tries keys, by address. They are this server's. Behind a proxy
// all have one address, so that a short wait is all that may come of it.
type wrongKeys struct {
	mu   sync.Mutex
	held map[string]*rate.Limiter // guarded by mu
}

func (k *wrongKeys) of(from string) *rate.Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.held[from]
	if l == nil {
		if len(k.held) >= mostKeys {
			clear(k.held)
		}
		l = rate.NewLimiter(rate.Every(wrongEvery), wrongBurst)
		k.held[from] = l
	}
	return l
}

// wait answers how long to wait before the next try; 0: none is needed.
func (k *wrongKeys) wait(from string, now time.Time) time.Duration {
	if k.of(from).TokensAt(now) >= 1 {
		return 0
	}
	return wrongEvery
}

func (k *wrongKeys) count(from string, now time.Time) { k.of(from).AllowN(now, 1) }

func asker(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
