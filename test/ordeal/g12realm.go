//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
)

// operation is one of the description that a server gives of itself.
type operation struct {
	id, method, path string
	power            retake.Power
	params           []param
	body             json.RawMessage // a schema; nil: none
}

type param struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
}

// description is what a running server says of itself.
type description struct {
	ops     []operation
	schemas map[string]json.RawMessage
	silent  []string // operations that do not say which power they need
}

// describedAt is where a server describes its API, alike for everyone.
const describedAt = "/v1/openapi.json"

func (h *hall) describe(key string) (*description, error) {
	a := h.ask(asked{key: key, method: http.MethodGet, path: describedAt})
	var doc struct {
		Paths map[string]map[string]struct {
			ID     string       `json:"operationId"`
			Power  retake.Power `json:"x-power"`
			Params []param      `json:"parameters"`
			Body   *struct {
				Content map[string]struct {
					Schema json.RawMessage `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(a.body, &doc); err != nil || !a.good() {
		return nil, fmt.Errorf("read description: %s: %w", a.say(), err)
	}
	d := &description{schemas: doc.Components.Schemas, ops: []operation{{id: "openapi", method: http.MethodGet, path: describedAt, power: retake.PowerNone}}}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			op := operation{id: o.ID, method: strings.ToUpper(method), path: path, power: o.Power, params: o.Params}
			if o.Body != nil {
				for _, c := range o.Body.Content {
					op.body = c.Schema
				}
			}
			if op.power == "" {
				d.silent = append(d.silent, op.id)
			}
			d.ops = append(d.ops, op)
		}
	}
	return d, nil
}

// realm is a namespace with something of everything in it.
type realm struct {
	*guest
	h     *hall
	sink  *receiver
	names map[string]string // what stands for a parameter of an address
	other retake.WorkspaceID
	fresh int

	faults []string // the first answers that nobody should get
}

// furnishRealm gives a namespace two workspaces with checkpoints, a pin, a hold, a webhook
// with a message, a schedule, a key and a request to delete.
func furnishRealm(h *hall, ns retake.NamespaceID, sink *receiver) (*realm, error) {
	g, err := h.add(ns)
	if err != nil {
		return nil, err
	}
	return furnishGuest(h, g, sink)
}

func furnishGuest(h *hall, g *guest, sink *receiver) (*realm, error) {
	ns := g.ns
	m := &realm{guest: g, h: h, sink: sink, names: map[string]string{"ws": string(g.home), "ref": "2", "dir": ""}}
	for i := range 3 {
		if err := plantFile(filepath.Join(m.root(), "src", "a.txt"), fmt.Sprintf("%s %d\n", ns, i)); err != nil {
			return nil, err
		}
		a, err := h.must(g.keys[retake.KeyAgent], http.MethodPost, "/v1/workspaces/"+string(g.home)+"/checkpoints", fmt.Sprintf(`{"intent":"step %d of %s"}`, i, ns))
		if err != nil {
			return nil, err
		}
		m.names["snapshot"] = a.pick("checkpoint.id")
	}
	a := h.ask(asked{key: g.keys[retake.KeyOperator], method: http.MethodPost, path: "/v1/import?name=second&intent=first", body: smallTar("b.txt", "second of "+string(ns)+"\n"), header: map[string]string{"Content-Type": "application/x-tar"}})
	m.other = retake.WorkspaceID(a.pick("workspace.id"))
	if m.other == "" {
		return nil, fmt.Errorf("import: %s", a.say())
	}
	a = h.ask(asked{key: g.keys[retake.KeyReader], method: http.MethodGet, path: "/v1/workspaces/" + string(g.home) + "/list?ref=2&dir=src"})
	m.names["id"] = a.pick("entries.0.object")
	for _, op := range []string{"unpin", "release", "drop-webhook", "replay", "drop-schedule", "revoke-key", "cancel-deletion"} {
		if err := m.provide(op); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *realm) root() string { return filepath.Join(m.h.files(m.ns), "default") }

// provide makes what an operation takes away, so that it has something to do.
func (m *realm) provide(op string) error {
	m.fresh++
	ws, n := "/v1/workspaces/"+m.names["ws"], fmt.Sprintf("n%d", m.fresh)
	make := func(slot, pick string, kind retake.KeyKind, method, path, body string) error {
		a, err := m.h.must(m.keys[kind], method, path, body)
		if err == nil {
			m.names[slot] = a.pick(pick)
		}
		return err
	}
	admin := retake.KeyAdmin
	switch op {
	case "unpin":
		return make("name", "name", retake.KeyOperator, http.MethodPut, ws+"/pins/"+n, `{"ref":"2"}`)
	case "release":
		return make("hold", "name", retake.KeyOperator, http.MethodPost, ws+"/holds", `{"ref":"1","name":"`+n+`"}`)
	case "drop-webhook", "change-webhook", "rotate-webhook":
		return make("hook", "webhook.id", admin, http.MethodPost, "/v1/webhooks", `{"url":"`+m.sink.url+`"}`)
	case "drop-schedule":
		return make("schedule", "id", admin, http.MethodPost, "/v1/schedules", `{"work":"drill","cron":"0 0 1 1 *"}`)
	case "revoke-key":
		return make("key", "key.id", admin, http.MethodPost, "/v1/keys", `{"kind":"reader","name":"`+n+`"}`)
	case "cancel-deletion":
		return make("deletion", "id", admin, http.MethodPost, "/v1/deletions", `{"workspace":"`+m.names["ws"]+`","refs":["2"],"why":"`+n+`"}`)
	case "deinit":
		a := m.h.ask(m.importing(n))
		m.names["spare"] = a.pick("workspace.id")
		return nil
	case "init":
		return os.Mkdir(filepath.Join(m.h.files(m.ns), n), 0o755)
	case "restore":
		return make("digest", "digest", retake.KeyAgent, http.MethodPost, ws+"/plans", `{"course":"restore","ref":"1"}`)
	case "replay", "delivery":
		if _, err := m.h.must(m.keys[retake.KeyAgent], http.MethodPost, ws+"/checkpoints", `{"intent":"told"}`); err != nil {
			return err
		}
		m.h.settled()
		return make("delivery", "data.0.id", admin, http.MethodGet, "/v1/deliveries?limit=1", "")
	}
	return nil
}

func (m *realm) importing(name string) asked {
	return asked{key: m.keys[retake.KeyOperator], method: http.MethodPost, path: "/v1/import?name=" + name, body: smallTar("c.txt", name), header: map[string]string{"Content-Type": "application/x-tar"}}
}

// request is one that would be done for a key that may.
func (m *realm) request(op operation) asked {
	q := asked{method: op.method, path: op.path}
	values := url.Values{}
	for _, p := range op.params {
		v := m.value(op.id, p.Name)
		switch p.In {
		case "path":
			q.path = strings.ReplaceAll(q.path, "{"+p.Name+"}", url.PathEscape(v))
		case "query":
			if v != "" {
				values.Set(p.Name, v)
			}
		}
	}
	if len(values) > 0 {
		q.path += "?" + values.Encode()
	}
	if op.id == "import" {
		i := m.importing(fmt.Sprintf("i%d", m.fresh))
		q.body, q.header, q.path = i.body, i.header, i.path
	} else if op.body != nil {
		q.body = []byte(m.said(op.id))
	}
	return q
}

// value is what stands for a parameter.
func (m *realm) value(op, name string) string {
	special := map[string]string{
		"deinit ws": m.names["spare"], "pin name": fmt.Sprintf("p%d", m.fresh), "unpin name": m.names["name"], "release name": m.names["hold"],
		"list dir": "src", "estimate dir": m.root(), "locate dir": m.root(),
	}
	if v, ok := special[op+" "+name]; ok {
		return v
	}
	usual := map[string]string{"path": "src/a.txt", "from": "1", "to": "2", "text": "step", "limit": "5"}
	if v, ok := usual[name]; ok {
		return v
	}
	if slices.Contains([]string{"ws", "ref", "id", "hook", "key", "schedule", "deletion", "delivery", "snapshot"}, name) {
		return m.names[name]
	}
	return ""
}

// said is the body of a request.
func (m *realm) said(op string) string {
	n := fmt.Sprintf("n%d", m.fresh)
	dir := filepath.Join(m.h.files(m.ns), n)
	all := map[string]string{
		"save":             `{"intent":"` + n + `"}`,
		"plan":             `{"course":"restore","ref":"1"}`,
		"restore":          `{"course":"restore","ref":"1","digest":"` + m.names["digest"] + `","accept":["changed"]}`,
		"apply-restore":    `{"ref":"1","accept":["changed"]}`,
		"fork":             `{"ref":"1","dir":"` + dir + `-fork"}`,
		"init":             `{"dir":"` + dir + `"}`,
		"pin":              `{"ref":"1"}`,
		"hold":             `{"ref":"1","name":"h-` + n + `"}`,
		"forget":           `{"refs":["2"]}`,
		"request-deletion": `{"workspace":"` + m.names["ws"] + `","refs":["2"]}`,
		"attest":           `{"ref":"latest","name":"test","command":"true","verdict":"passed","by":"` + n + `"}`,
		"set-tasks":        `{"tasks":[{"id":"1","title":"` + n + `","status":"pending"}]}`,
		"set-backup":       `{"url":"https://git.example.com/a/b.git"}`,
		"set-limits":       fmt.Sprintf(`{"workspaces":%d}`, 2000+m.fresh),
		"make-key":         `{"kind":"reader","name":"` + n + `"}`,
		"make-webhook":     `{"url":"` + m.sink.url + `/` + n + `","types":["checkpoint.created"]}`,
		"change-webhook":   `{"url":"` + m.sink.url + `/` + n + `","types":["checkpoint.created"]}`,
		"make-schedule":    `{"work":"drill","cron":"0 0 1 1 *"}`,
		"make-snapshot":    `{"label":"` + n + `"}`,
		"observe": fmt.Sprintf(`{"id":%q,"kind":"prompt","time":%q,"agent":"x","session":"s-%s","turn":"t","dir":%q,"prompt":"do %s"}`,
			queue.NewID(), time.Now().Format(time.RFC3339), n, m.root(), n),
	}
	if v, ok := all[op]; ok {
		return v
	}
	return `{}`
}

// nowhere is the same request about what is nowhere.
func (m *realm) nowhere(q asked) asked {
	swap := m.h.elsewhere(m.ns)
	q.path, q.body = swap.Replace(q.path), []byte(swap.Replace(string(q.body)))
	for _, id := range append(slices.Collect(maps.Values(m.names)), string(m.home), string(m.other)) {
		if n := len(id) - 8; n > 16 {
			q.path = strings.ReplaceAll(q.path, id, id[:n]+"00000000")
			q.body = bytes.ReplaceAll(q.body, []byte(id), []byte(id[:n]+"00000000"))
		}
	}
	return q
}

// elsewhere turns the directory of a namespace into one that is not there.
func (h *hall) elsewhere(ns retake.NamespaceID) *strings.Replacer {
	here, there := filepath.Join(h.dir, "ns", string(ns)), filepath.Join(h.dir, "ns", "nobody")
	return strings.NewReplacer(here, there, url.QueryEscape(here), url.QueryEscape(there))
}

func smallTar(name, text string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(1_700_000_000, 0)})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // memory takes everything
	}
	return b.Bytes()
}

// newReceiver takes messages on this machine; status answers them, nil with 204.
func newReceiver(status func(*http.Request) int) (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &receiver{url: "http://" + l.Addr().String()}
	s := &http.Server{ReadHeaderTimeout: commandPatience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := new(bytes.Buffer)
		if _, err := b.ReadFrom(r.Body); err != nil {
			return
		}
		m := message{header: r.Header, body: b.Bytes(), at: time.Now(), status: http.StatusNoContent}
		if status != nil {
			m.status = status(r)
		}
		c.mu.Lock()
		c.got = append(c.got, m)
		c.mu.Unlock()
		w.WriteHeader(m.status)
	})}
	go s.Serve(l) //nolint:errcheck // it ends with close
	c.close = s.Close
	return c, nil
}
