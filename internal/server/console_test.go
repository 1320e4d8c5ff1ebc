package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server"
)

type headers = map[string]string

// consoleHeaders returns the headers that the console sends besides its cookie.
func (b *testServer) consoleHeaders() headers {
	return headers{"X-Retake-Console": "1", "Origin": b.url, "Sec-Fetch-Site": "same-origin"}
}

// signIn exchanges a key for a cookie, as the console does.
func (b *testServer) signIn(secret string, change headers) (response, *http.Cookie) {
	b.t.Helper()
	h := b.consoleHeaders()
	for k, v := range change {
		h[k] = v
	}
	maps.DeleteFunc(h, func(_, v string) bool { return v == "" })
	body, err := json.Marshal(headers{"key": secret})
	must(b.t, err)
	res, _ := b.sendRequest(http.MethodPost, "/console/enter", "", string(body), h)
	for _, c := range (&http.Response{Header: res.Header}).Cookies() {
		return res, c
	}
	return res, nil
}

// fetchAsConsole sends a request as a page with a cookie.
func (b *testServer) fetchAsConsole(method, path string, c *http.Cookie, change headers) (response, string) {
	b.t.Helper()
	h := b.consoleHeaders()
	if c != nil {
		h["Cookie"] = c.Name + "=" + c.Value
	}
	for k, v := range change {
		h[k] = v
	}
	maps.DeleteFunc(h, func(_, v string) bool { return v == "" }) // not sent
	return b.sendRequest(method, path, "", "", h)
}

func TestConsoleOfAServer(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	res, text := b.sendRequest(http.MethodGet, "/", "", "", headers{"Accept": "text/html"})
	if res.StatusCode != http.StatusOK || !strings.Contains(text, "<title>") || res.Header.Get("Content-Security-Policy") == "" {
		t.Fatalf("the page: %d", res.StatusCode)
	}
	secret := b.keySecret(retake.KeyOperator)
	res, c := b.signIn(secret, nil)
	if res.StatusCode != http.StatusNoContent || c == nil {
		t.Fatalf("enter: %d %v", res.StatusCode, c)
	}
	if c.Name != "retake_console" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge != 12*3600 || c.Secure {
		t.Errorf("the cookie is %v", c)
	}
	if strings.Contains(c.Value, secret) || strings.Contains(c.Value, strings.TrimPrefix(secret, "rtk_operator_")) {
		t.Error("the cookie tells the key")
	}
	res, text = b.fetchAsConsole(http.MethodGet, "/v1/about", c, nil)
	var about retake.About
	must(t, json.Unmarshal([]byte(text), &about))
	if about.Namespace != server.FirstNamespace || about.Key == nil || about.Key.Kind != retake.KeyOperator || !slices.Equal(about.Powers, retake.KeyOperator.Powers()) || len(about.Key.Workspaces) != 0 {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	must(t, os.WriteFile(filepath.Join(b.data, "ns", "main", "files", "default", "a.gif"), []byte("GIF89a, nearly"), 0o644))
	b.saveCheckpoint("with a picture")
	at := "/console/content/" + string(b.initial.Namespace.Default) + "/latest/"
	if res, text = b.fetchAsConsole(http.MethodGet, at+"a.gif", c, headers{"X-Retake-Console": "", "Origin": ""}); res.Header.Get("Content-Type") != "image/gif" || text != "GIF89a, nearly" || res.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
		t.Errorf("a picture: %d %v", res.StatusCode, res.Header)
	}
	if res, _ = b.fetchAsConsole(http.MethodPost, "/console/leave", c, nil); res.StatusCode != http.StatusNoContent || len(res.Header["Set-Cookie"]) != 2 {
		t.Errorf("leave: %d %v", res.StatusCode, res.Header["Set-Cookie"])
	}
}

// Who signs out ends that session and no other, also for one who has a copy of the cookie, and after
// the server was started again.
func TestSigningOutEndsTheSession(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	_, gone := b.signIn(b.keySecret(retake.KeyOperator), nil)
	_, other := b.signIn(b.keySecret(retake.KeyOperator), nil)
	want := func(when string, c *http.Cookie, status int) {
		t.Helper()
		if res, text := b.fetchAsConsole(http.MethodGet, "/v1/usage", c, nil); res.StatusCode != status {
			t.Errorf("%s: %d, want %d: %s", when, res.StatusCode, status, text)
		}
	}
	want("before", gone, http.StatusOK)
	for range 2 { // to sign out twice is no error
		if res, text := b.fetchAsConsole(http.MethodPost, "/console/leave", gone, nil); res.StatusCode != http.StatusNoContent {
			t.Fatalf("leave: %d %s", res.StatusCode, text)
		}
	}
	want("after", gone, http.StatusUnauthorized)
	want("another one", other, http.StatusOK)
	b.stop()
	b.start("", nil)
	want("after a restart", gone, http.StatusUnauthorized)
	want("another one after a restart", other, http.StatusOK)
}

