package server_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/server"
)

// lockedBuffer is a log that several requests write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A request that fails and is not the caller's fault is one line in the log, with its ID and cause.
func TestFaultsAreLogged(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	b := newTestServer(t, "", func(o *server.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	b.writeFile("a", "1")
	b.saveCheckpoint("first")
	at := "/v1/workspaces/" + string(b.initial.Namespace.Default) + "/list?ref=latest"
	var res response
	for range 50 { // a copy that is being made heals the store
		for _, dir := range []string{"blobs", "copies"} {
			packs, err := filepath.Glob(filepath.Join(b.data, "ns", "main", "*", "store", dir, "[pq]*"))
			if err != nil || dir == "blobs" && len(packs) == 0 {
				t.Fatalf("no packs: %v", err)
			}
			for _, p := range packs {
				must(t, os.Truncate(p, 10))
			}
		}
		if res, _ = b.sendRequest(http.MethodGet, at, b.keySecret(retake.KeyReader), "", nil); res.StatusCode >= 500 {
			break
		}
		<-time.After(100 * time.Millisecond)
	}
	id := res.Header.Get("X-Request-Id")
	if res.StatusCode < 500 {
		t.Fatalf("a damaged pack is answered with %d", res.StatusCode)
	}
	var line string
	for _, l := range strings.Split(log.String(), "\n") {
		if strings.Contains(l, id) {
			line = l
		}
	}
	if !strings.Contains(line, "operation=list") || !strings.Contains(line, "cause=") || strings.Contains(line, "cause=<nil>") {
		t.Errorf("the log says %q", line)
	}
	res, _ = b.sendRequest(http.MethodGet, "/v1/nothing", b.keySecret(retake.KeyReader), "", nil)
	if strings.Contains(log.String(), res.Header.Get("X-Request-Id")) {
		t.Error("the caller's mistake is logged")
	}
}

// Webhooks go to private addresses only where the server allows it.
func TestWebhooksToPrivateAddresses(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", func(o *server.Options) {
		o.AllowInsecureWebhooks, o.AllowAddresses = false, []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	})
	for url, want := range map[string]int{
		"https://10.1.2.3/hook": http.StatusOK, "https://10.2.0.1/hook": http.StatusUnprocessableEntity, "http://10.1.2.3/hook": http.StatusUnprocessableEntity,
		"https://127.0.0.1/hook": http.StatusUnprocessableEntity, "https://169.254.169.254/latest": http.StatusUnprocessableEntity,
	} {
		body, err := json.Marshal(map[string]any{"url": url})
		must(t, err)
		res, text := b.sendRequest(http.MethodPost, "/v1/webhooks", b.keySecret(retake.KeyAdmin), string(body), nil)
		if res.StatusCode != want && (want != http.StatusOK || res.StatusCode/100 != 2) {
			t.Errorf("%s: %d %s", url, res.StatusCode, text)
		}
	}
}

// The codes say what a client does next, and hints name requests unless our command line asks.
func TestCodesOfAServer(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	ws := "/v1/workspaces/" + string(b.initial.Namespace.Default)
	for _, c := range []struct {
		method, path, key, body string
		status                  int
		code                    string
	}{
		{"GET", ws + "/status", "", "", 401, "unauthenticated"},
		{"GET", ws + "/status", "rtk_agent_no", "", 401, "unauthenticated"},
		{"POST", "/v1/keys", b.keySecret(retake.KeyReader), `{"kind":"reader"}`, 403, "forbidden"},
		{"GET", ws + "/find?ref=99", b.keySecret(retake.KeyReader), "", 404, "not_found"},
		{"GET", "/v1/nothing", b.keySecret(retake.KeyReader), "", 404, "unknown_route"},
		{"PATCH", "/v1/keys", b.keySecret(retake.KeyAdmin), "", 405, "method_not_allowed"},
	} {
		res, text := b.sendRequest(c.method, c.path, c.key, c.body, nil)
		var p wire.Problem
		if err := json.Unmarshal([]byte(text), &p); err != nil || res.StatusCode != c.status || p.Code != c.code {
			t.Errorf("%s %s: %d %s", c.method, c.path, res.StatusCode, text)
		}
		if strings.Contains(p.Hint, "retake ") {
			t.Errorf("%s %s: the hint is a command: %s", c.method, c.path, p.Hint)
		}
	}
}
