package kopia

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/index"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// filler adds to a copy what it lacks. A directory is added after all that is in it, so one that the copy
// has is not looked into: its whole tree is there.
type filler struct {
	c       *replicaCopy
	emit    func(replica.Pack) error
	added   map[content.ID]struct{} // emitted or waiting in a packer
	seen    map[retake.ObjectID]struct{}
	missing []string
	data    packer
	meta    packer         // directories, lists of parts, and heads
	entries []content.Info // of all packs; collected if it is not nil
}

func (c *replicaCopy) newFiller(emit func(replica.Pack) error) *filler {
	return &filler{c: c, emit: emit, added: map[content.ID]struct{}{}, seen: map[retake.ObjectID]struct{}{}}
}

// Fill makes the packs that the copy lacks.
func (c *replicaCopy) Fill(ctx context.Context, req replica.FillRequest, emit func(replica.Pack) error) (replica.Filled, error) {
	out := replica.Filled{Lines: req.Lines, List: req.List, Missing: req.Missing}
	lines, others, err := c.newestLines(ctx)
	if err != nil {
		return out, err
	}
	changed, err := changedLines(req, lines)
	if err != nil {
		return out, err
	}
	f := c.newFiller(emit)
	if err := f.retryMissing(ctx, req.Missing); err != nil {
		return out, err
	}
	kept := withoutErased(req, lines)
	if len(changed) == 0 && len(f.added) == 0 && len(kept) == len(req.Lines) {
		return out, nil
	}
	for _, l := range changed {
		if err := f.addHistory(ctx, l); err != nil {
			return out, fmt.Errorf("copy %s: %w", l.Workspace, err)
		}
	}
	if len(f.missing) > 0 { // damage, unless the history went on and a sweep came by
		if again, _, err := c.newestLines(ctx); err != nil || !sameLines(lines, again) {
			return out, errors.Join(err, replica.ErrMoved)
		}
	}
	out.Lines, out.Missing, out.Changed = mergeLines(kept, changed), f.missing, true
	if out.List, err = f.addList(ctx, slices.Concat(out.Lines, others), req.List); err != nil {
		return out, err
	}
	return out, f.finish(ctx)
}

// changedLines returns the wanted lines that the copy does not have in this state. A store that knows less
// than its copy was put back, or is another one; the copy is not.
func changedLines(req replica.FillRequest, now []replica.Line) ([]replica.Line, error) {
	var out []replica.Line
	for _, l := range now {
		if req.Want != nil && !req.Want(l.Workspace) {
			continue
		}
		i := slices.IndexFunc(req.Lines, func(o replica.Line) bool { return o.Workspace == l.Workspace })
		switch {
		case i < 0 || l.Seq > req.Lines[i].Seq && l.Latest >= req.Lines[i].Latest:
			out = append(out, l)
		case l.Seq != req.Lines[i].Seq || l.Manifest != req.Lines[i].Manifest:
			return nil, fmt.Errorf("history %s: %w", l.Workspace, replica.ErrBehind)
		}
	}
	return out, nil
}

// withoutErased returns the lines that the copy keeps. A history that is not in the store any more stays, unless
// somebody erased it: the store may be damaged.
func withoutErased(req replica.FillRequest, now []replica.Line) []replica.Line {
	return slices.DeleteFunc(slices.Clone(req.Lines), func(l replica.Line) bool {
		there := slices.ContainsFunc(now, func(n replica.Line) bool { return n.Workspace == l.Workspace })
		return !there && req.Erased != nil && req.Erased(l.Workspace)
	})
}

func sameLines(a, b []replica.Line) bool {
	return slices.EqualFunc(a, b, func(a, b replica.Line) bool { return a.Manifest == b.Manifest })
}

func mergeLines(old, changed []replica.Line) []replica.Line {
	out := slices.DeleteFunc(slices.Clone(old), func(o replica.Line) bool {
		return slices.ContainsFunc(changed, func(l replica.Line) bool { return l.Workspace == o.Workspace })
	})
	out = append(out, changed...)
	slices.SortFunc(out, func(a, b replica.Line) int { return strings.Compare(string(a.Workspace), string(b.Workspace)) })
	return out
}