// A cookie is equivalent to its key: the same permissions, the same name in the audit log.
func TestCookieIsItsKey(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	for kind, want := range map[retake.KeyKind]map[string]int{
		retake.KeyReader:   {"GET /v1/usage": 200, "POST /v1/snapshots": 403, "GET /v1/audit": 403},
		retake.KeyOperator: {"GET /v1/usage": 200, "POST /v1/snapshots": 201, "GET /v1/audit": 403},
		retake.KeyAdmin:    {"GET /v1/usage": 200, "POST /v1/snapshots": 403, "GET /v1/audit": 200},
	} {
		_, c := b.signIn(b.keySecret(kind), nil)
		for at, status := range want {
			method, path, _ := strings.Cut(at, " ")
			if res, text := b.fetchAsConsole(method, path, c, nil); res.StatusCode != status {
				t.Errorf("%s, %s: %d %s", kind, at, res.StatusCode, text)
			}
		}
	}
	log, err := b.clientAs(retake.KeyAdmin).Audit(t.Context(), retake.AuditQuery{})
	must(t, err)
	if !slices.ContainsFunc(log, func(e retake.AuditEntry) bool { return e.Actor.Kind == retake.KeyOperator && e.Actor.Key != "" }) {
		t.Errorf("nobody took the snapshot: %+v", log)
	}
	other, err := b.clientAs(retake.KeyOperator).Init(t.Context(), retake.InitRequest{Name: "other"})
	must(t, err)
	k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyReader, Workspaces: []string{string(other.Workspace.ID)}})
	must(t, err)
	_, c := b.signIn(k.Secret, nil)
	if res, _ := b.fetchAsConsole(http.MethodGet, "/console/content/"+string(b.initial.Namespace.Default)+"/latest/a.gif", c, nil); res.StatusCode != http.StatusForbidden {
		t.Errorf("a picture of a workspace that the key is not for: %d", res.StatusCode)
	}
	if res, _ := b.fetchAsConsole(http.MethodGet, "/console/content/"+string(other.Workspace.ID)+"/latest/a.gif", c, nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("a picture that is not there, of one that it is for: %d", res.StatusCode)
	}
}

// Each request differs in one thing from one of the page, and must be refused for that.
func TestCookieAloneIsNotEnough(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	_, c := b.signIn(b.keySecret(retake.KeyOperator), nil)
	for why, x := range map[string]struct {
		at     string
		change headers
		want   int
	}{
		"a form of another site in a browser that tells nothing": {"POST /v1/snapshots", headers{"X-Retake-Console": "", "Origin": "", "Sec-Fetch-Site": ""}, 401},
		"an address that a person was made to open":              {"GET /v1/usage", headers{"X-Retake-Console": "", "Origin": "", "Sec-Fetch-Site": "none"}, 401},
		"a page of another site":                                 {"POST /v1/snapshots", headers{"Origin": "https://evil.example"}, 403},
		"a sibling site":                                         {"GET /v1/usage", headers{"Origin": "", "Sec-Fetch-Site": "same-site"}, 403},
		"a picture for another site":                             {"GET /console/content/a/b/c", headers{"Origin": "", "Sec-Fetch-Site": "cross-site"}, 403},
		"no cookie":                                              {"GET /v1/usage", headers{"Cookie": ""}, 401},
		"half a cookie":                                          {"GET /v1/usage", headers{"Cookie": c.Name + "=" + c.Value[:len(c.Value)/2]}, 401},
		"one changed character":                                  {"GET /v1/usage", headers{"Cookie": c.Name + "=" + c.Value[:20] + flipChar(c.Value[20]) + c.Value[21:]}, 401},
		"the key itself":                                         {"GET /v1/usage", headers{"Cookie": c.Name + "=" + b.keySecret(retake.KeyOperator)}, 401},
		"over TLS, under the name that plain HTTP sets":          {"GET /v1/usage", headers{"X-Forwarded-Proto": "https"}, 401},
	} {
		method, path, _ := strings.Cut(x.at, " ")
		if res, text := b.fetchAsConsole(method, path, c, x.change); res.StatusCode != x.want {
			t.Errorf("%s: %d, not %d: %s", why, res.StatusCode, x.want, text)
		}
	}
	if res, _ := b.fetchAsConsole(http.MethodGet, "/v1/usage", c, nil); res.StatusCode != http.StatusOK { // the control
		t.Errorf("our own page: %d", res.StatusCode)
	}
}

