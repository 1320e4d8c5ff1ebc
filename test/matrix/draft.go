//go:build linux

package matrix

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// draft is a request whose parts can be replaced one at a time.
type draft struct {
	op     *operation
	path   map[string]string // encoded, as they stand in the address
	query  url.Values
	more   string // a part of the query as it is sent
	body   map[string]any
	raw    []byte // a body that is no JSON, or JSON that no encoder writes
	header map[string]string
}

// draftOf takes a request apart that was made for an operation.
func draftOf(op *operation, q serverbed.Asked) (*draft, error) {
	d := &draft{op: op, path: map[string]string{}, header: map[string]string{}}
	path, query, _ := strings.Cut(q.Path, "?")
	names, values := strings.Split(op.template, "/"), strings.Split(path, "/")
	for i, name := range names {
		if strings.HasPrefix(name, "{") && i < len(values) {
			d.path[strings.Trim(name, "{}")] = values[i]
		}
	}
	var err error
	if d.query, err = url.ParseQuery(query); err != nil {
		return nil, err
	}
	maps.Copy(d.header, q.Header)
	if op.Body != nil && op.ID != "import" {
		d.body = map[string]any{}
		return d, json.Unmarshal(q.Body, &d.body)
	}
	d.raw = q.Body
	return d, nil
}

// ask makes a request of the draft.
func (d *draft) ask(secret string) serverbed.Asked {
	q := serverbed.Asked{Key: secret, Method: d.op.Method, Path: d.op.template, Body: d.raw, Header: maps.Clone(d.header)}
	for name, v := range d.path {
		q.Path = strings.ReplaceAll(q.Path, "{"+name+"}", v)
	}
	query := d.query.Encode()
	if d.more != "" {
		query = strings.TrimPrefix(query+"&"+d.more, "&")
	}
	if query != "" {
		q.Path += "?" + query
	}
	if d.raw == nil && d.body != nil && d.op.Method != http.MethodGet {
		q.Body, _ = json.Marshal(d.body) // it is made of what JSON has
	}
	return q
}

// set puts a value into a field. In a path it is encoded.
func (d *draft) set(f field, value any) {
	switch f.in {
	case "path":
		d.path[f.name] = url.PathEscape(fmt.Sprint(value))
	case "query":
		d.query.Set(f.name, fmt.Sprint(value))
	case "tool":
		d.setArgument(f.name, value)
	default:
		d.setBody(f, value)
	}
}

func (d *draft) setBody(f field, value any) {
	if s, ok := value.(string); ok && strings.HasSuffix(f.name, "_raw") {
		value = base64.StdEncoding.EncodeToString([]byte(s))
	}
	if _, ok := value.(string); ok && f.list && len(f.at) == 1 {
		value = []any{value}
	}
	if len(f.at) == 1 {
		d.body[f.name] = value
		return
	}
	d.setInner(f, value)
}

// setInner puts a value into an object in the body: a task of a list, a call, limits.
func (d *draft) setInner(f field, value any) {
	inner := map[string]any{}
	switch f.at[0] {
	case "tasks":
		inner = map[string]any{"id": "1", "title": "a", "status": "pending"}
	case "call":
		inner = map[string]any{"id": "1", "tool": "a", "kind": "other"}
	}
	inner[f.name] = value
	d.body[f.at[0]] = inner
	switch {
	case f.at[0] == "tasks":
		d.body[f.at[0]] = []any{inner}
	case f.list:
		inner[f.name] = []any{value}
	}
}

// form is a way to write an id that is not the caller's.
type form struct {
	name  string
	in    string // "": in any part of a request
	apply func(d *draft, f field, own, theirs string)
	mild  bool // the id of the caller is in it, too: the request may succeed with that one
	tells bool // it has the word that no response may show, so it is not for fields that are stored
}

// written makes forms that are only another text.
func written(name string, text func(own, theirs string) string) form {
	return form{name: name, apply: func(d *draft, f field, own, theirs string) { d.set(f, text(own, theirs)) }}
}

