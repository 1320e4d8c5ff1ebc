//go:build linux

package matrix

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// operation is one of the API description, with every field that takes text.
type operation struct {
	serverbed.Operation
	template string
	fields   []field
}

// field is a place in a request that takes text, and so may name something.
type field struct {
	in   string   // path, query or body
	name string   // the last part of at
	at   []string // from the outside: more than one in a nested body
	list bool     // it takes several
}

func (f field) String() string { return f.in + " " + strings.Join(f.at, ".") }

// spec is what the running server says about its API.
type spec struct {
	ops     []*operation
	text    string // as it was sent: the ids in its examples belong to nobody
	schemas map[string]serverbed.Schema
}

// document is the part of the description that serverbed does not hand out.
type document struct {
	Paths map[string]map[string]struct {
		ID     string `json:"operationId"`
		Params []struct {
			Name   string           `json:"name"`
			In     string           `json:"in"`
			Schema serverbed.Schema `json:"schema"`
		} `json:"parameters"`
	} `json:"paths"`
}

func readSpec(h *serverbed.Hall, key string) (*spec, error) {
	d, err := h.Describe(key)
	if err != nil {
		return nil, err
	}
	if len(d.Silent) > 0 {
		return nil, fmt.Errorf("operations without x-power: %v", d.Silent)
	}
	a := h.Ask(serverbed.Asked{Key: key, Method: http.MethodGet, Path: serverbed.DescribedAt})
	var doc document
	if err := json.Unmarshal(a.Body, &doc); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	dice, err := serverbed.NewDice(1, d)
	if err != nil {
		return nil, err
	}
	s := &spec{text: string(a.Body), schemas: dice.Schemas}
	known := map[string]serverbed.Operation{}
	for _, op := range d.Ops {
		known[op.ID] = op
	}
	s.ops = append(s.ops, &operation{Operation: known["openapi"], template: serverbed.DescribedAt})
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			o := doc.Paths[path][method]
			op := &operation{Operation: known[o.ID], template: path}
			for _, p := range o.Params {
				if p.In != "header" && takesText(p.Schema) {
					op.fields = append(op.fields, field{in: p.In, name: p.Name, at: []string{p.Name}, list: p.Schema.Items != nil})
				}
			}
			if body, ok := dice.Bodies[o.ID]; ok {
				op.fields = append(op.fields, s.bodyFields(body, nil, false)...)
			}
			s.ops = append(s.ops, op)
		}
	}
	s.addExtras()
	return s, nil
}

// bodyFields lists the fields of a body that take text, also those of objects in it.
func (s *spec) bodyFields(sc serverbed.Schema, at []string, list bool) []field {
	sc = s.resolve(sc)
	var out []field
	for _, name := range slices.Sorted(maps.Keys(sc.Properties)) {
		p := s.resolve(sc.Properties[name])
		here := append(slices.Clone(at), name)
		switch {
		case takesText(p):
			out = append(out, field{in: "body", name: name, at: here, list: p.Items != nil || list})
		case p.Items != nil && len(at) == 0:
			out = append(out, s.bodyFields(*p.Items, here, true)...)
		case len(p.Properties) > 0 && len(at) == 0:
			out = append(out, s.bodyFields(p, here, false)...)
		}
	}
	return out
}

func (s *spec) resolve(sc serverbed.Schema) serverbed.Schema {
	for sc.Ref != "" {
		sc = s.schemas[sc.Ref[strings.LastIndexByte(sc.Ref, '/')+1:]]
	}
	return sc
}

// takesText says whether a value is text or a list of texts.
func takesText(sc serverbed.Schema) bool {
	if sc.Items != nil {
		return takesText(*sc.Items)
	}
	kinds, _ := sc.Type.([]any)
	return sc.Type == "string" || slices.Contains(kinds, any("string"))
}

// powers is the table of roles in docs/API.md. It is read from the document and not from the
// program, so that the program can't agree with itself.
type powers map[retake.KeyKind]map[retake.Power]bool

func readPowers(file string) (powers, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var head []string
	out := powers{}
	for _, m := range soleForm.FindAllStringSubmatch(string(b), -1) {
		out[retake.KeyKind(m[1])] = map[retake.Power]bool{retake.PowerNone: true, retake.Power(m[2]): true}
	}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case cells[0] == "role":
			head = cells
		case head != nil && len(cells) != len(head):
			return out, out.check()
		case head != nil && !strings.HasPrefix(cells[0], "-"):
			role := retake.KeyKind(cells[0])
			out[role] = map[retake.Power]bool{retake.PowerNone: true}
			for i := 2; i < len(cells); i++ {
				out[role][retake.Power(head[i])] = cells[i] == "yes"
			}
		}
	}
	return out, out.check()
}

// soleForm finds roles that a sentence describes: they have one permission each.
var soleForm = regexp.MustCompile("role, `(\\w+)`, has only the permission `(\\w+)`")

// check refuses a table that was not understood: with it every refusal would look right.
func (p powers) check() error {
	for _, role := range retake.KeyKinds {
		if len(p[role]) < 8 || !p[role][retake.PowerSee] {
			return fmt.Errorf("read the table of roles: %s has %v", role, p[role])
		}
	}
	if !p[retake.KeyProvisioner][retake.PowerProvision] {
		return fmt.Errorf("read the table of roles: %s has %v", retake.KeyProvisioner, p[retake.KeyProvisioner])
	}
	return nil
}
