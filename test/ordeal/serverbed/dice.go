//go:build linux

package serverbed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Schema is the part of a JSON schema that requests are made from.
type Schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"` // a name, or several
	Format     string            `json:"format"`
	Enum       []any             `json:"enum"`
	Properties map[string]Schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *Schema           `json:"items"`
}

// Dice make requests that a description allows, and some that it does not.
type Dice struct {
	*rand.Rand
	D       *Description
	Schemas map[string]Schema
	Bodies  map[string]Schema // by operation
	// name answers what may stand for a field or a parameter; false: nothing is known.
	Name func(op, field string) (string, bool)
}

func NewDice(seed uint64, d *Description) (*Dice, error) {
	c := &Dice{Rand: rand.New(rand.NewPCG(seed, 12)), D: d, Schemas: map[string]Schema{}, Bodies: map[string]Schema{}}
	for name, raw := range d.schemas {
		var s Schema
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		c.Schemas[name] = s
	}
	for _, op := range d.Ops {
		if op.Body == nil {
			continue
		}
		var s Schema
		if err := json.Unmarshal(op.Body, &s); err != nil {
			return nil, fmt.Errorf("read body of %s: %w", op.ID, err)
		}
		c.Bodies[op.ID] = s
	}
	return c, nil
}

func (c *Dice) Chance(percent int) bool { return c.IntN(100) < percent }

func (c *Dice) OneOf(all ...string) string { return all[c.IntN(len(all))] }

// odd is text that nobody expects.
func (c *Dice) odd() string {
	return c.OneOf("", "0", "-1", "1", "latest", "latest~1", "start", "..", "../..", "../../../etc", "/", "/etc/passwd", "a/b", "%2e%2e", "\x00", "\xff\xfe", "'; DROP TABLE checkpoint; --",
		`" OR 1=1 --`, "null", "hold:x", "*", "%", "_", "main", "alpha", "beta", "ws_00000000-0000-7000-8000-000000000000", "cp_00000000-0000-7000-8000-000000000000", "cp_",
		strings.Repeat("x", 300), "😀", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "-1h", "git:abcd", "good", "🔒\u202e")
}

// value makes one of a schema.
func (c *Dice) value(op, field string, s Schema, deep int) any {
	if s.Ref != "" {
		return c.value(op, field, c.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]], deep)
	}
	if len(s.Enum) > 0 && c.Chance(90) {
		return s.Enum[c.IntN(len(s.Enum))]
	}
	kind, _ := s.Type.(string)
	if several, ok := s.Type.([]any); ok && len(several) > 0 {
		kind, _ = several[0].(string)
	}
	if c.Chance(3) {
		kind = c.OneOf("string", "integer", "boolean", "array", "object")
	}
	switch kind {
	case "integer", "number":
		return []int64{0, 1, 2, 5, -1, 1000, 1 << 40, int64(time.Second)}[c.IntN(8)]
	case "boolean":
		return c.Chance(50)
	case "array":
		return c.list(op, field, s, deep)
	case "object":
		return c.object(op, s, deep)
	}
	return c.text(op, field, s)
}

func (c *Dice) text(op, field string, s Schema) string {
	if c.Name != nil && c.Chance(85) {
		if v, ok := c.Name(op, field); ok {
			return v
		}
	}
	if s.Format == "date-time" && c.Chance(90) {
		return time.Unix(c.Int64N(4_000_000_000), 0).UTC().Format(time.RFC3339)
	}
	return c.odd()
}

func (c *Dice) list(op, field string, s Schema, deep int) any {
	out := []any{}
	item := Schema{Type: "string"}
	if s.Items != nil {
		item = *s.Items
	}
	for range c.IntN(3) {
		out = append(out, c.value(op, strings.TrimSuffix(field, "s"), item, deep+1))
	}
	return out
}

func (c *Dice) object(op string, s Schema, deep int) any {
	out := map[string]any{}
	for name, p := range s.Properties {
		wanted := false
		for _, r := range s.Required {
			wanted = wanted || r == name
		}
		if deep < 4 && !strings.HasSuffix(name, "_raw") && (wanted && c.Chance(97) || c.Chance(40)) {
			out[name] = c.value(op, name, p, deep+1)
		}
	}
	return out
}

// Request makes one for an operation.
func (c *Dice) Request(op Operation) Asked {
	q := Asked{Method: op.Method, Path: op.path, Header: map[string]string{}, Wait: 20 * time.Second}
	values := url.Values{}
	for _, p := range op.Params {
		switch {
		case p.In == "path":
			q.Path = strings.ReplaceAll(q.Path, "{"+p.Name+"}", url.PathEscape(c.text(op.ID, p.Name, Schema{})))
		case p.In == "query" && p.Name == "wait":
			values.Set("wait", "1ms")
		case p.In == "query" && p.Name == "limit":
			values.Set("limit", c.OneOf("1", "2", "50", "0", "-1", "100000", "x"))
		case p.In == "query" && (p.Required && c.Chance(95) || c.Chance(50)):
			values.Set(p.Name, c.text(op.ID, p.Name, Schema{}))
		}
	}
	if len(values) > 0 {
		q.Path += "?" + values.Encode()
	}
	if s, ok := c.Bodies[op.ID]; ok && op.ID != "import" {
		q.Body, _ = json.Marshal(c.value(op.ID, "", s, 0)) // it is made of what JSON has
	}
	c.disturb(&q)
	return q
}

// disturb makes something about some requests unusual.
func (c *Dice) disturb(q *Asked) {
	switch c.IntN(60) {
	case 0:
		q.Method = c.OneOf(http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodOptions, http.MethodTrace, "PROPFIND")
	case 1:
		q.Path = c.OneOf("/", "//v1", "/v1/../v1", "/v2", "/V1", "/v1/.", "/v1//") + strings.TrimPrefix(q.Path, "/v1")
	case 2:
		q.Header["X-HTTP-Method-Override"] = http.MethodDelete
	case 3:
		q.Header["Retake-Hop"] = "1"
	case 4:
		q.Header["X-Forwarded-For"], q.Header["X-Retake-Namespace"], q.Header["Host"] = "127.0.0.1", "beta", "localhost"
	case 5:
		q.Header["Content-Type"] = c.OneOf("text/plain", "application/xml", "application/cbor", "multipart/form-data")
	case 6:
		if len(q.Body) > 1 {
			q.Body = q.Body[:c.IntN(len(q.Body))]
		}
	case 7, 8:
		if q.Method == http.MethodPost {
			q.Header["Idempotency-Key"] = fmt.Sprintf("k%d", c.IntN(10))
		}
	}
}