// telling makes forms with the name of the other namespace.
func telling(name string, text func(own, theirs string) string) form {
	fm := written(name, text)
	fm.tells = true
	return fm
}

// addressed makes forms that only an address can have.
func addressed(name string, text func(own, theirs string) string) form {
	return form{name: name, in: "path", apply: func(d *draft, f field, own, theirs string) { d.path[f.name] = text(own, theirs) }}
}

// inBody makes forms of a body by replacing a value.
func inBody(name string, value func(own, theirs string) any) form {
	return form{name: name, in: "body", apply: func(d *draft, f field, own, theirs string) {
		if len(f.at) == 1 {
			d.body[f.name] = value(own, theirs)
		}
	}}
}

var plain = written("as it is", func(_, theirs string) string { return theirs })

// forms are the ways to write an id, without the plain one.
var forms = []form{
	written("in upper case", func(_, t string) string { return strings.ToUpper(t) }),
	written("after dots", func(own, t string) string { return own + "/../" + t }),
	written("in a directory", func(_, t string) string { return "../" + t }),
	written("after a space", func(_, t string) string { return " " + t }),
	written("with a zero byte", func(_, t string) string { return t + "\x00" }),
	written("with a line end", func(_, t string) string { return t + "\n" }),
	written("without its end", func(_, t string) string { return t[:len(t)-1] }),
	written("with a step back", func(_, t string) string { return t + "~1" }),
	telling("of its namespace", func(_, t string) string { return otherName + "/" + t }),
	telling("behind a colon", func(_, t string) string { return otherName + ":" + t }),
	written("as a pattern", func(_, t string) string { return t[:len(t)-2] + "%" }),
	written("as a quote", func(_, t string) string { return "' OR id = '" + t }),
	written("in a list", func(own, t string) string { return own + "," + t }),
	written("encoded", func(_, t string) string { return percent(t) }),
	addressed("encoded once", func(_, t string) string { return percent(t) }),
	addressed("after encoded dots", func(own, t string) string { return own + "%2f..%2f" + percent(t) }),
	addressed("after bare dots", func(own, t string) string { return own + "/../" + url.PathEscape(t) }),
	addressed("after a double slash", func(own, t string) string { return own + "//../" + url.PathEscape(t) }),
	addressed("as a parameter", func(own, t string) string { return own + ";" + url.PathEscape(t) }),
	inBody("as a list", func(own, t string) any { return []any{own, t} }),
	inBody("as a list, first", func(own, t string) any { return []any{t, own} }),
	inBody("as an object", func(_, t string) any { return map[string]any{"id": t, "$eq": t} }),
	{name: "beside the own", in: "query", mild: true, apply: func(d *draft, f field, own, t string) {
		d.query[f.name] = []string{own, t}
	}},
	{name: "before the own", in: "query", mild: true, apply: func(d *draft, f field, own, t string) {
		d.query[f.name] = []string{t, own}
	}},
	{name: "under an encoded name", in: "query", mild: true, apply: func(d *draft, f field, _, t string) {
		d.more = percent(f.name) + "=" + url.QueryEscape(t)
	}},
	{name: "twice", in: "body", mild: true, apply: func(d *draft, f field, own, t string) { d.double(f, f.name, own, t) }},
	{name: "in capitals", in: "body", mild: true, apply: func(d *draft, f field, own, t string) { d.double(f, strings.ToUpper(f.name), own, t) }},
}

// double writes a body with a field twice, the second time under another name.
func (d *draft) double(f field, name, own, theirs string) {
	if len(f.at) > 1 {
		return
	}
	d.set(f, own)
	b, _ := json.Marshal(d.body) // it is made of what JSON has
	d.set(f, theirs)
	v, _ := json.Marshal(d.body[f.name]) // as above
	k, _ := json.Marshal(name)           // as above
	d.raw = fmt.Appendf(nil, "%s,%s:%s}", strings.TrimSuffix(string(b), "}"), k, v)
}

// percent encodes every byte.
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

// fits says whether a form can be used for a field.
func (fm form) fits(f field) bool {
	return (fm.in == "" || fm.in == f.in) && (len(f.at) == 1 || fm.in != "body")
}
