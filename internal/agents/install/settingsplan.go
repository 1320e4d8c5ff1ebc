package install

import (
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/tailscale/hujson"
)

func (s settingsDriver) install(at agentSite, o Options) (Change, error) {
	pl, err := s.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.newChange(pl)
	if err != nil {
		return Change{}, err
	}
	want := s.hooks(at.program())
	after, err := s.putHooks(c.Before, pl.events, want, o.Worktree, &c)
	if err != nil {
		return Change{}, unreadableError(pl.path, err)
	}
	c.After = after
	if !c.Existed {
		c.After = append(c.After, '\n')
	}
	if s.notes != nil && !c.Empty() {
		c.Notes = s.notes(at)
	}
	return c, nil
}

// putHooks makes the text that holds every hook once.
func (s settingsDriver) putHooks(text []byte, at eventPath, want []hookEntry, all bool, c *Change) ([]byte, error) {
	d, err := parseDoc(text)
	if err != nil {
		return nil, err
	}
	if d.root == nil {
		return s.newFileText(d, at, want, all, c), nil
	}
	found, err := s.findEntries(d, at)
	if err != nil {
		return nil, err
	}
	missing, extra := s.compareHooks(d, found, want, all)
	c.Added, c.Removed = len(missing), len(extra)
	written := d.style // as it was, not as it looks with the first of ours in it
	for steps := 2 * (len(want) + len(found)); len(missing) > 0 || len(extra) > 0; steps-- {
		if steps == 0 {
			return nil, errUnknownForm // it does not come to an end
		}
		if text, err = s.applyStep(d, at, missing, extra); err != nil {
			return nil, err
		}
		if d, err = parseDoc(text); err != nil {
			return nil, fmt.Errorf("read what was made: %w", err)
		}
		d.style = written
		if found, err = s.findEntries(d, at); err != nil {
			return nil, err
		}
		missing, extra = s.compareHooks(d, found, want, all)
	}
	return text, nil
}

// applyStep does one thing on the way: an older entry is replaced where it stands, one
// that is missing comes, and only then what has no place in the set goes, so that
// the containers stay.
func (s settingsDriver) applyStep(d *jsonDoc, at eventPath, missing []hookEntry, extra []foundEntry) ([]byte, error) {
	if len(missing) == 0 {
		return d.removeEntry(extra[len(extra)-1].chain), nil
	}
	h := missing[0]
	i := slices.IndexFunc(extra, func(e foundEntry) bool { return e.event == h.event })
	switch {
	case i < 0:
		return s.insertHook(d, at, h)
	case extra[i].onlyOurs:
		return d.replaceValue(extra[i].value, h.format(d.style)), nil
	}
	return d.removeEntry(extra[i].chain), nil
}

// newFileText is the text of a file that held nothing.
func (s settingsDriver) newFileText(d *jsonDoc, at eventPath, want []hookEntry, all bool, c *Change) []byte {
	var events jsonObject
	for _, h := range want {
		if all || !h.optional {
			events = append(events, jsonMember{h.event, []any{h.value}})
			c.Added++
		}
	}
	root := events
	for _, key := range slices.Backward(at) {
		root = jsonObject{{key, root}}
	}
	if s.hasVersion {
		// After the hooks: so it is known again from one that was there before.
		root = append(root, jsonMember{"version", 1})
	}
	return slices.Concat(d.byteOrderMark, d.text, []byte(d.style.format(root, "")))
}

// insertHook adds one hook, and the containers for it that are not there.
func (s settingsDriver) insertHook(d *jsonDoc, at eventPath, h hookEntry) ([]byte, error) {
	in, path := d.root, slices.Concat(at, eventPath{h.event})
	for i, key := range path {
		next, _ := findMember(in, key)
		if next == nil {
			m := jsonMember{key, wrapInContainers(path[i+1:], h.value)}
			text := d.appendItem(in, func(st jsonStyle, indent string) string { return st.formatMember(m, indent) })
			if s.hasVersion && in == d.root && len(d.root.Value.(*hujson.Object).Members) == 0 {
				return addVersion(text)
			}
			return text, nil
		}
		in = next
	}
	if in.Value.Kind() != '[' {
		return nil, fmt.Errorf("%w: %s is no list", errUnknownForm, h.event)
	}
	return d.appendItem(in, func(st jsonStyle, _ string) string { return h.format(st) }), nil
}