func (f *filler) addHistory(ctx context.Context, l replica.Line) error {
	root, err := rootOf(l)
	if err != nil {
		return err
	}
	return f.addTree(ctx, root)
}

// addTree adds a directory and all that is in it.
func (f *filler) addTree(ctx context.Context, id retake.ObjectID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, ok := f.seen[id]; ok {
		return nil
	}
	f.seen[id] = struct{}{}
	parts, err := f.partsOf(ctx, id)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(parts, func(p content.ID) bool { return !f.c.has(ctx, p) }) {
		return nil
	}
	var entries []retake.Entry
	err = f.c.read(ctx, func(v *session) (err error) {
		entries, err = readDir(ctx, v, id)
		return err
	})
	if isDamage(err) {
		f.c.s.damage.suspectObject(id)
		entries = nil // what is below it is unknown
	} else if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Object == "" {
			continue
		}
		if e.Kind == retake.KindDir {
			err = f.addTree(ctx, e.Object)
		} else {
			err = f.addObject(ctx, e.Object)
		}
		if err != nil {
			return err
		}
	}
	return f.addContents(ctx, parts)
}

func (f *filler) addObject(ctx context.Context, id retake.ObjectID) error {
	parts, err := f.partsOf(ctx, id)
	if err != nil {
		return err
	}
	return f.addContents(ctx, parts)
}

// partsOf lists the contents of an object; the lists of a large one are among them.
func (f *filler) partsOf(ctx context.Context, id retake.ObjectID) ([]content.ID, error) {
	oid, err := parseObject(id)
	if err != nil {
		return nil, fmt.Errorf("read %.80q: %w", id, errors.Join(store.ErrDamaged, err))
	}
	if c, _, ok := oid.ContentID(); ok {
		return []content.ID{c}, nil
	}
	var parts []content.ID
	err = f.c.read(ctx, func(v *session) (err error) {
		parts, err = allPartsOf(ctx, v, oid)
		return err
	})
	if err == nil || !mayBeDamage(ctx, err) {
		return parts, err
	}
	f.c.s.damage.suspectObject(id)
	f.missing = append(f.missing, missingObject+string(id))
	return nil, nil
}

// allPartsOf lists the contents of a large object, with those of its lists.
func allPartsOf(ctx context.Context, v *session, id object.ID) ([]content.ID, error) {
	if c, _, ok := id.ContentID(); ok {
		return []content.ID{c}, nil
	}
	list, _ := id.IndexObjectID()
	out, err := allPartsOf(ctx, v, list)
	if err != nil {
		return nil, err
	}
	entries, err := object.LoadIndexObject(ctx, v.contents, list)
	for i := range entries {
		parts, perr := allPartsOf(ctx, v, entries[i].Object)
		out, err = append(out, parts...), errors.Join(err, perr)
	}
	return out, err
}

// missingObject marks, in the list of what is missing, an object whose parts are unknown.
const missingObject = "object "

func isDamage(err error) bool {
	return errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound)
}

