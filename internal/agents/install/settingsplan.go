package install

import (
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/tailscale/hujson"
)

func (s settings) install(at site, o Options) (Change, error) {
	pl, err := s.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.change(pl)
	if err != nil {
		return Change{}, err
	}
	want := s.hooks(at.program())
	after, err := s.put(c.Before, pl.list, want, o.Worktree, &c)
	if err != nil {
		return Change{}, refuse(pl.file, err)
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

// put makes the text that holds every hook once.
func (s settings) put(text []byte, at list, want []hook, all bool, c *Change) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	if d.root == nil {
		return s.fresh(d, at, want, all, c), nil
	}
	found, err := s.entries(d, at)
	if err != nil {
		return nil, err
	}
	missing, extra := s.compare(d, found, want, all)
	c.Added, c.Removed = len(missing), len(extra)
	written := d.style // as it was, not as it looks with the first of ours in it
	for steps := 2 * (len(want) + len(found)); len(missing) > 0 || len(extra) > 0; steps-- {
		if steps == 0 {
			return nil, errShape // it does not come to an end
		}
		if text, err = s.step(d, at, missing, extra); err != nil {
			return nil, err
		}
		if d, err = parse(text); err != nil {
			return nil, fmt.Errorf("read what was made: %w", err)
		}
		d.style = written
		if found, err = s.entries(d, at); err != nil {
			return nil, err
		}
		missing, extra = s.compare(d, found, want, all)
	}
	return text, nil
}

// step does one thing on the way: an older entry is replaced where it stands, one
// that is missing comes, and only then what has no place in the set goes, so that
// the containers stay.
func (s settings) step(d *doc, at list, missing []hook, extra []entry) ([]byte, error) {
	if len(missing) == 0 {
		return d.strip(extra[len(extra)-1].chain), nil
	}
	h := missing[0]
	i := slices.IndexFunc(extra, func(e entry) bool { return e.event == h.event })
	switch {
	case i < 0:
		return s.insert(d, at, h)
	case extra[i].whole:
		return d.replace(extra[i].value, h.write(d.style)), nil
	}
	return d.strip(extra[i].chain), nil
}

// fresh is the text of a file that held nothing.
func (s settings) fresh(d *doc, at list, want []hook, all bool, c *Change) []byte {
	var events object
	for _, h := range want {
		if all || !h.optional {
			events = append(events, member{h.event, []any{h.value}})
			c.Added++
		}
	}
	root := events
	for _, key := range slices.Backward(at) {
		root = object{{key, root}}
	}
	if s.version {
		// After the hooks: so it is known again from one that was there before.
		root = append(root, member{"version", 1})
	}
	return slices.Concat(d.mark, d.text, []byte(d.style.write(root, "")))
}

// insert adds one hook, and the containers for it that are not there.
func (s settings) insert(d *doc, at list, h hook) ([]byte, error) {
	in, path := d.root, slices.Concat(at, list{h.event})
	for i, key := range path {
		next, _ := find(in, key)
		if next == nil {
			m := member{key, made(path[i+1:], h.value)}
			text := d.add(in, func(st style, indent string) string { return st.member(m, indent) })
			if s.version && in == d.root && len(d.root.Value.(*hujson.Object).Members) == 0 {
				return addVersion(text)
			}
			return text, nil
		}
		in = next
	}
	if in.Value.Kind() != '[' {
		return nil, fmt.Errorf("%w: %s is no list", errShape, h.event)
	}
	return d.add(in, func(st style, _ string) string { return h.write(st) }), nil
}

// made is an entry inside the containers that are named.
func made(path []string, v object) any {
	var out any = []any{v}
	for _, key := range slices.Backward(path) {
		out = object{{key, out}}
	}
	return out
}

func addVersion(text []byte) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	return d.add(d.root, func(st style, indent string) string { return st.member(member{"version", 1}, indent) }), nil
}

func (s settings) remove(at site) (Change, error) {
	pl, err := s.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.change(pl)
	if err != nil {
		return Change{}, err
	}
	text := c.Before
	for {
		d, err := parse(text)
		if err != nil {
			return Change{}, refuse(pl.file, err)
		}
		found, err := s.entries(d, pl.list)
		if err != nil {
			return Change{}, refuse(pl.file, err)
		}
		if len(found) == 0 {
			c.After = text
			return c, nil
		}
		c.Removed = max(c.Removed, len(found))
		// The last one first: the first one tells what was there before.
		if text = s.take(d, pl.list, found[len(found)-1]); text == nil {
			c.After = nil
			return c, nil
		}
	}
}

// take takes one entry away. The number of the form goes with the last of ours
// when it came with the first.
func (s settings) take(d *doc, at list, e entry) []byte {
	text := d.strip(e.chain)
	if !s.version || !slices.Equal(keys(text), []string{"version"}) || !slices.Equal(keys(d.text), []string{"hooks", "version"}) {
		return text
	}
	if v, _ := find(d.root, "version"); !isOne(v) {
		return text
	}
	bare, err := parse(d.apply(d.cut(spread(d.root), 1)...))
	if err != nil {
		return text
	}
	found, err := s.entries(bare, at)
	if err != nil || len(found) != 1 {
		return text
	}
	return bare.strip(found[0].chain)
}

func isOne(v *hujson.Value) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && string(l) == "1"
}

// keys are the members of the root.
func keys(text []byte) (out []string) {
	d, err := parse(text)
	if err != nil || d.root == nil {
		return nil
	}
	for _, m := range d.root.Value.(*hujson.Object).Members {
		out = append(out, keyOf(m))
	}
	return out
}

// strip is drop, and what is left of the file when the root goes: nil when we made
// the file, which ends with a line; else the white space that it was, or the
// comments that somebody wrote around.
func (d *doc) strip(chain []link) []byte {
	text, gone := d.drop(chain)
	switch {
	case !gone:
		return text
	case slices.Contains(d.root.BeforeExtra, '/') || slices.Contains(d.root.AfterExtra, '/'):
		return d.apply(patch{at: d.root.StartOffset + 1, cut: d.root.EndOffset - d.root.StartOffset - 2})
	case len(d.root.AfterExtra) > 0:
		return nil
	}
	return append(append([]byte{}, d.mark...), d.text[:d.root.StartOffset]...)
}

func refuse(file string, err error) error {
	return &retake.Error{
		Kind: retake.Denied, What: file + " cannot be understood", Safe: unchanged,
		Hint: "repair the file, then try again", Err: err,
	}
}