func flipChar(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// A cookie expires with its time and with its key, and is valid at every server that can open it.
func TestEndOfACookie(t *testing.T) {
	t.Parallel()
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	kek := secretbox.NewKey()
	b := newTestServer(t, "", func(o *server.Options) { o.Clock, o.EncryptionKeys = held, [][]byte{kek} })
	admin := b.clientAs(retake.KeyAdmin)
	k, err := admin.MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyReader})
	must(t, err)
	_, c := b.signIn(k.Secret, nil)
	status := func() int {
		res, _ := b.fetchAsConsole(http.MethodGet, "/v1/usage", c, nil)
		return res.StatusCode
	}
	held.Advance(12*time.Hour - time.Second)
	if got := status(); got != http.StatusOK {
		t.Errorf("a second before its end: %d", got)
	}
	held.Advance(time.Second)
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("at its end: %d", got)
	}
	_, c = b.signIn(k.Secret, nil)
	if got := status(); got != http.StatusOK {
		t.Fatalf("a new one: %d", got)
	}
	_, err = admin.RevokeKey(t.Context(), k.Key.ID)
	must(t, err)
	held.Advance(2 * time.Second) // as long as a key is cached
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("of a key that was revoked: %d", got)
	}
	_, c = b.signIn(b.keySecret(retake.KeyReader), nil)
	b.stop()
	b.start("", func(o *server.Options) { o.Clock, o.EncryptionKeys = held, [][]byte{kek} })
	if got := status(); got != http.StatusOK {
		t.Errorf("at the next server: %d", got)
	}
	b.stop()
	b.start("", func(o *server.Options) { o.Clock, o.EncryptionKeys = held, [][]byte{secretbox.NewKey(), kek} })
	if got := status(); got != http.StatusOK {
		t.Errorf("behind a new key-encryption key: %d", got)
	}
}

func TestEnterIsForOurPageAndSlow(t *testing.T) {
	t.Parallel()
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	b := newTestServer(t, "", func(o *server.Options) { o.Clock = held })
	good := b.keySecret(retake.KeyReader)
	for why, x := range map[string]struct {
		change headers
		want   int
	}{
		"another site":    {headers{"Origin": "https://evil.example"}, 403},
		"a sibling":       {headers{"Sec-Fetch-Site": "same-site"}, 403},
		"without a mark":  {headers{"X-Retake-Console": ""}, 403},
		"our page":        {nil, 204},
		"a proxy for TLS": {headers{"X-Forwarded-Proto": "https"}, 204},
	} {
		res, c := b.signIn(good, x.change)
		if res.StatusCode != x.want || (c != nil) != (x.want == 204) {
			t.Errorf("%s: %d %v", why, res.StatusCode, c)
		}
		if x.change["X-Forwarded-Proto"] != "" && (c.Name != "__Host-retake" || !c.Secure || c.Path != "/" || c.Domain != "") {
			t.Errorf("over TLS the cookie is %v", c)
		}
	}
	if res, _ := b.sendRequest(http.MethodGet, "/console/enter", "", "", b.consoleHeaders()); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("an address with a key in it: %d", res.StatusCode)
	}
	wrong := good[:len(good)-1] + flipChar(good[len(good)-1])
	for i := range 10 {
		if res, c := b.signIn(wrong, nil); res.StatusCode != http.StatusUnauthorized || c != nil {
			t.Fatalf("wrong key %d: %d", i, res.StatusCode)
		}
	}
	res, _ := b.signIn(wrong, nil)
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("the eleventh wrong key: %d", res.StatusCode)
	}
	held.Advance(2 * time.Second)
	if res, _ := b.signIn(good, nil); res.StatusCode != http.StatusNoContent {
		t.Errorf("the right key, a little later: %d", res.StatusCode)
	}
}

// A page may send its request to any server of the data directory; the one that has the namespace
// open handles it.
func TestCookieAtAnotherServer(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a.gif", "GIF89a, nearly")
	b.saveCheckpoint("the first server has it open")
	_, c := b.signIn(b.keySecret(retake.KeyReader), nil)
	b.start("", nil)
	if res, text := b.fetchAsConsole(http.MethodGet, "/v1/about", c, nil); res.StatusCode != http.StatusOK || !strings.Contains(text, `"kind":"reader"`) || len(res.Header["Content-Security-Policy"]) != 1 {
		t.Errorf("%d %s %v", res.StatusCode, text, res.Header)
	}
	res, text := b.fetchAsConsole(http.MethodGet, "/console/content/"+string(b.initial.Namespace.Default)+"/latest/a.gif", c, headers{"X-Retake-Console": ""})
	if text != "GIF89a, nearly" || !slices.Equal(res.Header["Content-Security-Policy"], []string{"sandbox; default-src 'none'"}) {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	if res, _ := b.fetchAsConsole(http.MethodPost, "/v1/snapshots", c, nil); res.StatusCode != http.StatusForbidden {
		t.Errorf("what its key may not: %d", res.StatusCode)
	}
}
