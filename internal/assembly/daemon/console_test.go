//go:build unix

package daemon_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemon"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// browser is what a person has: it follows no redirect by itself and keeps no cookie
// unless the test does.
type browser struct {
	*testing.T
	base   string // of the console
	cookie string
}

var bareClient = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type headers = map[string]string

// fetch asks as the page does, unless the headers say otherwise; an empty one is not sent.
func (b *browser) fetch(method, target string, change headers) (answer, string) {
	b.Helper()
	resp := b.stream(b.Context(), method, target, change)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(b.T, err)
	return answer{resp.Status, resp.StatusCode, resp.Header, resp.Cookies()}, string(text)
}

// answer is a response whose body was read.
type answer struct {
	Status     string
	StatusCode int
	Header     http.Header
	Cookies    []*http.Cookie
}

func (b *browser) stream(ctx context.Context, method, target string, change headers) *http.Response {
	b.Helper()
	if strings.HasPrefix(target, "/") {
		target = b.base + target
	}
	r, err := http.NewRequestWithContext(ctx, method, target, nil)
	must(b.T, err)
	all := headers{"Cookie": b.cookie, "X-Retake-Console": "1", "Sec-Fetch-Site": "same-origin", "Origin": b.base}
	for k, v := range change {
		all[k] = v
	}
	for k, v := range all {
		if k == "Host" {
			r.Host = v
		} else if v != "" {
			r.Header.Set(k, v)
		}
	}
	resp, err := bareClient.Do(r)
	must(b.T, err)
	return resp
}

// typed are the headers of an address that a person opens.
var typed = headers{"Cookie": "", "X-Retake-Console": "", "Origin": "", "Sec-Fetch-Site": "none"}

// opened begins a daemon with a held clock, and asks it for an address.
func opened(t *testing.T) (*house, *clock.Manual, *browser, string) {
	t.Helper()
	h := newHouse(t)
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	h.clock = held
	must(t, h.settings.Set("daemon-idle", "0"))
	h.begin(h.solo)
	o, err := h.hand().Console(t.Context(), "")
	must(t, err)
	u, err := url.Parse(o.URL)
	must(t, err)
	if u.Hostname() != "127.0.0.1" || !o.Expires.Equal(held.Now().Add(time.Minute)) {
		t.Fatalf("%+v", o)
	}
	return h, held, &browser{T: t, base: "http://" + u.Host}, o.URL
}

// enter takes the token of an address for a cookie.
func (b *browser) enter(address string) answer {
	b.Helper()
	resp, _ := b.fetch(http.MethodGet, address, typed)
	for _, c := range resp.Cookies {
		b.cookie = c.Name + "=" + c.Value
	}
	return resp
}

func TestConsoleLetsItsPageIn(t *testing.T) {
	t.Parallel()
	h, _, b, address := opened(t)
	resp := b.enter(address)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" {
		t.Fatalf("%s to %q", resp.Status, resp.Header.Get("Location"))
	}
	c := resp.Cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge != 12*3600 || !strings.HasSuffix(b.base, strings.TrimPrefix(c.Name, "retake_console_")) {
		t.Errorf("the cookie is %s", resp.Header.Get("Set-Cookie"))
	}
	if resp, text := b.fetch(http.MethodGet, "/v1/about", nil); resp.StatusCode != http.StatusOK || !strings.Contains(text, h.conf.DataDir) {
		t.Errorf("the page asks: %s %s", resp.Status, text)
	}
	if resp, text := b.fetch(http.MethodGet, "/", typed); resp.StatusCode != http.StatusOK || !strings.Contains(text, "<title>") {
		t.Errorf("the page itself: %s", resp.Status)
	}
	if resp, _ := b.fetch(http.MethodPost, "/console/leave", nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("leave: %s", resp.Status)
	}
	if resp, _ := b.fetch(http.MethodGet, "/v1/about", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a page that left: %s", resp.Status)
	}
	must(t, h.end())
}

