// Package web is the face for browsers: the files of the console, pictures out of a
// workspace, and the rules by which a request is known to come from our own page.
//
// It serves what was built from console/ and asks a retake.Reader for pictures. It never
// decides who may come in, keeps nothing on disk, and lets no other site in: there is no
// header for that.
//
//	B1  What it serves runs nothing but files of ours: the policy allows no inline script,
//	    no other origin, no frame.
//	B2  Bytes of a workspace leave as one of five raster formats, told by their first bytes,
//	    in a sandbox without an origin; anything else is refused.
//	B3  A request that another site caused is refused before it is asked who sent it.
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

	cacheForever    = "public, max-age=31536000, immutable" // the name changes with the bytes
	cacheRevalidate = "no-cache"
)

// setSecurityHeaders sets what every answer for a browser carries.
func setSecurityHeaders(h http.Header, csp string) {
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// SetSecurityHeaders sets the headers that every answer for a browser carries, for who answers beside
// us under the same address.
func SetSecurityHeaders(h http.Header) { setSecurityHeaders(h, pagePolicy) }

// Pages serves the files of the console.
type Pages struct {
	files fs.FS
	mu    sync.Mutex
	cache map[string]*cachedFile // guarded by mu; by name in the tree
}

// cachedFile is one file as it is sent.
type cachedFile struct {
	body, gzipped []byte // packed is nil when it is not worth it
	etag          string
}

// NewPages serves what was built into the program.
func NewPages() *Pages {
	tree, err := fs.Sub(distFiles, distDir)
	if err != nil {
		panic(err) // the name is ours and valid
	}
	return NewPagesFrom(tree)
}

// NewPagesFrom serves another tree.
func NewPagesFrom(tree fs.FS) *Pages { return &Pages{files: tree, cache: map[string]*cachedFile{}} }

// Serves reports whether a request is for a page: a file of the console, or an address
// that a person opens and the console itself reads. Everything else is the API's.
func (p *Pages) Serves(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if isReservedPath(r.URL.Path) {
		return false
	}
	return r.URL.Path == "/" || p.hasFile(fileName(r)) || strings.Contains(r.Header.Get("Accept"), "text/html")
}

// isReservedPath are addresses that no page has.
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

// ServeHTTP sends a file, or the first page for an address that the console reads. A
// hashed file that is not there is not found: a page in its place would be kept for ever.
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

// acceptsGzip is false in doubt: plain bytes are always right.
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

// loadFile reads and packs a file once.
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

// leastPacked is what one packet of the network holds anyway.
const minGzipSize = 1200

func gzipFile(name string, b []byte) []byte {
	if len(b) < minGzipSize || !isText(name) {
		return nil
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a valid one
	}
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// contentTypeOf knows the files that a build has. What the machine's own table says differs between
// machines.
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
