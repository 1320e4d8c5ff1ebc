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

// staleStep is how many heads are left behind before they are deleted together:
// deleting makes the engine read all manifests again.
const staleStep = 64

// insert puts a leaf into its shelf and rewrites the way up to the root.
func (w *writer) insert(ctx context.Context, number int64, leaf retake.Entry) error {
	top, mid := shelves(number)
	if err := w.loadPath(ctx, top, mid); err != nil {
		return err
	}
	w.mid.entries = withEntry(w.mid.entries, leaf)
	return w.writePath(ctx, leaf.ModTime)
}

// loadPath makes w.top and w.mid the directories of a shelf, new ones if need be.
func (w *writer) loadPath(ctx context.Context, top, mid string) error {
	if w.top.name != top {
		entries, err := w.childEntries(ctx, w.l.root, top)
		if err != nil {
			return err
		}
		w.top, w.mid = cachedDir{top, entries}, cachedDir{}
	}
	if w.mid.name != mid {
		entries, err := w.childEntries(ctx, w.top.entries, mid)
		if err != nil {
			return err
		}
		w.mid = cachedDir{mid, entries}
	}
	return nil
}

func (w *writer) childEntries(ctx context.Context, parent []retake.Entry, name string) ([]retake.Entry, error) {
	e, ok := entryNamed(parent, name)
	if !ok {
		return nil, nil
	}
	return readDir(ctx, w.v, e.Object)
}

func (w *writer) writePath(ctx context.Context, t int64) error {
	id, _, err := w.writeDir(ctx, w.mid.entries, t, true)
	if err != nil {
		return err
	}
	w.top.entries = withEntry(w.top.entries, lineDir(w.mid.name, id, t))
	if id, _, err = w.writeDir(ctx, w.top.entries, t, true); err != nil {
		return err
	}
	w.l.root = withEntry(w.l.root, lineDir(w.top.name, id, t))
	return nil
}