// Each is what the page asks but for one thing, and must be refused for that.
func TestConsoleRefusesEverybodyElse(t *testing.T) {
	t.Parallel()
	h, _, b, address := opened(t)
	b.enter(address)
	port := b.base[strings.LastIndex(b.base, ":"):]
	for why, x := range map[string]struct {
		method, target string
		change         headers
		want           int
	}{
		"a name that was made to lead here (DNS rebinding)":      {"GET", "/v1/about", headers{"Host": "evil.example" + port, "Origin": "", "Sec-Fetch-Site": "same-origin"}, 421},
		"the same, for the page":                                 {"GET", "/", headers{"Host": "evil.example" + port}, 421},
		"a page of another site, by script":                      {"POST", "/v1/sweep", headers{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, 403},
		"a page of another site, by markup":                      {"GET", "/v1/about", headers{"Origin": "", "Sec-Fetch-Site": "cross-site", "X-Retake-Console": ""}, 403},
		"a page at another port of this machine":                 {"GET", "/v1/about", headers{"Origin": "", "Sec-Fetch-Site": "same-site"}, 403},
		"an old browser that tells the origin only":              {"POST", "/v1/sweep", headers{"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": ""}, 403},
		"a form of another site in a browser that tells nothing": {"POST", "/v1/sweep", headers{"Origin": "", "Sec-Fetch-Site": "", "X-Retake-Console": ""}, 401},
		"an address of the API that a person was made to open":   {"GET", "/v1/about", headers{"Origin": "", "Sec-Fetch-Site": "none", "X-Retake-Console": ""}, 401},
		"another word in the header":                             {"GET", "/v1/about", headers{"X-Retake-Console": "true"}, 401},
		"another user's program, without a cookie":               {"GET", "/v1/about", headers{"Cookie": ""}, 401},
		"a cookie that somebody guessed":                         {"GET", "/v1/about", headers{"Cookie": "retake_console_" + port[1:] + "=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 401},
		"the cookie of another daemon":                           {"GET", "/v1/about", headers{"Cookie": strings.Replace(b.cookie, port[1:], "1", 1)}, 401},
		"a picture for a stranger":                               {"GET", "/console/content/ws_1/1/a.png", headers{"Cookie": ""}, 401},
		"a picture for another site":                             {"GET", "/console/content/ws_1/1/a.png", headers{"Origin": "", "Sec-Fetch-Site": "cross-site"}, 403},
		"a change by way of pictures":                            {"POST", "/console/content/ws_1/1/a.png", headers{"X-Retake-Console": ""}, 401},
		"what the socket alone is asked":                         {"POST", "/daemon/stop?pid=1", nil, 404},
		"a new address, which the socket alone gives":            {"POST", "/daemon/console", nil, 404},
		"a key of a server":                                      {"POST", "/console/enter", nil, 405},
		"a browser that asks before it asks":                     {"OPTIONS", "/v1/about", headers{"Origin": "https://evil.example", "Cookie": "", "X-Retake-Console": "", "Access-Control-Request-Headers": "x-retake-console"}, 403},
	} {
		resp, text := b.fetch(x.method, x.target, x.change)
		if resp.StatusCode != x.want {
			t.Errorf("%s: %s, not %d: %s", why, resp.Status, x.want, text)
		}
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: another site is told %s", why, name)
			}
		}
		if strings.Contains(text, h.conf.DataDir) {
			t.Errorf("%s: it learns %s", why, text)
		}
	}
	// The control: without a change it is let in.
	if resp, _ := b.fetch(http.MethodGet, "/v1/about", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("our own page: %s", resp.Status)
	}
	must(t, h.end())
}

func TestAddressIsGoodOnceAndForAMinute(t *testing.T) {
	t.Parallel()
	h, held, b, address := opened(t)
	if b.enter(address); b.cookie == "" {
		t.Fatal("a fresh address gives no cookie")
	}
	refused := func(why, address string) {
		t.Helper()
		other := &browser{T: t, base: b.base}
		if resp := other.enter(address); resp.StatusCode != http.StatusUnauthorized || other.cookie != "" {
			t.Errorf("%s: %s, cookie %q", why, resp.Status, other.cookie)
		}
		// A person who opens it sees the page, which says what to do, and still nothing is his.
		person := headers{"Accept": "text/html"}
		for k, v := range typed {
			person[k] = v
		}
		resp, _ := other.fetch(http.MethodGet, address, person)
		if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies) != 0 {
			t.Errorf("%s, by a person: %s, %v", why, resp.Status, resp.Cookies)
		}
	}
	refused("used", address)
	late, err := h.hand().Console(t.Context(), "")
	must(t, err)
	held.Advance(time.Minute)
	refused("old", late.URL)
	refused("made up", b.base+"/console/enter?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	refused("none", b.base+"/console/enter")
	held.Advance(12*time.Hour - time.Minute - time.Second)
	if resp, _ := b.fetch(http.MethodGet, "/v1/about", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("a page of nearly twelve hours: %s", resp.Status)
	}
	held.Advance(time.Second)
	if resp, _ := b.fetch(http.MethodGet, "/v1/about", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a page of twelve hours: %s", resp.Status)
	}
	must(t, h.end())
}

func TestConsoleOpensAtAWorkspace(t *testing.T) {
	t.Parallel()
	h, _, b, _ := opened(t)
	const ws = "ws_0197a1de-0000-7000-8000-000000000001"
	o, err := h.hand().Console(t.Context(), ws)
	must(t, err)
	if resp := b.enter(o.URL); resp.Header.Get("Location") != "/w/"+ws {
		t.Errorf("it leads to %q", resp.Header.Get("Location"))
	}
	if _, err := h.hand().Console(t.Context(), "//evil.example"); err == nil {
		t.Error("an id that is an address is taken")
	}
	o, err = h.hand().Console(t.Context(), "")
	must(t, err)
	if resp := b.enter(o.URL + "&workspace=" + url.QueryEscape("//evil.example")); resp.Header.Get("Location") != "/" {
		t.Errorf("it leads to %q", resp.Header.Get("Location"))
	}
	must(t, h.end())
}

// A page that follows sees what happens, and does not hold the daemon that is told to leave.
func TestPageThatFollows(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	h.clock, h.news = held, daemon.NewEventBuffer(held)
	h.begin(h.solo)
	root := filepath.Join(h.TempDir(), "shop")
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "a.gif"), []byte("GIF89a, nearly"), 0o644))
	first, err := h.client().Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	ws := first.Workspace.ID
	o, err := h.hand().Console(t.Context(), ws)
	must(t, err)
	b := &browser{T: t, base: o.URL[:strings.Index(o.URL, "/console")]}
	b.enter(o.URL)

	if resp, text := b.fetch(http.MethodGet, "/console/content/"+string(ws)+"/1/a.gif", headers{"X-Retake-Console": "", "Origin": ""}); resp.Header.Get("Content-Type") != "image/gif" || text != "GIF89a, nearly" {
		t.Errorf("a picture: %s %s %q", resp.Status, resp.Header.Get("Content-Type"), text)
	}
	stream := b.stream(t.Context(), http.MethodGet, "/v1/events?after=latest", headers{"Accept": "text/event-stream"})
	defer stream.Body.Close()
	saved, err := h.client().Save(t.Context(), retake.SaveRequest{Workspace: ws, Intent: "second"})
	must(t, err)
	e, d := nextEvent(t, bufio.NewReader(stream.Body))
	if e.Type != retake.EventCreated || d.Checkpoint != saved.Checkpoint.ID || d.Number != 2 || d.Intent != "second" {
		t.Errorf("%+v %+v", e, d)
	}
	begun := time.Now()
	must(t, h.end())
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the page held it for %v", took)
	}
}

