package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

const (
	consoleHost = "127.0.0.1"
	enterPath   = "/console/enter"

	tokenAge   = 60 * time.Second // from the command to the browser
	sessionAge = 12 * time.Hour
)

// console serves pages and API to the user's browser on a loopback port. It listens from the
// first request for it until the daemon exits. Tokens and sessions are kept in memory only, as
// digests.
type console struct {
	daemon *daemon
	api    http.Handler // counts as work of the daemon, as on the socket
	pages  *web.Pages

	mu       sync.Mutex
	server   *http.Server // nil until it listens; guarded by mu, as what follows
	host     string       // 127.0.0.1 and the port
	guard    web.OriginGuard
	closed   bool // it opens no more
	tokens   tokenSet
	sessions tokenSet // sessions of browsers
}

func newConsole(d *daemon, api http.Handler) *console {
	return &console{daemon: d, api: api, pages: web.NewPages(), tokens: tokenSet{}, sessions: tokenSet{}}
}

// handleOpenConsole handles a request of the user or root over the socket.
func (d *daemon) handleOpenConsole(w http.ResponseWriter, r *http.Request) {
	o, err := d.console.openAddress(r.FormValue("workspace"))
	if err != nil {
		httpapi.WriteProblem(w, r, err, 0)
		return
	}
	d.requests.start(d.Clock) // it stays until the browser has come
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	_ = json.NewEncoder(w).Encode(o) // the asker may be gone
}

// openAddress starts to listen if needed, and returns an address that admits one browser.
func (c *console) openAddress(ws string) (daemonctl.Opening, error) {
	q := url.Values{}
	if ws != "" {
		if _, err := retake.ParseWorkspaceID(ws); err != nil {
			return daemonctl.Opening{}, &retake.Error{Kind: retake.Invalid, What: "not a valid workspace ID", Safe: unchanged, Err: err}
		}
		q.Set("workspace", ws)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.listen(); err != nil {
		return daemonctl.Opening{}, err
	}
	now := c.daemon.Clock.Now()
	q.Set("token", c.tokens.issue(now, tokenAge))
	return daemonctl.Opening{URL: "http://" + c.host + enterPath + "?" + q.Encode(), Expires: now.Add(tokenAge)}, nil
}

// listen takes a free port of the loopback. The caller holds mu.
func (c *console) listen() error {
	if c.server != nil {
		return nil
	}
	if c.closed {
		return &retake.Error{Kind: retake.Busy, What: "the daemon is leaving", Safe: unchanged, Hint: "ask again"}
	}
	l, err := net.Listen("tcp4", net.JoinHostPort(consoleHost, "0"))
	if err != nil {
		return &retake.Error{Kind: retake.Away, What: "the console cannot listen on this machine", Safe: unchanged, Err: err}
	}
	c.host = l.Addr().String()
	c.guard = web.OriginGuard{Hosts: []string{c.host, "localhost" + strings.TrimPrefix(c.host, consoleHost)}}
	c.server = c.daemon.newServer(c)
	c.daemon.log.Info("console", "address", c.host)
	go func() {
		if err := c.server.Serve(sameUserListener{l, c.daemon.callerUID(), c.daemon.log}); err != nil && err != http.ErrServerClosed {
			c.daemon.log.Warn("the console listens no more", "err", err)
		}
	}()
	return nil
}

// shutdown admits nobody any more and waits for open requests.
func (c *console) shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	s := c.server
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Shutdown(ctx)
}

func (c *console) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		_ = c.server.Close() // nobody is left to hear
	}
}

// ServeHTTP serves the user's own pages and refuses everyone else.
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.SetSecurityHeaders(w.Header())
	if status, err := c.guard.Check(r); err != nil {
		httpapi.WriteProblem(w, r, err, status)
		return
	}
	pictures := strings.HasPrefix(r.URL.Path, web.ContentPrefix)
	switch {
	case r.URL.Path == enterPath:
		c.handleEnter(w, r)
	case r.URL.Path == "/console/leave":
		c.handleLeave(w, r)
	case pictures || strings.HasPrefix(r.URL.Path, "/v1/"):
		// A picture is asked for by the page's markup, which sends no header of ours.
		looks := pictures && (r.Method == http.MethodGet || r.Method == http.MethodHead)
		if !c.hasSession(r) || !web.HasConsoleHeader(r) && !looks {
			c.refuseStranger(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		c.api.ServeHTTP(w, r)
	case c.pages.Serves(r):
		c.pages.ServeHTTP(w, r)
	default:
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.NotFound, What: "there is nothing at this address", Safe: unchanged}, 0)
	}
}

// handleEnter exchanges a token for a cookie. An invalid, old or used token gets none, and the
// page says what to do.
func (c *console) handleEnter(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Denied, What: "on this machine the console is opened by a command", Safe: unchanged, Hint: "open it: retake console"}, http.StatusMethodNotAllowed)
		return
	}
	now := c.daemon.Clock.Now()
	c.mu.Lock()
	ok := c.tokens.redeem(r.URL.Query().Get("token"), now)
	secret := ""
	if ok {
		secret = c.sessions.issue(now, sessionAge)
	}
	c.mu.Unlock()
	to := "/"
	switch {
	case ok:
		http.SetCookie(w, c.newCookie(secret, sessionAge))
	case !strings.Contains(r.Header.Get("Accept"), "text/html"):
		c.refuseStranger(w, r)
		return
	}
	if ws := r.URL.Query().Get("workspace"); ws != "" {
		if _, err := retake.ParseWorkspaceID(ws); err == nil {
			to = "/w/" + url.PathEscape(ws)
		}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// handleLeave ends a session.
func (c *console) handleLeave(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !web.HasConsoleHeader(r) || !c.hasSession(r) {
		c.refuseStranger(w, r)
		return
	}
	c.mu.Lock()
	for _, k := range r.CookiesNamed(c.cookieName()) {
		delete(c.sessions, sha256.Sum256([]byte(k.Value)))
	}
	c.mu.Unlock()
	http.SetCookie(w, c.newCookie("", -time.Second))
	w.WriteHeader(http.StatusNoContent)
}

// hasSession reports whether the browser has a valid session.
func (c *console) hasSession(r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.daemon.Clock.Now()
	for _, k := range r.CookiesNamed(c.cookieName()) {
		if c.sessions.isValid(k.Value, now) {
			return true
		}
	}
	return false
}

// cookieName has the port: cookies of one host are seen at all its ports, and there may
// be two daemons.
func (c *console) cookieName() string {
	_, port, _ := strings.Cut(c.host, ":")
	return "retake_console_" + port
}

func (c *console) newCookie(secret string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: c.cookieName(), Value: secret, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

func (c *console) refuseStranger(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	httpapi.WriteProblem(w, r, &retake.Error{
		Kind: retake.Denied, What: "this page is not known here, or not any more", Safe: unchanged, Hint: "open the console again: retake console",
	}, http.StatusUnauthorized)
}