func (f *filler) addContents(ctx context.Context, ids []content.ID) error {
	for _, id := range ids {
		if _, ok := f.added[id]; ok || f.c.has(ctx, id) {
			continue
		}
		i, raw, err := f.c.readRaw(ctx, id)
		if err != nil && mayBeDamage(ctx, err) {
			f.missing = append(f.missing, id.String())
			continue
		}
		if err == nil {
			err = f.addContent(ctx, i, raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) addContent(ctx context.Context, i content.Info, raw []byte) error {
	f.added[i.ContentID] = struct{}{}
	i.TimestampSeconds, i.Deleted = f.c.s.clock.Now().Unix(), false
	p := &f.data
	if i.ContentID.HasPrefix() {
		p = &f.meta
	}
	if p.add(i, raw); !p.isFull(f.c.packSize) {
		return nil
	}
	return f.flush(ctx, p)
}

// flush emits what is in a packer.
func (f *filler) flush(ctx context.Context, p *packer) error {
	if len(p.entries) == 0 {
		return nil
	}
	kind := "p"
	if p == &f.meta {
		kind = "q"
	}
	pack, entries, err := f.c.takePack(ctx, p, kind)
	if err != nil {
		return err
	}
	if f.entries != nil {
		f.entries = append(f.entries, entries...)
	}
	return f.emit(pack)
}

// finish emits the rest, in one pack if it is small.
func (f *filler) finish(ctx context.Context) error {
	if f.data.buf.Len()+f.meta.buf.Len() <= joinedPack {
		f.meta.absorb(&f.data)
	}
	if err := f.flush(ctx, &f.data); err != nil {
		return err
	}
	return f.flush(ctx, &f.meta)
}

// readRaw reads a content as it is stored, after it was found to be whole.
func (c *replicaCopy) readRaw(ctx context.Context, id content.ID) (i content.Info, raw []byte, err error) {
	err = c.read(ctx, func(v *session) error {
		if i, err = v.contents.ContentInfo(ctx, id); err != nil {
			return err
		}
		if i.Deleted {
			return content.ErrContentNotFound
		}
		if _, err = v.contents.GetContent(ctx, id); err != nil {
			c.s.damage.suspectPack(i.PackBlobID)
			return err
		}
		var b readBuffer
		if err := c.s.blobs.GetBlob(ctx, i.PackBlobID, int64(i.PackOffset), int64(i.PackedLength), &b); err != nil {
			return err
		}
		raw = b.Bytes()
		return nil
	})
	return i, raw, err
}

// retryMissing adds what was damaged before and was written again since.
func (f *filler) retryMissing(ctx context.Context, missing []string) error {
	for _, text := range missing {
		var err error
		if id, ok := strings.CutPrefix(text, missingObject); ok {
			err = f.addObject(ctx, retake.ObjectID(id))
		} else if id, perr := content.ParseID(text); perr == nil {
			err = f.addContents(ctx, []content.ID{id})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addList adds the content with the heads, which a stock engine reads, and marks the one before as gone.
func (f *filler) addList(ctx context.Context, lines []replica.Line, before string) (string, error) {
	b := newCopyBlobs(nil, nil)
	shared, contents, err := f.c.openContents(ctx, b)
	if err != nil {
		return "", fmt.Errorf("list heads: %w", err)
	}
	defer shared.CloseShared(ctx) //nolint:errcheck // it is all in memory
	m, err := manifest.NewManager(ctx, contents, manifest.ManagerOptions{TimeNow: f.c.s.clock.Now, AutoCompactionThreshold: neverPack}, nil)
	if err != nil {
		return "", fmt.Errorf("list heads: %w", err)
	}
	for _, l := range lines {
		if _, err := m.Put(ctx, l.Labels, l.Payload); err != nil {
			return "", fmt.Errorf("list heads: %w", err)
		}
	}
	if err := errors.Join(m.Flush(ctx), contents.Flush(ctx)); err != nil {
		return "", fmt.Errorf("list heads: %w", err)
	}
	var list string
	err = contents.IterateContents(ctx, content.IterateOptions{Range: index.PrefixRange(manifest.ContentPrefix)}, func(i content.Info) error {
		list = i.ContentID.String()
		var raw readBuffer
		if err := b.GetBlob(ctx, i.PackBlobID, int64(i.PackOffset), int64(i.PackedLength), &raw); err != nil {
			return err
		}
		return f.addContent(ctx, i, raw.Bytes())
	})
	if err != nil {
		return "", fmt.Errorf("list heads: %w", err)
	}
	if old, err := content.ParseID(before); err == nil && before != "" && before != list {
		f.meta.addDeleted(old, f.c.s.clock.Now().Unix())
	}
	return list, nil
}
