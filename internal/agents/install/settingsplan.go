package install

import (
	"fmt"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/retake-dev/retake"
)

// install plans to add every hook once, and to replace older entries.
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

// putHooks returns the text that has every hook once. It changes one entry at a time and
// parses the result again, until nothing is missing.
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
	written := d.style // of the original file, without our first entry
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

// applyStep makes one change: an older entry is replaced in place, a missing one is added,
// and only then superfluous ones are removed, so that the containers stay.
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

// newFileText returns the text of a file that was empty.
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

// insertHook adds one hook, and the containers that are missing for it.
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

// wrapInContainers returns an entry inside the named containers.
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

// remove plans the removal of all our entries, the last one first.
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
		// The last one first: the form of the first one shows what was there before.
		if text = s.removeHook(d, pl.events, found[len(found)-1]); text == nil {
			c.After = nil
			return c, nil
		}
	}
}

// removeHook removes one entry. The version member is removed with the last of our entries
// if it was added with the first.
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

// rootKeys returns the keys of the root object.
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

// removeEntry removes an item, and handles a root that becomes empty: it returns nil if we
// created the file, which then ends with a newline; else the white space that was there
// before, or an empty object between comments that somebody wrote.
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

// unreadableError says that a file is not understood and was left unchanged.
func unreadableError(file string, err error) error {
	return &retake.Error{
		Kind: retake.Denied, What: file + " cannot be understood", Safe: nothingChanged,
		Hint: "repair the file, then try again", Err: err,
	}
}
