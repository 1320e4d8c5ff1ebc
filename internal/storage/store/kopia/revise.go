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

// Revise replaces the content of checkpoints, group by group, in one commit.
func (w *writer) Revise(ctx context.Context, records []store.Record) error {
	if err := w.checkUsable(); err != nil {
		return err
	}
	records = slices.Clone(records)
	slices.SortFunc(records, func(a, b store.Record) int { return int(a.Card.Checkpoint.Number - b.Card.Checkpoint.Number) })
	for _, l := range records { // before anything is changed
		if _, err := w.history.findRecord(ctx, w.session, l.Card.Checkpoint.Number); err != nil {
			return fmt.Errorf("revise: %w", err)
		}
	}
	for i, l := range records {
		last := i == len(records)-1 || records[i+1].Card.Checkpoint.Number/groupSize != l.Card.Checkpoint.Number/groupSize
		if err := w.reviseRecord(ctx, l, last); err != nil {
			return w.markBroken("revise", err)
		}
	}
	return w.markBroken("revise", w.commit(ctx, retake.Summary{}))
}

// reviseRecord replaces the record with the same number; the directories up to the root are
// written with the last record of a group.
func (w *writer) reviseRecord(ctx context.Context, l store.Record, last bool) error {
	number := l.Card.Checkpoint.Number
	top, mid := groupNames(number)
	if err := w.loadGroup(ctx, top, mid); err != nil {
		return err
	}
	if _, ok := findEntry(w.midDir.entries, strconv.FormatInt(number, 10)); !ok {
		return fmt.Errorf("checkpoint %d: %w", number, store.ErrNotFound)
	}
	rec, err := w.writeRecord(ctx, store.SealRequest{Card: l.Card, Files: l.Files, StoredState: l.State})
	if err != nil {
		return err
	}
	w.midDir.entries = replaceEntry(w.midDir.entries, rec)
	if !last {
		return nil
	}
	return w.writeGroup(ctx, rec.ModTime)
}

// Erase removes all heads of a history. What only they reach is removed by the next sweep.
func (s *Store) Erase(ctx context.Context, ws retake.WorkspaceID) error {
	w := &writer{s: s}
	defer w.unlock()
	if err := w.lockHistory(ctx, ws); err != nil {
		return fmt.Errorf("erase line: %w", err)
	}
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return fmt.Errorf("erase line: %w", err)
	}
	all, err := findHistories(ctx, v, ws)
	for _, f := range all {
		if err == nil {
			err = v.DeleteManifest(ctx, f.id)
		}
	}
	ctx = context.WithoutCancel(ctx) // what was begun must be left in order
	if err == nil {
		err = v.Flush(ctx)
	}
	s.takeCachedHistory(ws) // what is kept of it in memory
	if cerr := v.Close(ctx); err == nil {
		err = cerr
	}
	if rerr := s.retireView(ctx); err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("erase line: %w", err)
	}
	return nil
}

// Contents reads every content that the index knows, including deleted ones.
func (s *Store) Contents(ctx context.Context, f func([]byte) error) error {
	unlock, err := s.lockShared(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := s.newOwnSession(ctx)
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

// hasUnnamedBytes reports whether a pack contains bytes that the index no longer names. The
// pack lists its own contents; one that cannot be read is assumed to have some.
func (c *sweeper) hasUnnamedBytes(ctx context.Context, p *sparsePack) bool {
	all, err := c.session.contents.RecoverIndexFromPackBlob(ctx, p.id, p.size, false)
	if err != nil {
		return true
	}
	live := make(map[content.ID]bool, len(p.contents))
	for _, id := range p.contents {
		live[id] = true
	}
	return slices.ContainsFunc(all, func(i content.Info) bool { return !live[i.ContentID] })
}
