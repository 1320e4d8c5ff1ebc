package purge

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
	"github.com/retake-dev/retake/internal/service/agentstate"
)

// cleanedDir is a directory without the purged content.
type cleanedDir struct {
	entry   retake.Entry
	gaps    []string // below it
	written bool     // it is in the store
}

// cleanTree returns a tree without the purged content, and the removed paths.
func (p *purgeRun) cleanTree(ctx context.Context, root retake.Entry) (retake.Entry, []string, error) {
	if p.matcher != nil {
		c, err := p.cleanDir(ctx, root)
		return c.entry, c.gaps, err
	}
	var gaps []string
	for _, name := range p.req.Paths {
		next, kind, err := p.removePath(ctx, root, strings.Split(name, "/"))
		if err != nil {
			return root, nil, err
		}
		switch kind {
		case "":
			continue
		case retake.KindDir:
			name += "/" // everything below it
		default:
		}
		root, gaps = next, append(gaps, name)
	}
	return root, gaps, nil
}

// removePath removes one path from a directory and returns the kind of what was there, or
// "".
func (p *purgeRun) removePath(ctx context.Context, dir retake.Entry, names []string) (retake.Entry, retake.Kind, error) {
	entries, err := p.store.Dir(ctx, dir.Object)
	if err != nil {
		return dir, "", err
	}
	i := slices.IndexFunc(entries, func(e retake.Entry) bool { return e.Name == names[0] })
	if i < 0 || len(names) > 1 && entries[i].Kind != retake.KindDir {
		return dir, "", nil
	}
	was := entries[i].Kind
	if len(names) > 1 {
		next, below, err := p.removePath(ctx, entries[i], names[1:])
		if err != nil || below == "" {
			return dir, "", err
		}
		entries[i], was = next, below
	} else {
		if err := p.countRemoved(ctx, entries[i]); err != nil {
			return dir, "", err
		}
		entries = slices.Delete(entries, i, i+1)
	}
	dir, err = p.writeDir(ctx, dir, entries)
	return dir, was, err
}

// countRemoved adds the files of an entry to the removed ones.
func (p *purgeRun) countRemoved(ctx context.Context, e retake.Entry) error {
	if e.Kind != retake.KindDir {
		if e.Object != "" {
			p.removedFiles[e.Object] = e.Size
		}
		return nil
	}
	entries, err := p.store.Dir(ctx, e.Object)
	for i := range entries {
		if err == nil {
			err = p.countRemoved(ctx, entries[i])
		}
	}
	return err
}

