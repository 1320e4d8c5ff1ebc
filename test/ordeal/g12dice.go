//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// schema is the part of a JSON schema that requests are made from.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"` // a name, or several
	Format     string            `json:"format"`
	Enum       []any             `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
}

// dice make requests that a description allows, and some that it does not.
type dice struct {
	*rand.Rand
	d       *description
	schemas map[string]schema
	bodies  map[string]schema // by operation
	// name answers what may stand for a field or a parameter; false: nothing is known.
	name func(op, field string) (string, bool)
}

func newDice(seed uint64, d *description) (*dice, error) {
	c := &dice{Rand: rand.New(rand.NewPCG(seed, 12)), d: d, schemas: map[string]schema{}, bodies: map[string]schema{}}
	for name, raw := range d.schemas {
		var s schema
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		c.schemas[name] = s
	}
	for _, op := range d.ops {
		if op.body == nil {
			continue
		}
		var s schema
		if err := json.Unmarshal(op.body, &s); err != nil {
			return nil, fmt.Errorf("read body of %s: %w", op.id, err)
		}
		c.bodies[op.id] = s
	}
	return c, nil
}

func (c *dice) chance(percent int) bool { return c.IntN(100) < percent }

func (c *dice) oneOf(all ...string) string { return all[c.IntN(len(all))] }

// odd is text that nobody expects.
func (c *dice) odd() string {
	return c.oneOf("", "0", "-1", "1", "latest", "latest~1", "start", "..", "../..", "../../../etc", "/", "/etc/passwd", "a/b", "%2e%2e", "\x00", "\xff\xfe", "'; DROP TABLE checkpoint; --",
		`" OR 1=1 --`, "null", "hold:x", "*", "%", "_", "main", "alpha", "beta", "ws_00000000-0000-7000-8000-000000000000", "cp_00000000-0000-7000-8000-000000000000", "cp_",
		strings.Repeat("x", 300), "😀", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "-1h", "git:abcd", "good", "🔒\u202e")
}

// value makes one of a schema.
func (c *dice) value(op, field string, s schema, deep int) any {
	if s.Ref != "" {
		return c.value(op, field, c.schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]], deep)
	}
	if len(s.Enum) > 0 && c.chance(90) {
		return s.Enum[c.IntN(len(s.Enum))]
	}
	kind, _ := s.Type.(string)
	if several, ok := s.Type.([]any); ok && len(several) > 0 {
		kind, _ = several[0].(string)
	}
	if c.chance(3) {
		kind = c.oneOf("string", "integer", "boolean", "array", "object")
	}
	switch kind {
	case "integer", "number":
		return []int64{0, 1, 2, 5, -1, 1000, 1 << 40, int64(time.Second)}[c.IntN(8)]
	case "boolean":
		return c.chance(50)
	case "array":
		return c.list(op, field, s, deep)
	case "object":
		return c.object(op, s, deep)
	}
	return c.text(op, field, s)
}

func (c *dice) text(op, field string, s schema) string {
	if c.name != nil && c.chance(85) {
		if v, ok := c.name(op, field); ok {
			return v
		}
	}
	if s.Format == "date-time" && c.chance(90) {
		return time.Unix(c.Int64N(4_000_000_000), 0).UTC().Format(time.RFC3339)
	}
	return c.odd()
}

func (c *dice) list(op, field string, s schema, deep int) any {
	out := []any{}
	item := schema{Type: "string"}
	if s.Items != nil {
		item = *s.Items
	}
	for range c.IntN(3) {
		out = append(out, c.value(op, strings.TrimSuffix(field, "s"), item, deep+1))
	}
	return out
}

func (c *dice) object(op string, s schema, deep int) any {
	out := map[string]any{}
	for name, p := range s.Properties {
		wanted := false
		for _, r := range s.Required {
			wanted = wanted || r == name
		}
		if deep < 4 && !strings.HasSuffix(name, "_raw") && (wanted && c.chance(97) || c.chance(40)) {
			out[name] = c.value(op, name, p, deep+1)
		}
	}
	return out
}

// request makes one for an operation.
func (c *dice) request(op operation) asked {
	q := asked{method: op.method, path: op.path, header: map[string]string{}, wait: 20 * time.Second}
	values := url.Values{}
	for _, p := range op.params {
		switch {
		case p.In == "path":
			q.path = strings.ReplaceAll(q.path, "{"+p.Name+"}", url.PathEscape(c.text(op.id, p.Name, schema{})))
		case p.In == "query" && p.Name == "wait":
			values.Set("wait", "1ms")
		case p.In == "query" && p.Name == "limit":
			values.Set("limit", c.oneOf("1", "2", "50", "0", "-1", "100000", "x"))
		case p.In == "query" && (p.Required && c.chance(95) || c.chance(50)):
			values.Set(p.Name, c.text(op.id, p.Name, schema{}))
		}
	}
	if len(values) > 0 {
		q.path += "?" + values.Encode()
	}
	if s, ok := c.bodies[op.id]; ok && op.id != "import" {
		q.body, _ = json.Marshal(c.value(op.id, "", s, 0)) // it is made of what JSON has
	}
	c.disturb(&q)
	return q
}

// disturb makes something about some requests unusual.
func (c *dice) disturb(q *asked) {
	switch c.IntN(60) {
	case 0:
		q.method = c.oneOf(http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodOptions, http.MethodTrace, "PROPFIND")
	case 1:
		q.path = c.oneOf("/", "//v1", "/v1/../v1", "/v2", "/V1", "/v1/.", "/v1//") + strings.TrimPrefix(q.path, "/v1")
	case 2:
		q.header["X-HTTP-Method-Override"] = http.MethodDelete
	case 3:
		q.header["Retake-Hop"] = "1"
	case 4:
		q.header["X-Forwarded-For"], q.header["X-Retake-Namespace"], q.header["Host"] = "127.0.0.1", "beta", "localhost"
	case 5:
		q.header["Content-Type"] = c.oneOf("text/plain", "application/xml", "application/cbor", "multipart/form-data")
	case 6:
		if len(q.body) > 1 {
			q.body = q.body[:c.IntN(len(q.body))]
		}
	case 7, 8:
		if q.method == http.MethodPost {
			q.header["Idempotency-Key"] = fmt.Sprintf("k%d", c.IntN(10))
		}
	}
}
