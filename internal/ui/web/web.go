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
var built embed.FS

const (
	dist      = "dist"
	indexName = "index.html"

	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

	keepForEver = "public, max-age=31536000, immutable" // the name changes with the bytes
	askAgain    = "no-cache"
)

// harden sets what every answer for a browser carries.
func harden(h http.Header, csp string) {
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// Harden sets the headers that every answer for a browser carries, for who answers beside
// us under the same address.
func Harden(h http.Header) { harden(h, policy) }

// Pages serves the files of the console.
type Pages struct {
	tree fs.FS
	mu   sync.Mutex
	read map[string]*file // guarded by mu; by name in the tree
}

// file is one file as it is sent.
type file struct {
	plain, packed []byte // packed is nil when it is not worth it
	tag           string
}

// NewPages serves what was built into the program.
func NewPages() *Pages {
	tree, err := fs.Sub(built, dist)
	if err != nil {
		panic(err) // the name is ours and valid
	}
	return PagesOf(tree)
}

// PagesOf serves another tree.
func PagesOf(tree fs.FS) *Pages { return &Pages{tree: tree, read: map[string]*file{}} }

// Serves reports whether a request is for a page: a file of the console, or an address
// that a person opens and the console itself reads. Everything else is the API's.
func (p *Pages) Serves(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if reserved(r.URL.Path) {
		return false
	}
	return r.URL.Path == "/" || p.has(name(r)) || strings.Contains(r.Header.Get("Accept"), "text/html")
}

// reserved are addresses that no page has.
func reserved(at string) bool {
	switch at {
	case "/livez", "/readyz", "/metrics", "/v1", "/console":
		return true
	}
	return strings.HasPrefix(at, "/v1/") || strings.HasPrefix(at, "/console/") || strings.HasPrefix(at, "/daemon/")
}

func name(r *http.Request) string { return strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/") }

func (p *Pages) has(name string) bool {
	i, err := fs.Stat(p.tree, name)
	return err == nil && i.Mode().IsRegular()
}

// ServeHTTP sends a file, or the first page for an address that the console reads. A
// hashed file that is not there is not found: a page in its place would be kept for ever.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Harden(w.Header())
	name, keep := name(r), askAgain
	switch hashed := strings.HasPrefix(name, "assets/"); {
	case hashed && p.has(name):
		keep = keepForEver
	case hashed:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case !p.has(name):
		name = indexName
	}
	f, err := p.file(name)
	if err != nil {
		http.Error(w, "the console is not part of this build", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", typeOf(name))
	h.Set("Cache-Control", keep)
	h.Set("Vary", "Accept-Encoding")
	body, tag := f.plain, f.tag
	if f.packed != nil && takesGzip(r) {
		body, tag = f.packed, f.tag+"-gz"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Etag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip is false in doubt: plain bytes are always right.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, q, weighed := strings.Cut(strings.ReplaceAll(part, " ", ""), ";q=")
		weight, err := strconv.ParseFloat(q, 64)
		if coding == "gzip" && (!weighed || err == nil && weight > 0) {
			return true
		}
	}
	return false
}

// file reads and packs a file once.
func (p *Pages) file(name string) (*file, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.read[name]; ok {
		return f, nil
	}
	b, err := fs.ReadFile(p.tree, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	f := &file{plain: b, packed: packed(name, b), tag: hex.EncodeToString(sum[:12])}
	p.read[name] = f
	return f, nil
}

// leastPacked is what one packet of the network holds anyway.
const leastPacked = 1200

func packed(name string, b []byte) []byte {
	if len(b) < leastPacked || !isText(name) {
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

// typeOf knows the files that a build has. What the machine's own table says differs between
// machines.
func typeOf(name string) string {
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
	t := typeOf(name)
	return strings.HasPrefix(t, "text/") || strings.HasPrefix(t, "application/json") || t == "image/svg+xml"
}
