package service

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// cleaned is a directory without what is purged.
type cleaned struct {
	entry retake.Entry
	gaps  []string // below it
	made  bool     // its bytes are written
}

// tree is a tree without what is purged, and the paths that are gone.
func (p *purging) tree(ctx context.Context, root retake.Entry) (retake.Entry, []string, error) {
	if p.match != nil {
		c, err := p.byContent(ctx, root)
		return c.entry, c.gaps, err
	}
	var gaps []string
	for _, name := range p.req.Paths {
		next, kind, err := p.byPath(ctx, root, strings.Split(name, "/"))
		if err != nil {
			return root, nil, err
		}
		switch kind {
		case "":
			continue
		case retake.KindDir:
			name += "/" // all below it
		default:
		}
		root, gaps = next, append(gaps, name)
	}
	return root, gaps, nil
}

// byPath drops one path, and answers what was there; "" is nothing.
func (p *purging) byPath(ctx context.Context, dir retake.Entry, names []string) (retake.Entry, retake.Kind, error) {
	entries, err := p.st.Dir(ctx, dir.Object)
	if err != nil {
		return dir, "", err
	}
	i := slices.IndexFunc(entries, func(e retake.Entry) bool { return e.Name == names[0] })
	if i < 0 || len(names) > 1 && entries[i].Kind != retake.KindDir {
		return dir, "", nil
	}
	was := entries[i].Kind
	if len(names) > 1 {
		next, below, err := p.byPath(ctx, entries[i], names[1:])
		if err != nil || below == "" {
			return dir, "", err
		}
		entries[i], was = next, below
	} else {
		if err := p.count(ctx, entries[i]); err != nil {
			return dir, "", err
		}
		entries = slices.Delete(entries, i, i+1)
	}
	dir, err = p.writeDir(ctx, dir, entries)
	return dir, was, err
}

// count notes the files that go with an entry.
func (p *purging) count(ctx context.Context, e retake.Entry) error {
	if e.Kind != retake.KindDir {
		if e.Object != "" {
			p.gone[e.Object] = e.Size
		}
		return nil
	}
	entries, err := p.st.Dir(ctx, e.Object)
	for i := range entries {
		if err == nil {
			err = p.count(ctx, entries[i])
		}
	}
	return err
}

// byContent drops every file that contains the content. A directory that was gone
// through once is the same everywhere.
func (p *purging) byContent(ctx context.Context, dir retake.Entry) (cleaned, error) {
	if c, ok := p.dirs[dir.Object]; ok && (c.made || p.w == nil || len(c.gaps) == 0) {
		e := dir
		e.Object, e.Sum = c.entry.Object, c.entry.Sum
		return cleaned{entry: e, gaps: c.gaps, made: c.made}, nil
	}
	entries, err := p.st.Dir(ctx, dir.Object)
	if err != nil {
		return cleaned{}, err
	}
	c := cleaned{entry: dir, made: p.w != nil}
	var left []retake.Entry
	for _, e := range entries {
		keep, gaps, err := p.entryByContent(ctx, &e)
		if err != nil {
			return c, err
		}
		c.gaps = append(c.gaps, gaps...)
		if keep {
			left = append(left, e)
		}
	}
	if len(c.gaps) > 0 {
		if c.entry, err = p.writeDir(ctx, dir, left); err != nil {
			return c, err
		}
	}
	p.dirs[dir.Object] = c
	return c, nil
}

// entryByContent decides about one entry; a directory is cleaned in place. A name that
// itself holds the content must not be told in a gap.
func (p *purging) entryByContent(ctx context.Context, e *retake.Entry) (keep bool, gaps []string, err error) {
	if p.match.in([]byte(e.Name)) || p.xattrs(e) {
		return false, []string{string(p.match.mask([]byte(e.Name)))}, p.count(ctx, *e)
	}
	if e.Kind == retake.KindDir {
		c, err := p.byContent(ctx, *e)
		for _, g := range c.gaps {
			gaps = append(gaps, path.Join(e.Name, strings.TrimSuffix(g, "/"))+ending(g))
		}
		*e = c.entry
		return true, gaps, err
	}
	holds, err := p.holds(ctx, *e)
	if holds {
		return false, []string{e.Name}, err
	}
	return true, nil, err
}

func ending(path string) string {
	if strings.HasSuffix(path, "/") {
		return "/"
	}
	return ""
}

func (p *purging) xattrs(e *retake.Entry) bool {
	if e.Extra == nil {
		return false
	}
	for _, v := range e.Extra.Xattrs {
		if p.match.in(v) {
			return true
		}
	}
	return false
}

