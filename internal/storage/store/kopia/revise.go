package kopia

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/kopia/kopia/repo/content"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Revise replaces what checkpoints hold, shelf by shelf, in one commit.
func (w *writer) Revise(ctx context.Context, leaves []store.Leaf) error {
	if err := w.usable(); err != nil {
		return err
	}
	leaves = slices.Clone(leaves)
	slices.SortFunc(leaves, func(a, b store.Leaf) int { return int(a.Card.Checkpoint.Number - b.Card.Checkpoint.Number) })
	for _, l := range leaves { // before anything is changed
		if _, err := w.l.leafAt(ctx, w.v, l.Card.Checkpoint.Number); err != nil {
			return fmt.Errorf("revise: %w", err)
		}
	}
	for i, l := range leaves {
		last := i == len(leaves)-1 || leaves[i+1].Card.Checkpoint.Number/fanOut != l.Card.Checkpoint.Number/fanOut
		if err := w.reviseLeaf(ctx, l, last); err != nil {
			return w.doubt("revise", err)
		}
	}
	return w.doubt("revise", w.commit(ctx, retake.Summary{}))
}

// reviseLeaf puts a leaf in the place of the one of its number; the way up to the root
// is written with the last of a shelf.
func (w *writer) reviseLeaf(ctx context.Context, l store.Leaf, last bool) error {
	number := l.Card.Checkpoint.Number
	top, mid := shelves(number)
	if err := w.loadPath(ctx, top, mid); err != nil {
		return err
	}
	if _, ok := entryNamed(w.mid.entries, strconv.FormatInt(number, 10)); !ok {
		return fmt.Errorf("checkpoint %d: %w", number, store.ErrNotFound)
	}
	leaf, err := w.writeLeaf(ctx, store.Sealing{Card: l.Card, Files: l.Files, Held: l.State})
	if err != nil {
		return err
	}
	w.mid.entries = withEntry(w.mid.entries, leaf)
	if !last {
		return nil
	}
	return w.writePath(ctx, leaf.ModTime)
}

// Erase removes all heads of a line. What they alone reach goes with the next sweep.
func (s *Store) Erase(ctx context.Context, ws retake.WorkspaceID) error {
	w := &writer{s: s}
	defer w.unlock()
	if err := w.lock(ctx, ws); err != nil {
		return fmt.Errorf("erase line: %w", err)
	}
	v, err := s.ownSession(ctx)
	if err != nil {
		return fmt.Errorf("erase line: %w", err)
	}
	all, err := findLines(ctx, v, ws)
	for _, f := range all {
		if err == nil {
			err = v.DeleteManifest(ctx, f.id)
		}
	}
	ctx = context.WithoutCancel(ctx) // what was begun must be left in order
	if err == nil {
		err = v.Flush(ctx)
	}
	s.takeLine(ws) // what is kept of it in memory
	if cerr := v.Close(ctx); err == nil {
		err = cerr
	}
	if rerr := s.retire(ctx); err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("erase line: %w", err)
	}
	return nil
}

// Contents reads every content that the index knows, deleted ones too.
func (s *Store) Contents(ctx context.Context, f func([]byte) error) error {
	unlock, err := s.lockShared(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := s.ownSession(ctx)
	if err != nil {
		return err
	}
	defer v.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only read
	return v.contents.IterateContents(ctx, content.IterateOptions{IncludeDeleted: true}, func(i content.Info) error {
		b, err := v.contents.GetContent(ctx, i.ContentID)
		if err != nil {
			return fmt.Errorf("read content %s: %w", i.ContentID, err)
		}
		return f(b)
	})
}

// unclean reports whether a pack holds bytes that the index does not name any more. The
// pack itself says what was put into it; one that does not say so is not trusted.
func (c *sweep) unclean(ctx context.Context, p *sparsePack) bool {
	all, err := c.v.contents.RecoverIndexFromPackBlob(ctx, p.id, p.size, false)
	if err != nil {
		return true
	}
	live := make(map[content.ID]bool, len(p.contents))
	for _, id := range p.contents {
		live[id] = true
	}
	return slices.ContainsFunc(all, func(i content.Info) bool { return !live[i.ContentID] })
}
