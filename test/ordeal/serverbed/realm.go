//go:build linux

package serverbed

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
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// Operation is one of the description that a server gives of itself.
type Operation struct {
	ID, Method, path string
	Power            retake.Power
	Params           []param
	Body             json.RawMessage // a schema; nil: none
}

type param struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
}

// Description is what a running server says of itself.
type Description struct {
	Ops     []Operation
	schemas map[string]json.RawMessage
	Silent  []string // operations that do not say which power they need
}

// DescribedAt is where a server describes its API, alike for everyone.
const DescribedAt = "/v1/openapi.json"

func (h *Hall) Describe(key string) (*Description, error) {
	a := h.Ask(Asked{Key: key, Method: http.MethodGet, Path: DescribedAt})
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
	if err := json.Unmarshal(a.Body, &doc); err != nil || !a.Good() {
		return nil, fmt.Errorf("read description: %s: %w", a.Say(), err)
	}
	d := &Description{schemas: doc.Components.Schemas, Ops: []Operation{{ID: "openapi", Method: http.MethodGet, path: DescribedAt, Power: retake.PowerNone}}}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			op := Operation{ID: o.ID, Method: strings.ToUpper(method), path: path, Power: o.Power, Params: o.Params}
			if o.Body != nil {
				for _, c := range o.Body.Content {
					op.Body = c.Schema
				}
			}
			if op.Power == "" {
				d.Silent = append(d.Silent, op.ID)
			}
			d.Ops = append(d.Ops, op)
		}
	}
	return d, nil
}

// Realm is a namespace with something of everything in it.
type Realm struct {
	*Guest
	H     *Hall
	sink  *Receiver
	Names map[string]string // what stands for a parameter of an address
	Other retake.WorkspaceID
	Fresh int

	Faults []string // the first answers that nobody should get
}

// FurnishRealm gives a namespace two workspaces with checkpoints, a pin, a hold, a webhook
// with a message, a schedule, a key and a request to delete.
func FurnishRealm(h *Hall, ns retake.NamespaceID, sink *Receiver) (*Realm, error) {
	g, err := h.Add(ns)
	if err != nil {
		return nil, err
	}
	return FurnishGuest(h, g, sink)
}