// holds reports whether a stored file contains the content; each is read once.
func (p *purging) holds(ctx context.Context, e retake.Entry) (bool, error) {
	if e.Object == "" || e.Size < retake.MinPurgeContent {
		return false, nil
	}
	if known, ok := p.match.known[e.Object]; ok {
		if known {
			p.gone[e.Object] = e.Size
		}
		return known, nil
	}
	r, err := p.st.File(ctx, e.Object)
	if err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // only read
	holds, err := p.match.inside(r)
	if err != nil {
		return false, err
	}
	if p.match.known[e.Object] = holds; holds {
		p.gone[e.Object] = e.Size
	}
	if p.read++; p.req.Progress != nil {
		p.req.Progress(retake.Progress{Files: p.read})
	}
	return holds, ctx.Err()
}

func (p *purging) writeDir(ctx context.Context, dir retake.Entry, entries []retake.Entry) (retake.Entry, error) {
	if p.w == nil {
		return dir, nil
	}
	id, sum, err := p.w.WriteDir(ctx, entries, dir.ModTime)
	dir.Object, dir.Sum = id, sum
	return dir, err
}

// state is what an agent held, with the content masked. Addresses of parts that became
// others are replaced where they are named.
func (p *purging) state(ctx context.Context, entries []retake.Entry) ([]retake.Entry, bool, error) {
	if p.match == nil {
		return entries, false, nil
	}
	out, changed := slices.Clone(entries), false
	for pass := range 2 { // directories first: documents name what is in them
		for i, e := range out {
			if (e.Kind == retake.KindDir) != (pass == 0) {
				continue
			}
			next, other, err := p.stateEntry(ctx, e)
			if err != nil {
				return entries, false, err
			}
			out[i], changed = next, changed || other
		}
	}
	return out, changed, nil
}

func (p *purging) stateEntry(ctx context.Context, e retake.Entry) (retake.Entry, bool, error) {
	if next, ok := p.masked[e.Object]; ok && p.w != nil && next.Object != e.Object {
		next.Name = e.Name
		return next, true, nil
	}
	if e.Kind == retake.KindDir {
		entries, err := p.st.Dir(ctx, e.Object)
		if err != nil {
			return e, false, err
		}
		next, changed, err := p.state(ctx, entries)
		if err != nil || !changed {
			return e, false, err
		}
		e, err = p.writeDir(ctx, e, next)
		return e, true, err
	}
	r, err := p.st.File(ctx, e.Object)
	if err != nil {
		return e, false, err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, maxTalk))
	if err != nil {
		return e, false, err
	}
	text := p.match.mask(p.renamed(b))
	if bytes.Equal(text, b) {
		return e, false, nil
	}
	next := e
	if p.w != nil {
		if next.Object, next.Size, err = p.w.WriteFile(ctx, e.Name, bytes.NewReader(text)); err != nil {
			return e, false, err
		}
	}
	p.masked[e.Object] = next
	return next, true, nil
}

// renamed replaces the addresses of parts that were masked.
func (p *purging) renamed(b []byte) []byte {
	for old, e := range p.masked {
		if e.Object != old && bytes.Contains(b, []byte(old)) {
			b = bytes.ReplaceAll(b, []byte(old), []byte(e.Object))
		}
	}
	return b
}

// card is a card with the content masked.
func (p *purging) card(c retake.Card) (retake.Card, bool, error) {
	if p.match == nil {
		return c, false, nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return c, false, err
	}
	text := p.match.mask(b)
	if bytes.Equal(text, b) {
		return c, false, nil
	}
	var out retake.Card
	if err := json.Unmarshal(text, &out); err != nil {
		return c, false, err
	}
	p.masked[retake.ObjectID("card of "+string(c.Checkpoint.ID))] = retake.Entry{}
	return out, true, nil
}

// liveAt reports whether a path holds what is purged in the workspace now.
func (p *purging) liveAt(root fsx.Dir, name string) bool {
	dir, base := root, path.Base(name)
	for _, part := range strings.Split(path.Dir(name), "/") {
		if part == "." {
			continue
		}
		next, err := dir.OpenDir(part)
		if dir != root {
			_ = dir.Close() // only looked
		}
		if err != nil {
			return false
		}
		dir = next
	}
	if dir != root {
		defer dir.Close() //nolint:errcheck // only looked
	}
	if _, err := dir.Lstat(base); err != nil {
		return false
	}
	if p.match == nil {
		return true
	}
	f, err := dir.OpenFile(base)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	i, err := f.Stat()
	if err != nil {
		return false
	}
	holds, err := p.match.inside(io.NewSectionReader(f, 0, i.Size))
	return err == nil && holds
}
