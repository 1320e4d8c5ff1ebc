package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"
)

// hook is one entry that we want in the settings of an agent.
type hook struct {
	event    string
	value    object // the entry of the event's list
	optional bool   // stays when it is there, comes when it is asked for
}

// write writes the entry on one line.
func (h hook) write(s style) string {
	s.lines = false
	return s.write(h.value, "")
}

// settings is the driver of agents that read hooks from a JSON file.
type settings struct {
	file    func(site) (place, error)
	hooks   func(program string) []hook
	ours    func(handler *hujson.Value) bool // is this command ours
	flat    bool                             // an event lists commands, not groups of commands
	version bool                             // a file begins with the number of its form
	notes   func(site) []string
}

// entry is one entry of ours that was found.
type entry struct {
	event string
	chain []link
	value *hujson.Value
	whole bool // it is all ours; else our command stands among others
}

var errShape = errors.New("the hooks are not in the form that the agent reads")

// list is the path to the object of events: the member "hooks", or the root.
type list []string

var wrapped = list{"hooks"}

func (s settings) status(at site) Status {
	pl, err := s.file(at)
	if err != nil {
		return at.unknown(pl.file, err)
	}
	before, _, err := pl.read()
	if err != nil {
		return at.unknown(pl.file, err)
	}
	d, err := parse(before)
	if err != nil {
		return at.unknown(pl.file, err)
	}
	found, err := s.entries(d, pl.list)
	if err != nil {
		return at.unknown(pl.file, err)
	}
	c := Current
	missing, extra := s.compare(d, found, s.hooks(at.program()), false)
	switch {
	case len(found) == 0:
		c = Absent
	case len(missing)+len(extra) > 0:
		c = Outdated
	}
	return at.found(pl.file, c, len(found), s.detail(d, len(found)))
}

// detail tells what keeps hooks from running though they are there.
func (s settings) detail(d *doc, n int) string {
	if n == 0 || d.root == nil {
		return ""
	}
	if v, _ := find(d.root, "disableAllHooks"); v != nil && v.Value.Kind() == 't' {
		return "the same file turns all hooks off: disableAllHooks"
	}
	return ""
}

// entries finds ours, in the order of the file.
func (s settings) entries(d *doc, at list) ([]entry, error) {
	if d.root == nil {
		return nil, nil
	}
	events, chain, err := at.walk(d.root)
	if events == nil || err != nil {
		return nil, err
	}
	var found []entry
	for i := range events.Value.(*hujson.Object).Members {
		m := &events.Value.(*hujson.Object).Members[i]
		arr, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for j := range arr.Elements {
			up := slices.Concat(chain, []link{{events, i}, {&m.Value, j}})
			found = append(found, s.within(keyOf(*m), up, &arr.Elements[j])...)
		}
	}
	return found, nil
}

// within finds ours in one entry of an event.
func (s settings) within(event string, chain []link, v *hujson.Value) []entry {
	if s.flat {
		if s.ours(v) {
			return []entry{{event, chain, v, true}}
		}
		return nil
	}
	handlers, i := find(v, "hooks")
	if handlers == nil {
		return nil
	}
	arr, ok := handlers.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	var some []entry
	for j := range arr.Elements {
		if h := &arr.Elements[j]; s.ours(h) {
			some = append(some, entry{event, slices.Concat(chain, []link{{v, i}, {handlers, j}}), h, false})
		}
	}
	if len(some) > 0 && len(some) == len(arr.Elements) {
		return []entry{{event, chain, v, true}}
	}
	return some
}

// walk gives the object of events, nil when it is not there, and the way to it.
func (l list) walk(root *hujson.Value) (*hujson.Value, []link, error) {
	v, chain := root, []link(nil)
	for _, key := range l {
		in, i := find(v, key)
		if in == nil {
			return nil, nil, nil
		}
		v, chain = in, append(chain, link{v, i})
		if v.Value.Kind() != '{' {
			return nil, nil, fmt.Errorf("%w: %s is no object", errShape, key)
		}
	}
	return v, chain, nil
}

// compare tells which hooks are missing, and which entries are of an older set. A
// hook that takes the place of an older entry is missing too.
func (s settings) compare(d *doc, found []entry, want []hook, all bool) (missing []hook, extra []entry) {
	done := make([]bool, len(found))
	for _, h := range want {
		at := slices.IndexFunc(found, func(e entry) bool { return e.event == h.event })
		switch {
		case at < 0 && (all || !h.optional):
			missing = append(missing, h)
		case at >= 0 && s.same(d, found[at], h):
			done[at] = true
		case at >= 0:
			missing = append(missing, h)
		}
	}
	for i, e := range found {
		if !done[i] {
			extra = append(extra, e)
		}
	}
	return missing, extra
}

// same reports whether an entry says what it should. One that a user put among
// their own commands keeps the matcher of the user.
func (s settings) same(d *doc, e entry, h hook) bool {
	var want any = h.value
	if !e.whole {
		want = h.value[len(h.value)-1].value.([]any)[0]
	}
	is, should := d.text[e.value.StartOffset:e.value.EndOffset], []byte(style{}.write(want, ""))
	return bytes.Equal(is, should) || reflect.DeepEqual(decoded(is), decoded(should))
}

func decoded(text []byte) (v any) {
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil || json.Unmarshal(plain, &v) != nil {
		return errShape // like nothing that decodes
	}
	return v
}
