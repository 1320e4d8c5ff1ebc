// Package web serves browsers: the files of the console, images from a workspace, and the
// checks that a request comes from our own page.
//
// It serves what was built from console/, and reads images through an Opener. It does not
// authenticate, stores nothing on disk, and allows no other site: it never sets a CORS header.
//
//	B1  Pages run only our own files: the policy allows no inline script, no other origin and
//	    no frame.
//	B2  Bytes of a workspace are served as one of five raster formats, recognized by their
//	    first bytes, in a sandbox without an origin. Anything else is refused.
//	B3  A request that another site caused is refused before it is authenticated.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed all:dist
var distFiles embed.FS

const (
	distDir   = "dist"
	indexName = "index.html"

	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

	cacheForever    = "public, max-age=31536000, immutable" // the file name changes with its content
	cacheRevalidate = "no-cache"
)

// setSecurityHeaders sets the headers that every response to a browser has.
func setSecurityHeaders(h http.Header, csp string) {
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// SetSecurityHeaders sets the headers that every response to a browser has, for handlers that
// share the console's origin.
func SetSecurityHeaders(h http.Header) { setSecurityHeaders(h, pagePolicy) }

// Pages serves the files of the console.
type Pages struct {
	files fs.FS
	mu    sync.Mutex
	cache map[string]*cachedFile // guarded by mu; by file name
}

// cachedFile is a file in the forms in which it is sent.
type cachedFile struct {
	body, gzipped []byte // gzipped is nil if compression does not help
	etag          string
}

// NewPages returns the console that is built into the program.
func NewPages() *Pages {
	tree, err := fs.Sub(distFiles, distDir)
	if err != nil {
		panic(err) // the name is a valid constant
	}
	return NewPagesFrom(tree)
}

// NewPagesFrom returns a console with the files of another tree.
func NewPagesFrom(tree fs.FS) *Pages { return &Pages{files: tree, cache: map[string]*cachedFile{}} }

// Serves reports whether a request is for a page: a file of the console, or a URL that a person
// opens and that the console itself routes. Everything else is for the API.
func (p *Pages) Serves(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if isReservedPath(r.URL.Path) {
		return false
	}
	return r.URL.Path == "/" || p.hasFile(fileName(r)) || strings.Contains(r.Header.Get("Accept"), "text/html")
}

// isReservedPath reports whether a path belongs to the API or the server, and not to a page.
func isReservedPath(at string) bool {
	switch at {
	case "/livez", "/readyz", "/metrics", "/v1", "/console":
		return true
	}
	return strings.HasPrefix(at, "/v1/") || strings.HasPrefix(at, "/console/") || strings.HasPrefix(at, "/daemon/")
}

func fileName(r *http.Request) string { return strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/") }

func (p *Pages) hasFile(name string) bool {
	i, err := fs.Stat(p.files, name)
	return err == nil && i.Mode().IsRegular()
}

// ServeHTTP serves a file, or the index page for a URL that the console routes. A missing file
// with a hash in its name is not found: browsers would cache the index page in its place for
// ever.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	SetSecurityHeaders(w.Header())
	name, keep := fileName(r), cacheRevalidate
	switch hashed := strings.HasPrefix(name, "assets/"); {
	case hashed && p.hasFile(name):
		keep = cacheForever
	case hashed:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case !p.hasFile(name):
		name = indexName
	}
	f, err := p.loadFile(name)
	if err != nil {
		http.Error(w, "the console is not part of this build", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentTypeOf(name))
	h.Set("Cache-Control", keep)
	h.Set("Vary", "Accept-Encoding")
	body, tag := f.body, f.etag
	if f.gzipped != nil && acceptsGzip(r) {
		body, tag = f.gzipped, f.etag+"-gz"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Etag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reports whether a client accepts gzip. It returns false in doubt.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, q, weighed := strings.Cut(strings.ReplaceAll(part, " ", ""), ";q=")
		weight, err := strconv.ParseFloat(q, 64)
		if coding == "gzip" && (!weighed || err == nil && weight > 0) {
			return true
		}
	}
	return false
}

// loadFile reads and compresses a file once.
func (p *Pages) loadFile(name string) (*cachedFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.cache[name]; ok {
		return f, nil
	}
	b, err := fs.ReadFile(p.files, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	f := &cachedFile{body: b, gzipped: gzipFile(name, b), etag: hex.EncodeToString(sum[:12])}
	p.cache[name] = f
	return f, nil
}

// minGzipSize is about what fits into one network packet without compression.
const minGzipSize = 1200

// gzipFile compresses a text file, or returns nil if that does not help.
func gzipFile(name string, b []byte) []byte {
	if len(b) < minGzipSize || !isText(name) {
		return nil
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	_, _ = z.Write(b) // writing to a buffer never fails
	_ = z.Close()
	return out.Bytes()
}

// contentTypeOf returns the content type of a file of the console. The table of the system is
// not used, because it differs between machines.
func contentTypeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".woff2":
		return "font/woff2"
	case ".json", ".map":
		return "application/json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

func isText(name string) bool {
	t := contentTypeOf(name)
	return strings.HasPrefix(t, "text/") || strings.HasPrefix(t, "application/json") || t == "image/svg+xml"
}
