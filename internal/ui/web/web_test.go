package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/retake-dev/retake/internal/ui/web"
)

const (
	html   = "text/html,application/xhtml+xml,*/*;q=0.8"
	script = "assets/index-BiUL_EF_.js"
)

func testPages() *web.Pages {
	return web.NewPagesFrom(fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html><title>console</title>")},
		script:       {Data: []byte(strings.Repeat("console.log(1);\n", 500))},
		"mark.svg":   {Data: []byte("<svg/>")},
	})
}

func sendRequest(h http.Handler, method, target string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// checkSecurityHeaders checks the headers that every response to a browser has.
func checkSecurityHeaders(t *testing.T, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		t.Error("another site is let in")
	}
	if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the policy is %q", h.Get("Content-Security-Policy"))
	}
}

func TestFilesAndAddresses(t *testing.T) {
	t.Parallel()
	for target, x := range map[string]struct {
		accept, keep, kind string
		status             int
	}{
		"/":                        {"", "no-cache", "text/html; charset=utf-8", 200},
		"/w/ws_1/m/14?view=files":  {html, "no-cache", "text/html; charset=utf-8", 200},
		"/" + script:               {"*/*", "public, max-age=31536000, immutable", "text/javascript; charset=utf-8", 200},
		"/mark.svg":                {"image/*", "no-cache", "image/svg+xml", 200},
		"/assets/index-older.js":   {"*/*", "", "text/plain; charset=utf-8", 404}, // of an older build: the index page in its place would be cached for ever
		"/assets/../../etc/passwd": {html, "no-cache", "text/html; charset=utf-8", 200},
	} {
		w := sendRequest(testPages(), "GET", target, map[string]string{"Accept": x.accept})
		if w.Code != x.status || w.Header().Get("Content-Type") != x.kind || w.Header().Get("Cache-Control") != x.keep {
			t.Errorf("%s: %d %q %q", target, w.Code, w.Header().Get("Content-Type"), w.Header().Get("Cache-Control"))
		}
		if strings.Contains(w.Body.String(), "root:") {
			t.Errorf("%s leads out of the tree", target)
		}
		checkSecurityHeaders(t, w.Header())
	}
}

func TestWhatIsNoPage(t *testing.T) {
	t.Parallel()
	p := testPages()
	for at, want := range map[string]bool{
		"GET /": true, "HEAD /": true, "GET /" + script: true, "GET /w/ws_1": true,
		"POST /": false, "PUT /w/ws_1": false, "GET /v1/about": false, "GET /v1": false, "GET /console/enter": false,
		"GET /console/content/a/b/c": false, "GET /livez": false, "GET /readyz": false, "GET /metrics": false, "GET /daemon/state": false,
	} {
		method, target, _ := strings.Cut(at, " ")
		r := httptest.NewRequest(method, target, nil)
		r.Header.Set("Accept", html)
		if got := p.Serves(r); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	// A program that requests something else gets not found.
	if r := httptest.NewRequest("GET", "/w/ws_1", nil); p.Serves(r) {
		t.Error("a program gets a page in the place of an answer")
	}
}

func TestPackedOnce(t *testing.T) {
	t.Parallel()
	p := testPages()
	plain := sendRequest(p, "GET", "/"+script, nil)
	for range 2 {
		w := sendRequest(p, "GET", "/"+script, map[string]string{"Accept-Encoding": "br, gzip;q=0.8"})
		if w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() >= plain.Body.Len() {
			t.Fatalf("%q, %d bytes", w.Header().Get("Content-Encoding"), w.Body.Len())
		}
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, plain.Body.Bytes()) {
			t.Errorf("%d other bytes, %v", len(got), err)
		}
		again := sendRequest(p, "GET", "/"+script, map[string]string{"Accept-Encoding": "gzip", "If-None-Match": w.Header().Get("Etag")})
		if again.Code != http.StatusNotModified {
			t.Errorf("what is known is sent again: %d", again.Code)
		}
	}
	for _, no := range []string{"", "br", "gzip;q=0", "gzip; q=0"} {
		if w := sendRequest(p, "GET", "/"+script, map[string]string{"Accept-Encoding": no}); w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%q gets it packed", no)
		}
	}
}

func TestWithoutABuild(t *testing.T) {
	t.Parallel()
	if w := sendRequest(web.NewPagesFrom(fstest.MapFS{}), "GET", "/", nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "not part of this build") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

var (
	reference = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	inline    = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]+</script>|<style|\sstyle=|\son[a-z]+=`)
)

// The built files follow the policy: nothing inline, and all that they refer to is embedded.
func TestBuiltPageKeepsToThePolicy(t *testing.T) {
	t.Parallel()
	p := web.NewPages()
	page := sendRequest(p, "GET", "/", nil)
	if page.Code != http.StatusOK {
		t.Fatalf("the console is not built: %d", page.Code)
	}
	if bad := inline.FindString(page.Body.String()); bad != "" {
		t.Errorf("the page holds %q, which the policy forbids", bad)
	}
	all := reference.FindAllStringSubmatch(page.Body.String(), -1)
	for _, m := range all {
		w := sendRequest(p, "GET", m[1], nil)
		if !strings.HasPrefix(m[1], "/") || w.Code != http.StatusOK || strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", m[1], w.Code, w.Header().Get("Content-Type"))
		}
	}
	if len(all) < 2 {
		t.Errorf("the page names %d files", len(all))
	}
}