// cleanDir removes every file that contains the content. Each stored directory is cleaned
// once.
func (p *purgeRun) cleanDir(ctx context.Context, dir retake.Entry) (cleanedDir, error) {
	if c, ok := p.cleanedDirs[dir.Object]; ok && (c.written || p.writer == nil || len(c.gaps) == 0) {
		e := dir
		e.Object, e.Sum = c.entry.Object, c.entry.Sum
		return cleanedDir{entry: e, gaps: c.gaps, written: c.written}, nil
	}
	entries, err := p.store.Dir(ctx, dir.Object)
	if err != nil {
		return cleanedDir{}, err
	}
	c := cleanedDir{entry: dir, written: p.writer != nil}
	var left []retake.Entry
	for _, e := range entries {
		keep, gaps, err := p.cleanEntry(ctx, &e)
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
	p.cleanedDirs[dir.Object] = c
	return c, nil
}

// cleanEntry decides about one entry; a directory is cleaned in place. A name that itself
// contains the content must not appear in a gap.
func (p *purgeRun) cleanEntry(ctx context.Context, e *retake.Entry) (keep bool, gaps []string, err error) {
	if p.matcher.matches([]byte(e.Name)) || p.xattrsMatch(e) {
		return false, []string{string(p.matcher.mask([]byte(e.Name)))}, p.countRemoved(ctx, *e)
	}
	if e.Kind == retake.KindDir {
		c, err := p.cleanDir(ctx, *e)
		for _, g := range c.gaps {
			gaps = append(gaps, path.Join(e.Name, strings.TrimSuffix(g, "/"))+trailingSlash(g))
		}
		*e = c.entry
		return true, gaps, err
	}
	holds, err := p.fileMatches(ctx, *e)
	if holds {
		return false, []string{e.Name}, err
	}
	return true, nil, err
}

func trailingSlash(path string) string {
	if strings.HasSuffix(path, "/") {
		return "/"
	}
	return ""
}

// xattrsMatch reports whether an extended attribute contains the content.
func (p *purgeRun) xattrsMatch(e *retake.Entry) bool {
	if e.Extra == nil {
		return false
	}
	for _, v := range e.Extra.Xattrs {
		if p.matcher.matches(v) {
			return true
		}
	}
	return false
}

// fileMatches reports whether a stored file contains the content; each is read once.
func (p *purgeRun) fileMatches(ctx context.Context, e retake.Entry) (bool, error) {
	if e.Object == "" || e.Size < retake.MinPurgeContent {
		return false, nil
	}
	if known, ok := p.matcher.checked[e.Object]; ok {
		if known {
			p.removedFiles[e.Object] = e.Size
		}
		return known, nil
	}
	r, err := p.store.File(ctx, e.Object)
	if err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // only read
	holds, err := p.matcher.matchesFile(r)
	if err != nil {
		return false, err
	}
	if p.matcher.checked[e.Object] = holds; holds {
		p.removedFiles[e.Object] = e.Size
	}
	if p.filesRead++; p.req.Progress != nil {
		p.req.Progress(retake.Progress{Files: p.filesRead})
	}
	return holds, ctx.Err()
}

func (p *purgeRun) writeDir(ctx context.Context, dir retake.Entry, entries []retake.Entry) (retake.Entry, error) {
	if p.writer == nil {
		return dir, nil
	}
	id, sum, err := p.writer.WriteDir(ctx, entries, dir.ModTime)
	dir.Object, dir.Sum = id, sum
	return dir, err
}

// maskState masks the content in the agent's state. Object IDs of changed parts are
// replaced where they are referenced, so directories come first.
func (p *purgeRun) maskState(ctx context.Context, entries []retake.Entry) ([]retake.Entry, bool, error) {
	if p.matcher == nil {
		return entries, false, nil
	}
	out, changed := slices.Clone(entries), false
	for pass := range 2 { // directories first, because documents reference them
		for i, e := range out {
			if (e.Kind == retake.KindDir) != (pass == 0) {
				continue
			}
			next, other, err := p.maskStateEntry(ctx, e)
			if err != nil {
				return entries, false, err
			}
			out[i], changed = next, changed || other
		}
	}
	return out, changed, nil
}

// maskStateEntry masks one entry of the state and reports whether it changed.
func (p *purgeRun) maskStateEntry(ctx context.Context, e retake.Entry) (retake.Entry, bool, error) {
	if next, ok := p.maskedParts[e.Object]; ok && p.writer != nil && next.Object != e.Object {
		next.Name = e.Name
		return next, true, nil
	}
	if e.Kind == retake.KindDir {
		entries, err := p.store.Dir(ctx, e.Object)
		if err != nil {
			return e, false, err
		}
		next, changed, err := p.maskState(ctx, entries)
		if err != nil || !changed {
			return e, false, err
		}
		e, err = p.writeDir(ctx, e, next)
		return e, true, err
	}
	r, err := p.store.File(ctx, e.Object)
	if err != nil {
		return e, false, err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, agentstate.MaxConversation))
	if err != nil {
		return e, false, err
	}
	text := p.matcher.mask(p.replaceObjectIDs(b))
	if bytes.Equal(text, b) {
		return e, false, nil
	}
	next := e
	if p.writer != nil {
		if next.Object, next.Size, err = p.writer.WriteFile(ctx, e.Name, bytes.NewReader(text)); err != nil {
			return e, false, err
		}
	}
	p.maskedParts[e.Object] = next
	return next, true, nil
}

// replaceObjectIDs replaces the object IDs of parts that were masked.
func (p *purgeRun) replaceObjectIDs(b []byte) []byte {
	for old, e := range p.maskedParts {
		if e.Object != old && bytes.Contains(b, []byte(old)) {
			b = bytes.ReplaceAll(b, []byte(old), []byte(e.Object))
		}
	}
	return b
}

// maskCard masks the content in the card of a checkpoint.
func (p *purgeRun) maskCard(c retake.Card) (retake.Card, bool, error) {
	if p.matcher == nil {
		return c, false, nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return c, false, err
	}
	text := p.matcher.mask(b)
	if bytes.Equal(text, b) {
		return c, false, nil
	}
	var out retake.Card
	if err := json.Unmarshal(text, &out); err != nil {
		return c, false, err
	}
	p.maskedParts[retake.ObjectID("card of "+string(c.Checkpoint.ID))] = retake.Entry{}
	return out, true, nil
}

// isLiveMatch reports whether a live file matches the purge.
func (p *purgeRun) isLiveMatch(root fsx.Dir, name string) bool {
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
	if p.matcher == nil {
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
	holds, err := p.matcher.matchesFile(io.NewSectionReader(f, 0, i.Size))
	return err == nil && holds
}
