//go:build linux

// Package contract holds the API description against a real server: every example that it has is
// sent, and every error that it lists is caused. What comes back must have the listed status, and
// a body that fits the schema.
//
// The server runs in this process and is asked over HTTP. The schemas are those that it serves,
// closed: a field that the description does not name is an error, too.
package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// document is the part of the description that is held against the server.
type document struct {
	Paths      map[string]map[string]*operation
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]response
		Examples  map[string]example
	}
}

type operation struct {
	serverbed.Operation
	OperationID string
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]response
	path        string
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]media
	Headers map[string]json.RawMessage
}

type media struct {
	Schema   json.RawMessage
	Example  any
	Examples map[string]example
}

type example struct {
	Ref           string `json:"$ref"`
	Value         any
	ExternalValue string
}

const jsonType = "application/json"

// readDocument reads what a server says about its API.
func readDocument(h *serverbed.Hall, key string) (*document, error) {
	a := h.Ask(serverbed.Asked{Key: key, Method: http.MethodGet, Path: serverbed.DescribedAt})
	d := &document{}
	if err := json.Unmarshal(a.Body, d); err != nil || !a.Good() {
		return nil, fmt.Errorf("read the description: %s: %w", a.Say(), err)
	}
	ops, err := h.Describe(key)
	if err != nil {
		return nil, err
	}
	made := map[string]serverbed.Operation{}
	for _, op := range ops.Ops {
		made[op.ID] = op
	}
	for path, methods := range d.Paths {
		for _, o := range methods {
			o.Operation, o.path = made[o.OperationID], path
		}
	}
	return d, nil
}

// operations returns all of them: those that read, those that write, and last those that take away
// what others need.
func (d *document) operations() []*operation {
	var out []*operation
	for _, methods := range d.Paths {
		out = slices.AppendSeq(out, maps.Values(methods))
	}
	rank := func(o *operation) string {
		last := slices.Index([]string{"request-deletion", "drop-snapshot", "forget", "purge", "erase"}, o.OperationID) + 1
		return fmt.Sprintf("%d %t %s", last, o.Method != http.MethodGet, o.OperationID)
	}
	slices.SortFunc(out, func(a, b *operation) int { return strings.Compare(rank(a), rank(b)) })
	return out
}

// examples returns the examples of a body: values, and addresses of files.
func (d *document) examples(m media) []example {
	var out []example
	if m.Example != nil {
		out = append(out, example{Value: m.Example})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
		e := m.Examples[name]
		if e.Ref != "" {
			e = d.Components.Examples[last(e.Ref)]
		}
		out = append(out, e)
	}
	return out
}

// response returns what an operation lists for a status. Errors have to be listed one by one: the
// default response is for the others.
func (d *document) response(o *operation, status int) (response, bool) {
	r, ok := o.Responses[fmt.Sprint(status)]
	if r.Ref != "" {
		r, ok = d.Components.Responses[last(r.Ref)]
	}
	return r, ok
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// checker returns a function that checks a value against a schema of the description.
func (d *document) checker() (func(schema json.RawMessage, value any) error, error) {
	defs := map[string]json.RawMessage{}
	for name, raw := range d.Components.Schemas {
		var s map[string]any
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		if s["properties"] != nil {
			s["additionalProperties"] = false
		}
		defs[name], _ = json.Marshal(s) // it was JSON
	}
	known := map[string]*jsonschema.Resolved{}
	return func(schema json.RawMessage, value any) error {
		r := known[string(schema)]
		if r == nil {
			root, err := json.Marshal(map[string]any{"allOf": []any{schema}, "$defs": defs})
			if err != nil {
				return err
			}
			var s jsonschema.Schema
			if err := json.Unmarshal([]byte(strings.ReplaceAll(string(root), "#/components/schemas/", "#/$defs/")), &s); err != nil {
				return err
			}
			if r, err = s.Resolve(nil); err != nil {
				return err
			}
			known[string(schema)] = r
		}
		return r.Validate(value)
	}, nil
}
