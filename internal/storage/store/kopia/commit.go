package kopia

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo/object"
	"github.com/kopia/kopia/snapshot"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

func newReader(b []byte) io.Reader { return bytes.NewReader(b) }

// staleHeadBatch is how many old heads are deleted together: deleting makes the engine read
// all manifests again.
const staleHeadBatch = 64

// insertRecord puts a record into its group and rewrites the directories up to the root.
func (w *writer) insertRecord(ctx context.Context, number int64, rec retake.Entry) error {
	top, mid := groupNames(number)
	if err := w.loadGroup(ctx, top, mid); err != nil {
		return err
	}
	w.midDir.entries = replaceEntry(w.midDir.entries, rec)
	return w.writeGroup(ctx, rec.ModTime)
}

// loadGroup makes w.topDir and w.midDir the directories of a group, new ones if there are
// none.
func (w *writer) loadGroup(ctx context.Context, top, mid string) error {
	if w.topDir.name != top {
		entries, err := w.childEntries(ctx, w.history.root, top)
		if err != nil {
			return err
		}
		w.topDir, w.midDir = cachedDir{top, entries}, cachedDir{}
	}
	if w.midDir.name != mid {
		entries, err := w.childEntries(ctx, w.topDir.entries, mid)
		if err != nil {
			return err
		}
		w.midDir = cachedDir{mid, entries}
	}
	return nil
}

func (w *writer) childEntries(ctx context.Context, parent []retake.Entry, name string) ([]retake.Entry, error) {
	e, ok := findEntry(parent, name)
	if !ok {
		return nil, nil
	}
	var out []retake.Entry
	err := w.s.metadata.retry(ctx, func() (err error) {
		out, err = readDir(ctx, w.session, e.Object)
		return err
	})
	return out, err
}

func (w *writer) writeGroup(ctx context.Context, t int64) error {
	id, _, err := w.writeDir(ctx, w.midDir.entries, t, true)
	if err != nil {
		return err
	}
	w.topDir.entries = replaceEntry(w.topDir.entries, dirEntry(w.midDir.name, id, t))
	if id, _, err = w.writeDir(ctx, w.topDir.entries, t, true); err != nil {
		return err
	}
	w.history.root = replaceEntry(w.history.root, dirEntry(w.topDir.name, id, t))
	return nil
}

