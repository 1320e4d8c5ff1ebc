//go:build linux

package g16

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// reader makes what differs from world to world the same: each id becomes its kind and
// the number of ids of that kind that came before it. So two worlds look alike exactly
// when the same things happen to the same things.
type reader struct {
	dir   string
	sink  string
	known map[string]string   // an id to what it is called
	all   map[string][]string // ids by kind, in the order of their appearance
}

func newReader(dir, sink string) *reader {
	return &reader{dir: dir, sink: sink, known: map[string]string{}, all: map[string][]string{}}
}

var (
	idForm     = regexp.MustCompile(`\b(ws|cp|key|wh|del|sch|sig|msg|req|evt|vf)_[0-9a-zA-Z-]{20,64}`)
	secretForm = regexp.MustCompile(`\b(rtk|whsec|whpk)_[A-Za-z0-9_+/=-]{20,}`)
	hashForm   = regexp.MustCompile(`\b[a-z]?[0-9a-f]{32}(?:[0-9a-f]{32})?\b`)
	markForm   = regexp.MustCompile(`\bd3Nf[A-Za-z0-9+/]{40,}={0,2}`) // the id of a workspace, as bytes
	uuidForm   = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	timeForm   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	shortTime  = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?\b|\b\d\d:\d\d:\d\d\b`)
	tookForm   = regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s)\b`)
)

// call answers what an id is called here.
func (n *reader) call(kind, id string) string {
	if name, ok := n.known[id]; ok {
		return name
	}
	name := fmt.Sprintf("<%s %d>", kind, len(n.all[kind]))
	n.known[id] = name
	n.all[kind] = append(n.all[kind], id)
	return name
}

// text makes plain text comparable.
func (n *reader) text(s string) string {
	s = strings.ReplaceAll(s, n.dir, "<dir>")
	s = strings.ReplaceAll(s, url.QueryEscape(n.dir), "<dir>")
	s = strings.ReplaceAll(s, n.sink, "<sink>")
	s = secretForm.ReplaceAllStringFunc(s, func(x string) string { return n.call("secret", x) })
	s = idForm.ReplaceAllStringFunc(s, func(x string) string { return n.call(x[:strings.IndexByte(x, '_')], x) })
	s = markForm.ReplaceAllStringFunc(s, func(x string) string { return n.call("mark", x) })
	s = uuidForm.ReplaceAllStringFunc(s, func(x string) string { return n.call("uuid", x) })
	s = hashForm.ReplaceAllStringFunc(s, func(x string) string { return n.call("hash", x) })
	s = timeForm.ReplaceAllString(s, "<time>")
	s = shortTime.ReplaceAllString(s, "<time>")
	return tookForm.ReplaceAllString(s, "<took>")
}

// opaque are fields whose text is an id as a whole.
var opaque = map[string]string{"next_cursor": "cursor", "etag": "etag", "digest": "digest", "secret": "secret", "tail": "tail", "public": "public", "signature": "signature"}

// loose are fields that clocks and disks decide.
var loose = map[string]bool{"took": true, "mod_time": true, "dev": true, "ino": true, "free": true, "floor": true, "days": true, "age": true, "pid": true, "freed": true, "body": true, "max_time": true, "audit_head": true}

// clocked are counts of the audit log: each world has a clock of its own that anchors it
// and ends deletions. Whether the chain is whole is compared all the same.
var clocked = map[string]bool{"entries": true, "anchors": true}

// counting are operations that tell how the engine put bytes together, which is its own.
var counting = map[string]bool{"usage": true, "space": true, "space-plan": true, "thin": true, "sweep": true, "scrub": true, "rebuild": true, "estimate": true}

// value makes a JSON value comparable, fields in order.
func (n *reader) value(op, field string, v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make([]any, 0, len(x))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			in := op
			if k == "store" {
				in = "space"
			}
			out = append(out, n.text(k), n.value(in, k, x[k]))
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = n.value(op, field, x[i])
		}
		return out
	case string:
		if kind, ok := opaque[field]; ok && x != "" {
			return n.call(kind, x)
		}
		if loose[field] {
			return "~"
		}
		return n.text(x)
	case float64:
		if loose[field] || counting[op] || op == "check-audit" && clocked[field] {
			return "~"
		}
	}
	return v
}

// answer makes an answer comparable, with its header.
func (n *reader) answer(op string, a serverbed.Answer) string {
	if a.Status/100 == 3 || op == "replay" { // it repeats the request, or races with who sends
		return fmt.Sprint(a.Status)
	}
	var b strings.Builder
	fmt.Fprintln(&b, a.Status)
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		switch name {
		case "Date", "Content-Length", "X-Request-Id", "Retake-Entry":
			fmt.Fprintln(&b, name)
		case "Etag": // a digest of what may hold an address of this world
			fmt.Fprintln(&b, name, n.call("etag", strings.Trim(a.Header.Get(name), `"`)))
		default:
			fmt.Fprintln(&b, name, n.text(strings.Join(a.Header[name], ", ")))
		}
	}
	b.WriteString(n.content(op, a))
	return b.String()
}

func (n *reader) content(op string, a serverbed.Answer) string {
	if a.Header.Get("Content-Type") == "application/x-tar" {
		return untarred(a.Body)
	}
	var v any
	if err := json.Unmarshal(a.Body, &v); err == nil {
		out, err := json.Marshal(n.value(op, "", v))
		if err == nil {
			return string(out)
		}
	}
	return n.text(string(a.Body))
}

// untarred is what an archive holds, without times.
func untarred(b []byte) string {
	var out strings.Builder
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			return out.String() + err.Error()
		}
		text, err := io.ReadAll(r)
		fmt.Fprintln(&out, h.Name, h.Mode, h.Typeflag, h.Linkname, string(text), err)
	}
}

// slots in requests stand for what each world has of a kind: Q9ws0003Q9.
var slotForm = regexp.MustCompile(`Q9([a-z]+)(\d{4})Q9`)

func slot(kind string, i int) string { return fmt.Sprintf("Q9%s%04dQ9", kind, i) }

// fill puts a world's own ids into a request.
func (n *reader) fill(q serverbed.Asked) serverbed.Asked {
	put := func(s string) string {
		s = strings.ReplaceAll(s, "Q9dirQ9", n.dir)
		s = strings.ReplaceAll(s, "Q9sinkQ9", n.sink)
		return slotForm.ReplaceAllStringFunc(s, func(x string) string {
			m := slotForm.FindStringSubmatch(x)
			i, err := strconv.Atoi(m[2])
			if all := n.all[m[1]]; err == nil && i < len(all) {
				return all[i]
			}
			return "none"
		})
	}
	q.Path = put(q.Path)
	if q.Body != nil && q.Method != http.MethodGet {
		q.Body = []byte(put(string(q.Body)))
	}
	return q
}

// narrates: the answer shows what is told of checkpoints, which comes after them. The path says
// so and not the operation: some are asked with another method.
func narrates(q serverbed.Asked) bool {
	at, _, _ := strings.Cut(q.Path, "?")
	return q.Method == http.MethodGet && slices.Contains([]string{"checkpoints", "search", "chronicle"}, path.Base(at))
}
