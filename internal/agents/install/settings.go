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

// hookEntry is one entry that we want in the settings of an agent.
type hookEntry struct {
	event    string
	value    jsonObject // the entry of the event's list
	optional bool       // stays when it is there, comes when it is asked for
}

// format returns the entry on one line.
func (h hookEntry) format(s jsonStyle) string {
	s.multiline = false
	return s.format(h.value, "")
}

// settingsDriver is the driver of agents that read hooks from a JSON file.
type settingsDriver struct {
	file       func(agentSite) (settingsFile, error)
	hooks      func(program string) []hookEntry
	isOurs     func(handler *hujson.Value) bool // is this command ours
	flatEvents bool                             // an event lists commands, not groups of commands
	hasVersion bool                             // a file begins with the number of its form
	notes      func(agentSite) []string
}

// foundEntry is one entry of ours that was found in a file.
type foundEntry struct {
	event    string
	chain    []pathStep
	value    *hujson.Value
	onlyOurs bool // else our command is among others
}

var errUnknownForm = errors.New("the hooks are not in the form that the agent reads")

// eventPath is the path to the object of events: the member "hooks", or the root.
type eventPath []string

var hooksPath = eventPath{"hooks"}

// status compares our entries in the file with those we would write.
func (s settingsDriver) status(at agentSite) Status {
	pl, err := s.file(at)
	if err != nil {
		return at.unknownStatus(pl.path, err)
	}
	before, _, err := pl.read()
	if err != nil {
		return at.unknownStatus(pl.path, err)
	}
	d, err := parseDoc(before)
	if err != nil {
		return at.unknownStatus(pl.path, err)
	}
	found, err := s.findEntries(d, pl.events)
	if err != nil {
		return at.unknownStatus(pl.path, err)
	}
	c := Current
	missing, extra := s.compareHooks(d, found, s.hooks(at.program()), false)
	switch {
	case len(found) == 0:
		c = Absent
	case len(missing)+len(extra) > 0:
		c = Outdated
	}
	return at.newStatus(pl.path, c, len(found), s.disabledDetail(d, len(found)))
}

// disabledDetail says what keeps installed hooks from running, or "".
func (s settingsDriver) disabledDetail(d *jsonDoc, n int) string {
	if n == 0 || d.root == nil {
		return ""
	}
	if v, _ := findMember(d.root, "disableAllHooks"); v != nil && v.Value.Kind() == 't' {
		return "the same file turns all hooks off: disableAllHooks"
	}
	return ""
}

// findEntries returns our entries, in the order of the file.
func (s settingsDriver) findEntries(d *jsonDoc, at eventPath) ([]foundEntry, error) {
	if d.root == nil {
		return nil, nil
	}
	events, chain, err := at.resolve(d.root)
	if events == nil || err != nil {
		return nil, err
	}
	var found []foundEntry
	for i := range events.Value.(*hujson.Object).Members {
		m := &events.Value.(*hujson.Object).Members[i]
		arr, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for j := range arr.Elements {
			up := slices.Concat(chain, []pathStep{{events, i}, {&m.Value, j}})
			found = append(found, s.findInEvent(memberKey(*m), up, &arr.Elements[j])...)
		}
	}
	return found, nil
}

// findInEvent returns our entries in one element of an event's list.
func (s settingsDriver) findInEvent(event string, chain []pathStep, v *hujson.Value) []foundEntry {
	if s.flatEvents {
		if s.isOurs(v) {
			return []foundEntry{{event, chain, v, true}}
		}
		return nil
	}
	handlers, i := findMember(v, "hooks")
	if handlers == nil {
		return nil
	}
	arr, ok := handlers.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	var some []foundEntry
	for j := range arr.Elements {
		if h := &arr.Elements[j]; s.isOurs(h) {
			some = append(some, foundEntry{event, slices.Concat(chain, []pathStep{{v, i}, {handlers, j}}), h, false})
		}
	}
	if len(some) > 0 && len(some) == len(arr.Elements) {
		return []foundEntry{{event, chain, v, true}}
	}
	return some
}

// resolve returns the object of events, or nil if it does not exist, and the steps to it.
func (l eventPath) resolve(root *hujson.Value) (*hujson.Value, []pathStep, error) {
	v, chain := root, []pathStep(nil)
	for _, key := range l {
		in, i := findMember(v, key)
		if in == nil {
			return nil, nil, nil
		}
		v, chain = in, append(chain, pathStep{v, i})
		if v.Value.Kind() != '{' {
			return nil, nil, fmt.Errorf("%w: %s is no object", errUnknownForm, key)
		}
	}
	return v, chain, nil
}

// compareHooks returns which hooks are missing, and which entries belong to an older set. A
// hook that replaces an older entry counts as missing too.
func (s settingsDriver) compareHooks(d *jsonDoc, found []foundEntry, want []hookEntry, all bool) (missing []hookEntry, extra []foundEntry) {
	done := make([]bool, len(found))
	for _, h := range want {
		at := slices.IndexFunc(found, func(e foundEntry) bool { return e.event == h.event })
		switch {
		case at < 0 && (all || !h.optional):
			missing = append(missing, h)
		case at >= 0 && s.isSame(d, found[at], h):
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

// isSame reports whether an entry has the wanted content. An entry that a user put among
// their own commands keeps the user's matcher.
func (s settingsDriver) isSame(d *jsonDoc, e foundEntry, h hookEntry) bool {
	var want any = h.value
	if !e.onlyOurs {
		want = h.value[len(h.value)-1].value.([]any)[0]
	}
	is, should := d.text[e.value.StartOffset:e.value.EndOffset], []byte(jsonStyle{}.format(want, ""))
	return bytes.Equal(is, should) || reflect.DeepEqual(decodeJSON(is), decodeJSON(should))
}

func decodeJSON(text []byte) (v any) {
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil || json.Unmarshal(plain, &v) != nil {
		return errUnknownForm // like nothing that decodes
	}
	return v
}