// A daemon stays for a page that follows, and leaves when the page is closed and nobody
// else asks. A page that is only open somewhere, with nobody at its end, keeps nothing.
func TestOpenPageKeepsTheDaemon(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	h.clock, h.news = held, daemon.NewEventBuffer(held)
	must(t, h.settings.Set("daemon-idle", "10ms")) // by the held clock; the daemon looks at it that often
	h.begin(h.solo)
	o, err := h.hand().Console(t.Context(), "")
	must(t, err)
	b := &browser{T: t, base: o.URL[:strings.Index(o.URL, "/console")]}
	b.enter(o.URL)
	ctx, closePage := context.WithCancel(t.Context())
	stream := b.stream(ctx, http.MethodGet, "/v1/events", headers{"Accept": "text/event-stream"})
	defer stream.Body.Close()
	held.Advance(24 * time.Hour)
	select {
	case err := <-h.ended:
		t.Fatalf("it left while a page was open: %v", err)
	case <-time.After(200 * time.Millisecond): // it has looked at the clock many times
	}
	closePage()
	for { // the end of the page may be seen after a move, which then does not count
		held.Advance(time.Hour)
		select {
		case err := <-h.ended:
			must(t, err)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// nextEvent reads one event of a stream.
func nextEvent(t *testing.T, lines *bufio.Reader) (retake.Event, retake.EventData) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		must(t, err)
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e retake.Event
		var d retake.EventData
		must(t, json.Unmarshal([]byte(data), &e))
		must(t, json.Unmarshal(e.Data, &d))
		return e, d
	}
}