// commit writes the root and the new head and makes everything durable in one step: the whole
// session becomes visible or nothing of it. The summary is what a stock engine shows for the
// history: that of the newest tree.
func (w *writer) commit(ctx context.Context, sum retake.Summary) error {
	now := w.s.clock.Now().UnixNano()
	id, own, err := w.writeDir(ctx, w.history.root, now, true)
	if err != nil {
		return err
	}
	if sum == (retake.Summary{}) {
		sum = own
	}
	m, err := w.newManifest(id, sum, now)
	if err != nil {
		return err
	}
	mid, err := snapshot.SaveSnapshot(ctx, w.session, m)
	if err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	if w.history.id != "" {
		w.history.stale = append(w.history.stale, w.history.id)
	}
	w.history.id, w.history.seq = mid, w.history.seq+1
	if len(w.history.stale) >= staleHeadBatch && !w.s.opts.Exclusive {
		if err := w.deleteStaleHeads(ctx); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// From here on it is done or not done; to stop half way would leave us not knowing.
	if err := w.session.Flush(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Flush makes what was written durable without a checkpoint.
func (w *writer) Flush(ctx context.Context) error {
	if err := w.checkUsable(); err != nil {
		return err
	}
	return w.markBroken("flush", w.session.Flush(context.WithoutCancel(ctx)))
}

// markBroken marks the session as broken by err: what it has in memory may not be what a later
// change should build on. Only Close is allowed after that.
func (w *writer) markBroken(what string, err error) error {
	if err == nil {
		return nil
	}
	w.broken = err
	return fmt.Errorf("%s: %w", what, err)
}

// newManifest returns the manifest of a new head.
func (w *writer) newManifest(id retake.ObjectID, sum retake.Summary, now int64) (*snapshot.Manifest, error) {
	oid, err := object.ParseID(string(id))
	if err != nil {
		return nil, fmt.Errorf("write head: %w", err)
	}
	return &snapshot.Manifest{
		Source:      historySource(w.history.ws),
		Description: w.history.info.Workspace.Name,
		StartTime:   fs.UTCTimestamp(now),
		EndTime:     fs.UTCTimestamp(now),
		RootEntry: &snapshot.DirEntry{
			Name: "line", Type: snapshot.EntryTypeDirectory, Permissions: 0o700,
			ModTime: fs.UTCTimestamp(now), ObjectID: oid,
			DirSummary: &fs.DirectorySummary{
				TotalFileSize: sum.Bytes, TotalFileCount: sum.Files, TotalSymlinkCount: sum.Symlinks,
				TotalDirCount: sum.Dirs, MaxModTime: fs.UTCTimestamp(sum.MaxTime),
			},
		},
		Tags: map[string]string{seqTag: strconv.FormatInt(w.history.seq+1, 10), latestTag: strconv.FormatInt(w.history.latest, 10)},
		Pins: []string{sessionIdentity},
	}, nil
}

func (w *writer) deleteStaleHeads(ctx context.Context) error {
	for _, id := range w.history.stale {
		if err := w.session.DeleteManifest(ctx, id); err != nil {
			return fmt.Errorf("delete old head: %w", err)
		}
	}
	w.history.stale = nil
	return nil
}

// Annotate adds entries to the state of a checkpoint.
func (w *writer) Annotate(ctx context.Context, number int64, state []retake.Entry) error {
	if err := w.checkUsable(); err != nil {
		return err
	}
	top, mid := groupNames(number)
	if err := w.loadGroup(ctx, top, mid); err != nil {
		return fmt.Errorf("annotate: %w", err)
	}
	old, ok := findEntry(w.midDir.entries, strconv.FormatInt(number, 10))
	if !ok {
		return fmt.Errorf("annotate %d: %w", number, store.ErrNotFound)
	}
	rec, err := w.rewriteWithState(ctx, old, state)
	if err == nil {
		err = w.insertRecord(ctx, number, rec)
	}
	if err == nil {
		err = w.commit(ctx, retake.Summary{})
	}
	return w.markBroken("annotate", err)
}

// rewriteWithState writes a record again with more state.
func (w *writer) rewriteWithState(ctx context.Context, old retake.Entry, state []retake.Entry) (retake.Entry, error) {
	entries, err := readDir(ctx, w.session, old.Object)
	if err != nil {
		return old, err
	}
	all, err := w.childEntries(ctx, entries, stateDir)
	if err != nil {
		return old, err
	}
	for _, e := range state {
		all = replaceEntry(all, e)
	}
	id, sum, err := w.writeDir(ctx, all, old.ModTime, false)
	if err != nil {
		return old, err
	}
	dir := dirEntry(stateDir, id, old.ModTime)
	dir.Sum = sum
	id, _, err = w.writeDir(ctx, replaceEntry(entries, dir), old.ModTime, false)
	return dirEntry(old.Name, id, old.ModTime), err
}

// Amend changes the workspace and the pins of the history.
func (w *writer) Amend(ctx context.Context, ws retake.Workspace, pins []retake.Pin) error {
	if err := w.checkUsable(); err != nil {
		return err
	}
	if ws.ID != w.history.ws {
		return fmt.Errorf("amend: workspace %s is not of this line", ws.ID)
	}
	w.history.info.Workspace, w.history.info.Pins = ws, slices.Clone(pins)
	slices.SortFunc(w.history.info.Pins, func(a, b retake.Pin) int { return strings.Compare(a.Name, b.Name) })
	err := w.writeInfo(ctx)
	if err == nil {
		err = w.commit(ctx, retake.Summary{})
	}
	return w.markBroken("amend", err)
}

// Forget replaces checkpoints with tombstones.
func (w *writer) Forget(ctx context.Context, stones []retake.Tombstone) error {
	if err := w.checkUsable(); err != nil {
		return err
	}
	for _, t := range stones {
		pinned := slices.ContainsFunc(w.history.info.Pins, func(p retake.Pin) bool { return p.Checkpoint == t.ID })
		if t.Number >= w.history.latest || pinned {
			return fmt.Errorf("forget %d: %w", t.Number, store.ErrRequired)
		}
	}
	stones = slices.Clone(stones)
	slices.SortFunc(stones, func(a, b retake.Tombstone) int { return int(a.Number - b.Number) })
	for len(stones) > 0 {
		n := 1
		for n < len(stones) && stones[n].Number/groupSize == stones[0].Number/groupSize {
			n++
		}
		if err := w.writeTombstones(ctx, stones[:n]); err != nil {
			return w.markBroken("forget", err)
		}
		stones = stones[n:]
	}
	return w.markBroken("forget", w.commit(ctx, retake.Summary{}))
}

// writeTombstones replaces records of one group with tombstones.
func (w *writer) writeTombstones(ctx context.Context, stones []retake.Tombstone) error {
	top, mid := groupNames(stones[0].Number)
	if err := w.loadGroup(ctx, top, mid); err != nil {
		return err
	}
	var gone []retake.Tombstone
	if e, ok := findEntry(w.midDir.entries, tombstonesFile); ok {
		if err := readJSON(ctx, w.session, e.Object, &gone); err != nil {
			return err
		}
	}
	for _, t := range stones {
		name := strconv.FormatInt(t.Number, 10)
		if _, ok := findEntry(w.midDir.entries, name); !ok {
			return errors.Join(store.ErrNotFound, fmt.Errorf("checkpoint %d", t.Number))
		}
		w.midDir.entries = slices.DeleteFunc(w.midDir.entries, func(e retake.Entry) bool { return e.Name == name })
		gone = append(gone, t)
	}
	slices.SortFunc(gone, func(a, b retake.Tombstone) int { return int(a.Number - b.Number) })
	at := stones[0].At.UnixNano()
	e, err := w.writeJSON(ctx, tombstonesFile, gone, at)
	if err != nil {
		return err
	}
	w.midDir.entries = replaceEntry(w.midDir.entries, e)
	return w.writeGroup(ctx, at)
}
