package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/web"
)

const imagePath = "/console/content/ws_1/14/a.png"

// fakeOpener has one file and records how it was opened.
type fakeOpener struct {
	body  io.Reader
	entry retake.Entry
	err   error
	asked []string
}

func (s *fakeOpener) Open(_ context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error) {
	s.asked = []string{string(ws), ref, path}
	return io.NopCloser(s.body), s.entry, s.err
}

func newFakeOpener(body string) *fakeOpener {
	return &fakeOpener{body: strings.NewReader(body), entry: retake.Entry{Kind: retake.KindFile, Size: int64(len(body))}}
}

func handler(s *fakeOpener) http.Handler {
	return web.ContentHandler(http.NotFoundHandler(), s, func(w http.ResponseWriter, _ *http.Request, err error, status int) {
		if status == 0 {
			status = http.StatusTeapot // the kind would say
		}
		http.Error(w, err.Error(), status)
	})
}

// sandboxed checks that bytes of a workspace have no origin.
func sandboxed(t *testing.T, h http.Header) {
	t.Helper()
	checkSecurityHeaders(t, h)
	if got := h.Get("Content-Security-Policy"); got != "sandbox; default-src 'none'" {
		t.Errorf("the policy is %q", got)
	}
	if h.Get("Cache-Control") != "no-store" {
		t.Error("a cache keeps it")
	}
}

func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("p", 5000),
		"image/jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF",
		"image/gif":  "GIF89a\x01\x00\x01\x00",
		"image/webp": "RIFF\x24\x00\x00\x00WEBPVP8 ",
		"image/avif": "\x00\x00\x00\x20ftypavif\x00\x00",
	} {
		w := sendRequest(handler(newFakeOpener(body)), "GET", imagePath, map[string]string{"Sec-Fetch-Dest": "image"})
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want || w.Body.String() != body || w.Header().Get("Content-Disposition") != "inline" {
			t.Errorf("%s: %d %q, %d bytes", want, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		sandboxed(t, w.Header())
		if w := sendRequest(handler(newFakeOpener(body)), "HEAD", imagePath, nil); w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("the head of %s: %d, %d bytes", want, w.Code, w.Body.Len())
		}
	}
}

// Nothing that a browser could run is served, whatever its name, and wherever in it an image
// begins.
func TestOtherBytesAreRefused(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"html":                       "<!doctype html><script>alert(1)</script>",
		"svg":                        `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"xml, then svg":              `<?xml version="1.0"?><svg onload="alert(1)"/>`,
		"html, then a picture":       "<script>alert(1)</script>\x89PNG\r\n\x1a\n",
		"a space, then a picture":    " GIF89a",
		"a mark of order, then one":  "\xef\xbb\xbfGIF89a",
		"a byte short of a picture":  "\x89PNG\r\n\x1a",
		"sound in the same wrapping": "RIFF\x24\x00\x00\x00WAVEfmt ",
		"film in the same wrapping":  "\x00\x00\x00\x20ftypisom\x00\x00avif",
		"pdf":                        "%PDF-1.7",
		"a script":                   "alert(1)//GIF89a",
		"nothing":                    "",
	} {
		w := sendRequest(handler(newFakeOpener(body)), "GET", imagePath, nil)
		if w.Code != http.StatusUnsupportedMediaType || strings.Contains(w.Body.String(), "alert") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		sandboxed(t, w.Header())
	}
	link := newFakeOpener("GIF89a")
	link.entry.Kind = retake.KindSymlink
	if w := sendRequest(handler(link), "GET", imagePath, nil); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("the text of a link: %d", w.Code)
	}
}

// A file that is both an image and a script is served as an image: by its type, in the sandbox,
// and not at all when a page wants to run it.
func TestPictureThatIsAScriptToo(t *testing.T) {
	t.Parallel()
	both := "GIF89a/*" + strings.Repeat("x", 100) + "*/=alert(1);"
	if w := sendRequest(handler(newFakeOpener(both)), "GET", imagePath, map[string]string{"Sec-Fetch-Dest": "image"}); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/gif" {
		t.Errorf("as a picture: %d %s", w.Code, w.Header().Get("Content-Type"))
	} else {
		sandboxed(t, w.Header())
	}
	for _, use := range []string{"script", "style", "worker", "sharedworker", "serviceworker", "iframe", "frame", "object", "embed", "font", "manifest", "xslt"} {
		if w := sendRequest(handler(newFakeOpener(both)), "GET", imagePath, map[string]string{"Sec-Fetch-Dest": use}); w.Code != http.StatusForbidden {
			t.Errorf("as %s: %d", use, w.Code)
		}
	}
}

func TestPlacesOfPictures(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/console/content/ws_1/14/a/b%20c/d%23.png":   "ws_1|14|a/b c/d#.png",
		"/console/content/ws_1/before%2Fall/x%FF.gif": "ws_1|before/all|x\xff.gif",
		"/console/content/ws_1/14/":                   "",
		"/console/content/ws_1/14":                    "",
		"/console/content/ws_1//a.png":                "",
		"/console/content/":                           "",
	} {
		s := newFakeOpener("GIF89a")
		w := sendRequest(handler(s), "GET", target, nil)
		if got := strings.Join(s.asked, "|"); got != want || (w.Code == http.StatusOK) != (want != "") {
			t.Errorf("%s: %d %q", target, w.Code, got)
		}
	}
	if w := sendRequest(handler(newFakeOpener("GIF89a")), "POST", imagePath, nil); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("post: %d", w.Code)
	}
	if w := sendRequest(handler(newFakeOpener("GIF89a")), "GET", "/v1/about", nil); w.Code != http.StatusNotFound {
		t.Errorf("what is no picture is not left to the next: %d", w.Code)
	}
	away := newFakeOpener("GIF89a")
	away.err = errors.New("gone")
	if w := sendRequest(handler(away), "GET", imagePath, nil); w.Code != http.StatusTeapot {
		t.Errorf("trouble of the service: %d", w.Code)
	}
}

// breakingReader reads some bytes and then fails.
type breakingReader struct{ io.Reader }

func (b breakingReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("the disk is gone")
	}
	return n, err
}

func TestPictureThatIsNotWhole(t *testing.T) {
	t.Parallel()
	large := newFakeOpener("GIF89a")
	large.entry.Size = 20<<20 + 1
	if w := sendRequest(handler(large), "GET", imagePath, nil); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", w.Code)
	}
	for name, s := range map[string]*fakeOpener{
		"broken": {body: breakingReader{strings.NewReader("GIF89a" + strings.Repeat("x", 100_000))}, entry: retake.Entry{Kind: retake.KindFile}},
		"grown":  {body: io.MultiReader(strings.NewReader("GIF89a"), io.LimitReader(endlessReader{}, 21<<20)), entry: retake.Entry{Kind: retake.KindFile, Size: 6}},
	} {
		srv := httptest.NewServer(handler(s))
		resp, err := http.Get(srv.URL + imagePath)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: it looks whole", name)
		}
		srv.Close()
	}
}

type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) { return len(p), nil }