// commit writes the root and the new head, and makes all of it durable in one
// step: either the whole session becomes visible or nothing of it. The summary is
// what a stock engine shows for the line: the newest tree's.
func (w *writer) commit(ctx context.Context, sum retake.Summary) error {
	now := w.s.clock.Now().UnixNano()
	id, own, err := w.writeDir(ctx, w.l.root, now, true)
	if err != nil {
		return err
	}
	if sum == (retake.Summary{}) {
		sum = own
	}
	m, err := w.manifest(id, sum, now)
	if err != nil {
		return err
	}
	mid, err := snapshot.SaveSnapshot(ctx, w.v, m)
	if err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	if w.l.id != "" {
		w.l.stale = append(w.l.stale, w.l.id)
	}
	w.l.id, w.l.seq = mid, w.l.seq+1
	if len(w.l.stale) >= staleStep && !w.s.opts.Exclusive {
		if err := w.dropStale(ctx); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// From here on it is done or not done; to stop half way would leave us not knowing.
	if err := w.v.Flush(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// doubt marks the session as broken by err: what it holds in memory may not be
// what a later change should build on. Only Close is left.
func (w *writer) doubt(what string, err error) error {
	if err == nil {
		return nil
	}
	w.broken = err
	return fmt.Errorf("%s: %w", what, err)
}

func (w *writer) manifest(id retake.ObjectID, sum retake.Summary, now int64) (*snapshot.Manifest, error) {
	oid, err := object.ParseID(string(id))
	if err != nil {
		return nil, fmt.Errorf("write head: %w", err)
	}
	return &snapshot.Manifest{
		Source:      lineSource(w.l.ws),
		Description: w.l.record.Workspace.Name,
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
		Tags: map[string]string{seqTag: strconv.FormatInt(w.l.seq+1, 10), latestTag: strconv.FormatInt(w.l.latest, 10)},
		Pins: []string{identity},
	}, nil
}

func (w *writer) dropStale(ctx context.Context) error {
	for _, id := range w.l.stale {
		if err := w.v.DeleteManifest(ctx, id); err != nil {
			return fmt.Errorf("delete old head: %w", err)
		}
	}
	w.l.stale = nil
	return nil
}

// Annotate adds to the state of a checkpoint.
func (w *writer) Annotate(ctx context.Context, number int64, state []retake.Entry) error {
	if err := w.usable(); err != nil {
		return err
	}
	top, mid := shelves(number)
	if err := w.loadPath(ctx, top, mid); err != nil {
		return fmt.Errorf("annotate: %w", err)
	}
	old, ok := entryNamed(w.mid.entries, strconv.FormatInt(number, 10))
	if !ok {
		return fmt.Errorf("annotate %d: %w", number, store.ErrNotFound)
	}
	leaf, err := w.annotated(ctx, old, state)
	if err == nil {
		err = w.insert(ctx, number, leaf)
	}
	if err == nil {
		err = w.commit(ctx, retake.Summary{})
	}
	return w.doubt("annotate", err)
}

// annotated writes a leaf again, with more state.
func (w *writer) annotated(ctx context.Context, old retake.Entry, state []retake.Entry) (retake.Entry, error) {
	entries, err := readDir(ctx, w.v, old.Object)
	if err != nil {
		return old, err
	}
	all, err := w.childEntries(ctx, entries, stateDir)
	if err != nil {
		return old, err
	}
	for _, e := range state {
		all = withEntry(all, e)
	}
	id, sum, err := w.writeDir(ctx, all, old.ModTime, false)
	if err != nil {
		return old, err
	}
	dir := lineDir(stateDir, id, old.ModTime)
	dir.Sum = sum
	id, _, err = w.writeDir(ctx, withEntry(entries, dir), old.ModTime, false)
	return lineDir(old.Name, id, old.ModTime), err
}

// Amend changes the workspace and the pins of the line.
func (w *writer) Amend(ctx context.Context, ws retake.Workspace, pins []retake.Pin) error {
	if err := w.usable(); err != nil {
		return err
	}
	if ws.ID != w.l.ws {
		return fmt.Errorf("amend: workspace %s is not of this line", ws.ID)
	}
	w.l.record.Workspace, w.l.record.Pins = ws, slices.Clone(pins)
	slices.SortFunc(w.l.record.Pins, func(a, b retake.Pin) int { return strings.Compare(a.Name, b.Name) })
	err := w.writeRecord(ctx)
	if err == nil {
		err = w.commit(ctx, retake.Summary{})
	}
	return w.doubt("amend", err)
}

// Forget replaces checkpoints by tombstones.
func (w *writer) Forget(ctx context.Context, stones []retake.Tombstone) error {
	if err := w.usable(); err != nil {
		return err
	}
	for _, t := range stones {
		pinned := slices.ContainsFunc(w.l.record.Pins, func(p retake.Pin) bool { return p.Checkpoint == t.ID })
		if t.Number >= w.l.latest || pinned {
			return fmt.Errorf("forget %d: %w", t.Number, store.ErrHeld)
		}
	}
	stones = slices.Clone(stones)
	slices.SortFunc(stones, func(a, b retake.Tombstone) int { return int(a.Number - b.Number) })
	for len(stones) > 0 {
		n := 1
		for n < len(stones) && stones[n].Number/fanOut == stones[0].Number/fanOut {
			n++
		}
		if err := w.bury(ctx, stones[:n]); err != nil {
			return w.doubt("forget", err)
		}
		stones = stones[n:]
	}
	return w.doubt("forget", w.commit(ctx, retake.Summary{}))
}

// bury puts tombstones of one shelf in place.
func (w *writer) bury(ctx context.Context, stones []retake.Tombstone) error {
	top, mid := shelves(stones[0].Number)
	if err := w.loadPath(ctx, top, mid); err != nil {
		return err
	}
	var gone []retake.Tombstone
	if e, ok := entryNamed(w.mid.entries, goneFile); ok {
		if err := readJSON(ctx, w.v, e.Object, &gone); err != nil {
			return err
		}
	}
	for _, t := range stones {
		name := strconv.FormatInt(t.Number, 10)
		if _, ok := entryNamed(w.mid.entries, name); !ok {
			return errors.Join(store.ErrNotFound, fmt.Errorf("checkpoint %d", t.Number))
		}
		w.mid.entries = slices.DeleteFunc(w.mid.entries, func(e retake.Entry) bool { return e.Name == name })
		gone = append(gone, t)
	}
	slices.SortFunc(gone, func(a, b retake.Tombstone) int { return int(a.Number - b.Number) })
	at := stones[0].At.UnixNano()
	e, err := w.writeJSON(ctx, goneFile, gone, at)
	if err != nil {
		return err
	}
	w.mid.entries = withEntry(w.mid.entries, e)
	return w.writePath(ctx, at)
}