func FurnishGuest(h *Hall, g *Guest, sink *Receiver) (*Realm, error) {
	ns := g.Ns
	m := &Realm{Guest: g, H: h, sink: sink, Names: map[string]string{"ws": string(g.Home), "ref": "2", "dir": "", "namespace": string(ns)}}
	for i := range 3 {
		if err := PlantFile(filepath.Join(m.Root(), "src", "a.txt"), fmt.Sprintf("%s %d\n", ns, i)); err != nil {
			return nil, err
		}
		a, err := h.Must(g.Keys[retake.KeyAgent], http.MethodPost, "/v1/workspaces/"+string(g.Home)+"/checkpoints", fmt.Sprintf(`{"intent":"step %d of %s"}`, i, ns))
		if err != nil {
			return nil, err
		}
		m.Names["snapshot"] = a.Pick("checkpoint.id")
	}
	a := h.Ask(Asked{Key: g.Keys[retake.KeyOperator], Method: http.MethodPost, Path: "/v1/import?name=second&intent=first", Body: SmallTar("b.txt", "second of "+string(ns)+"\n"), Header: map[string]string{"Content-Type": "application/x-tar"}})
	m.Other = retake.WorkspaceID(a.Pick("workspace.id"))
	if m.Other == "" {
		return nil, fmt.Errorf("import: %s", a.Say())
	}
	a = h.Ask(Asked{Key: g.Keys[retake.KeyReader], Method: http.MethodGet, Path: "/v1/workspaces/" + string(g.Home) + "/list?ref=2&dir=src"})
	m.Names["id"] = a.Pick("entries.0.object")
	for _, op := range []string{"unpin", "release", "drop-webhook", "replay", "drop-schedule", "revoke-key", "cancel-deletion"} {
		if err := m.Provide(op); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Realm) Root() string { return filepath.Join(m.H.Files(m.Ns), "default") }

// Provide makes what an operation takes away, so that it has something to do.
func (m *Realm) Provide(op string) error {
	m.Fresh++
	ws, n := "/v1/workspaces/"+m.Names["ws"], fmt.Sprintf("n%d", m.Fresh)
	make := func(slot, pick string, kind retake.KeyKind, method, path, body string) error {
		a, err := m.H.Must(m.Keys[kind], method, path, body)
		if err == nil {
			m.Names[slot] = a.Pick(pick)
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
		return make("hook", "webhook.id", admin, http.MethodPost, "/v1/webhooks", `{"url":"`+m.sink.URL+`"}`)
	case "drop-schedule":
		return make("schedule", "id", admin, http.MethodPost, "/v1/schedules", `{"work":"drill","cron":"0 0 1 1 *"}`)
	case "revoke-key":
		return make("key", "key.id", admin, http.MethodPost, "/v1/keys", `{"kind":"reader","name":"`+n+`"}`)
	case "cancel-deletion":
		return make("deletion", "id", admin, http.MethodPost, "/v1/deletions", `{"workspace":"`+m.Names["ws"]+`","refs":["2"],"why":"`+n+`"}`)
	case "deinit":
		a := m.H.Ask(m.Importing(n))
		m.Names["spare"] = a.Pick("workspace.id")
		return nil
	case "init":
		return os.Mkdir(filepath.Join(m.H.Files(m.Ns), n), 0o755)
	case "restore":
		return make("digest", "digest", retake.KeyAgent, http.MethodPost, ws+"/plans", `{"course":"restore","ref":"1"}`)
	case "replay", "delivery":
		if _, err := m.H.Must(m.Keys[retake.KeyAgent], http.MethodPost, ws+"/checkpoints", `{"intent":"told"}`); err != nil {
			return err
		}
		m.H.Settled()
		return make("delivery", "data.0.id", admin, http.MethodGet, "/v1/deliveries?limit=1", "")
	}
	return nil
}

func (m *Realm) Importing(name string) Asked {
	return Asked{Key: m.Keys[retake.KeyOperator], Method: http.MethodPost, Path: "/v1/import?name=" + name, Body: SmallTar("c.txt", name), Header: map[string]string{"Content-Type": "application/x-tar"}}
}

// Request is one that would be done for a key that may.
func (m *Realm) Request(op Operation) Asked {
	q := Asked{Method: op.Method, Path: op.path}
	values := url.Values{}
	for _, p := range op.Params {
		v := m.value(op.ID, p.Name)
		switch p.In {
		case "path":
			q.Path = strings.ReplaceAll(q.Path, "{"+p.Name+"}", url.PathEscape(v))
		case "query":
			if v != "" {
				values.Set(p.Name, v)
			}
		}
	}
	if len(values) > 0 {
		q.Path += "?" + values.Encode()
	}
	if op.ID == "import" {
		i := m.Importing(fmt.Sprintf("i%d", m.Fresh))
		q.Body, q.Header, q.Path = i.Body, i.Header, i.Path
	} else if op.Body != nil {
		q.Body = []byte(m.said(op.ID))
	}
	return q
}

// value is what stands for a parameter.
func (m *Realm) value(op, name string) string {
	special := map[string]string{
		"deinit ws": m.Names["spare"], "pin name": fmt.Sprintf("p%d", m.Fresh), "unpin name": m.Names["name"], "release name": m.Names["hold"],
		"list dir": "src", "estimate dir": m.Root(), "locate dir": m.Root(),
	}
	if v, ok := special[op+" "+name]; ok {
		return v
	}
	usual := map[string]string{"path": "src/a.txt", "from": "1", "to": "2", "text": "step", "limit": "5", "effect": "e1", "remote": "own-remote"}
	if v, ok := usual[name]; ok {
		return v
	}
	if slices.Contains([]string{"ws", "ref", "id", "hook", "key", "schedule", "deletion", "delivery", "snapshot", "namespace"}, name) {
		return m.Names[name]
	}
	return ""
}

// said is the body of a request.
func (m *Realm) said(op string) string {
	n := fmt.Sprintf("n%d", m.Fresh)
	dir := filepath.Join(m.H.Files(m.Ns), n)
	all := map[string]string{
		"save":             `{"intent":"` + n + `"}`,
		"plan":             `{"course":"restore","ref":"1"}`,
		"restore":          `{"course":"restore","ref":"1","digest":"` + m.Names["digest"] + `","accept":["changed"]}`,
		"apply-restore":    `{"ref":"1","accept":["changed"]}`,
		"fork":             `{"ref":"1","dir":"` + dir + `-fork"}`,
		"init":             `{"dir":"` + dir + `"}`,
		"pin":              `{"ref":"1"}`,
		"hold":             `{"ref":"1","name":"h-` + n + `"}`,
		"forget":           `{"refs":["2"]}`,
		"request-deletion": `{"workspace":"` + m.Names["ws"] + `","refs":["2"]}`,
		"attest":           `{"ref":"latest","name":"test","command":"true","verdict":"passed","by":"` + n + `"}`,
		"set-tasks":        `{"tasks":[{"id":"1","title":"` + n + `","status":"pending"}]}`,
		"set-backup":       `{"url":"https://git.example.com/a/b.git"}`,
		"set-limits":       fmt.Sprintf(`{"workspaces":%d}`, 2000+m.Fresh),
		"make-key":         `{"kind":"reader","name":"` + n + `"}`,
		"make-webhook":     `{"url":"` + m.sink.URL + `/` + n + `","types":["checkpoint.created"]}`,
		"change-webhook":   `{"url":"` + m.sink.URL + `/` + n + `","types":["checkpoint.created"]}`,
		"make-schedule":    `{"work":"drill","cron":"0 0 1 1 *"}`,
		"make-snapshot":    `{"label":"` + n + `"}`,
		"observe": fmt.Sprintf(`{"id":%q,"kind":"prompt","time":%q,"agent":"x","session":"s-%s","turn":"t","dir":%q,"prompt":"do %s"}`,
			queue.NewID(), time.Now().Format(time.RFC3339), n, m.Root(), n),
	}
	if v, ok := all[op]; ok {
		return v
	}
	return `{}`
}

// Nowhere is the same request about what is nowhere.
func (m *Realm) Nowhere(q Asked) Asked {
	swap := m.H.elsewhere(m.Ns)
	q.Path, q.Body = swap.Replace(q.Path), []byte(swap.Replace(string(q.Body)))
	for _, id := range append(slices.Collect(maps.Values(m.Names)), string(m.Home), string(m.Other)) {
		if n := len(id) - 8; n > 16 {
			q.Path = strings.ReplaceAll(q.Path, id, id[:n]+"00000000")
			q.Body = bytes.ReplaceAll(q.Body, []byte(id), []byte(id[:n]+"00000000"))
		}
	}
	return q
}

// elsewhere turns the directory of a namespace into one that is not there.
func (h *Hall) elsewhere(ns retake.NamespaceID) *strings.Replacer {
	here, there := filepath.Join(h.Dir, "ns", string(ns)), filepath.Join(h.Dir, "ns", "nobody")
	return strings.NewReplacer(here, there, url.QueryEscape(here), url.QueryEscape(there))
}

func SmallTar(name, text string) []byte {
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

// NewReceiver takes messages on this machine; status answers them, nil with 204.
func NewReceiver(status func(*http.Request) int) (*Receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Receiver{URL: "http://" + l.Addr().String()}
	s := &http.Server{ReadHeaderTimeout: daemonbed.CommandPatience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := new(bytes.Buffer)
		if _, err := b.ReadFrom(r.Body); err != nil {
			return
		}
		m := message{Header: r.Header, Body: b.Bytes(), At: time.Now(), Status: http.StatusNoContent}
		if status != nil {
			m.Status = status(r)
		}
		c.mu.Lock()
		c.got = append(c.got, m)
		c.mu.Unlock()
		w.WriteHeader(m.Status)
	})}
	go s.Serve(l) //nolint:errcheck // it ends with close
	c.Close = s.Close
	return c, nil
}