// wrapInContainers is an entry inside the containers that are named.
func wrapInContainers(path []string, v jsonObject) any {
	var out any = []any{v}
	for _, key := range slices.Backward(path) {
		out = jsonObject{{key, out}}
	}
	return out
}

func addVersion(text []byte) ([]byte, error) {
	d, err := parseDoc(text)
	if err != nil {
		return nil, err
	}
	return d.appendItem(d.root, func(st jsonStyle, indent string) string { return st.formatMember(jsonMember{"version", 1}, indent) }), nil
}

func (s settingsDriver) remove(at agentSite) (Change, error) {
	pl, err := s.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.newChange(pl)
	if err != nil {
		return Change{}, err
	}
	text := c.Before
	for {
		d, err := parseDoc(text)
		if err != nil {
			return Change{}, unreadableError(pl.path, err)
		}
		found, err := s.findEntries(d, pl.events)
		if err != nil {
			return Change{}, unreadableError(pl.path, err)
		}
		if len(found) == 0 {
			c.After = text
			return c, nil
		}
		c.Removed = max(c.Removed, len(found))
		// The last one first: the first one tells what was there before.
		if text = s.removeHook(d, pl.events, found[len(found)-1]); text == nil {
			c.After = nil
			return c, nil
		}
	}
}

// removeHook takes one entry away. The number of the form goes with the last of ours
// when it came with the first.
func (s settingsDriver) removeHook(d *jsonDoc, at eventPath, e foundEntry) []byte {
	text := d.removeEntry(e.chain)
	if !s.hasVersion || !slices.Equal(rootKeys(text), []string{"version"}) || !slices.Equal(rootKeys(d.text), []string{"hooks", "version"}) {
		return text
	}
	if v, _ := findMember(d.root, "version"); !isNumberOne(v) {
		return text
	}
	bare, err := parseDoc(d.applyPatches(d.cutItem(newContainerSpan(d.root), 1)...))
	if err != nil {
		return text
	}
	found, err := s.findEntries(bare, at)
	if err != nil || len(found) != 1 {
		return text
	}
	return bare.removeEntry(found[0].chain)
}

func isNumberOne(v *hujson.Value) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && string(l) == "1"
}

// rootKeys are the members of the root.
func rootKeys(text []byte) (out []string) {
	d, err := parseDoc(text)
	if err != nil || d.root == nil {
		return nil
	}
	for _, m := range d.root.Value.(*hujson.Object).Members {
		out = append(out, memberKey(m))
	}
	return out
}

// removeEntry is drop, and what is left of the file when the root goes: nil when we made
// the file, which ends with a line; else the white space that it was, or the
// comments that somebody wrote around.
func (d *jsonDoc) removeEntry(chain []pathStep) []byte {
	text, gone := d.removeItem(chain)
	switch {
	case !gone:
		return text
	case slices.Contains(d.root.BeforeExtra, '/') || slices.Contains(d.root.AfterExtra, '/'):
		return d.applyPatches(textPatch{at: d.root.StartOffset + 1, remove: d.root.EndOffset - d.root.StartOffset - 2})
	case len(d.root.AfterExtra) > 0:
		return nil
	}
	return append(append([]byte{}, d.byteOrderMark...), d.text[:d.root.StartOffset]...)
}

func unreadableError(file string, err error) error {
	return &retake.Error{
		Kind: retake.Denied, What: file + " cannot be understood", Safe: nothingChanged,
		Hint: "repair the file, then try again", Err: err,
	}
}
