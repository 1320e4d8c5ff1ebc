package kopia

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/snapshot"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A line is a directory of checkpoints, in a fan-out that keeps what one save
// rewrites small for ever:
//
//	line.json            the workspace and its pins
//	0/0/14/              checkpoint 14: 14/1024, then 14/32 within it
//	      files/         its tree
//	      state/         what the agent held, when there was any
//	      card.json
//	0/0/gone.json        tombstones of that shelf
//
// Readers find a leaf by its full number, so that the fan-out may change later.
const (
	fanOut   = 32
	lineFile = "line.json"
	goneFile = "gone.json"
	cardFile = "card.json"
	filesDir = "files"
	stateDir = "state"
)

func shelves(number int64) (top, mid string) {
	return strconv.FormatInt(number/(fanOut*fanOut), 10), strconv.FormatInt(number/fanOut%fanOut, 10)
}

// lineRecord is line.json.
type lineRecord struct {
	V         int              `json:"v"`
	Workspace retake.Workspace `json:"workspace"`
	Pins      []retake.Pin     `json:"pins,omitempty"`
}

// Labels of a line's manifests. The head is the one with the highest sequence
// number; older ones are removed lazily.
const (
	lineHost  = "retake"
	linePath  = "/line"
	seqTag    = "tag:seq"
	latestTag = "tag:latest"
)

func lineSource(ws retake.WorkspaceID) snapshot.SourceInfo {
	return snapshot.SourceInfo{Host: lineHost, UserName: string(ws), Path: linePath}
}

// found is one manifest of a line.
type found struct {
	id     manifest.ID
	ws     retake.WorkspaceID
	seq    int64
	latest int64
	at     time.Time
}

// findLines lists the manifests of lines, or of one line.
func findLines(ctx context.Context, r repo.Repository, ws retake.WorkspaceID) ([]found, error) {
	labels := map[string]string{manifest.TypeLabelKey: snapshot.ManifestType, snapshot.HostnameLabel: lineHost, snapshot.PathLabel: linePath}
	if ws != "" {
		labels[snapshot.UsernameLabel] = string(ws)
	}
	entries, err := r.FindManifests(ctx, labels)
	if err != nil {
		return nil, fmt.Errorf("find lines: %w", err)
	}
	out := make([]found, 0, len(entries))
	for _, e := range entries {
		seq, err1 := strconv.ParseInt(e.Labels[seqTag], 10, 64)
		latest, err2 := strconv.ParseInt(e.Labels[latestTag], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read labels of line %s: %w", e.Labels[snapshot.UsernameLabel], err)
		}
		out = append(out, found{e.ID, retake.WorkspaceID(e.Labels[snapshot.UsernameLabel]), seq, latest, e.ModTime})
	}
	// Two with one number: the older was given up as not answered for, and came after all.
	slices.SortFunc(out, func(a, b found) int {
		if a.seq != b.seq {
			return int(b.seq - a.seq)
		}
		return b.at.Compare(a.at)
	})
	return out, nil
}

// openLine is a line as it is read: its head and the entries of its root.
type openLine struct {
	found
	record lineRecord
	root   []retake.Entry
	stale  []manifest.ID // manifests of the same line that the head replaces
}

// readLine reads the newest state of a line. store.ErrNotFound.
func readLine(ctx context.Context, r repo.Repository, ws retake.WorkspaceID) (*openLine, error) {
	all, err := findLines(ctx, r, ws)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("line %s: %w", ws, store.ErrNotFound)
	}
	l := &openLine{found: all[0]}
	for _, f := range all[1:] {
		l.stale = append(l.stale, f.id)
	}
	var m snapshot.Manifest
	if _, err := r.GetManifest(ctx, l.id, &m); err != nil {
		return nil, fmt.Errorf("read line %s: %w", ws, err)
	}
	if l.root, err = readDir(ctx, r, retake.ObjectID(m.RootObjectID().String())); err != nil {
		return nil, fmt.Errorf("read line %s: %w", ws, gone(err))
	}
	e, ok := entryNamed(l.root, lineFile)
	if !ok {
		return nil, fmt.Errorf("read line %s: no %s: %w", ws, lineFile, store.ErrDamaged)
	}
	if err := readJSON(ctx, r, e.Object, &l.record); err != nil {
		return nil, fmt.Errorf("read line %s: %w", ws, gone(err))
	}
	return l, nil
}

// gone: a part of a line that has a head and is not found is damage. To take such a
// line for a new one would begin it again from nothing.
func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %v", store.ErrDamaged, err) //nolint:errorlint // not found is just what it is not
	}
	return err
}

func (l *openLine) head() store.Head {
	return store.Head{Workspace: l.record.Workspace, Seq: l.seq, Latest: l.latest, Pins: l.record.Pins}
}

// readLeaf reads a leaf directory.
func readLeaf(ctx context.Context, r repo.Repository, e retake.Entry) (*store.Leaf, error) {
	entries, err := readDir(ctx, r, e.Object)
	if err != nil {
		return nil, err
	}
	files, ok1 := entryNamed(entries, filesDir)
	card, ok2 := entryNamed(entries, cardFile)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("checkpoint %s is not whole: %w", e.Name, store.ErrDamaged)
	}
	leaf := &store.Leaf{Files: files}
	leaf.Files.Name = ""
	if err := readJSON(ctx, r, card.Object, &leaf.Card); err != nil {
		return nil, err
	}
	if state, ok := entryNamed(entries, stateDir); ok {
		if leaf.State, err = readDir(ctx, r, state.Object); err != nil {
			return nil, err
		}
	}
	return leaf, nil
}

// shelf is one mid-level directory: leaves by number, and tombstones.
type shelf struct {
	leaves map[int64]retake.Entry
	gone   []retake.Tombstone
}

func readShelf(ctx context.Context, r repo.Repository, id retake.ObjectID) (*shelf, error) {
	entries, err := readDir(ctx, r, id)
	if err != nil {
		return nil, err
	}
	b := &shelf{leaves: map[int64]retake.Entry{}}
	for _, e := range entries {
		if e.Name == goneFile {
			if err := readJSON(ctx, r, e.Object, &b.gone); err != nil {
				return nil, err
			}
			continue
		}
		n, err := strconv.ParseInt(e.Name, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("leaf %.40q: %w", e.Name, store.ErrDamaged)
		}
		b.leaves[n] = e
	}
	return b, nil
}

// eachShelf calls f for every shelf that may hold a number above after, in rising order.
func (l *openLine) eachShelf(ctx context.Context, r repo.Repository, after int64, f func(*shelf) error) error {
	for _, top := range numbered(l.root) {
		if (top.n+1)*fanOut*fanOut <= after {
			continue
		}
		mids, err := readDir(ctx, r, top.entry.Object)
		if err != nil {
			return err
		}
		for _, mid := range numbered(mids) {
			if (top.n*fanOut+mid.n+1)*fanOut <= after {
				continue
			}
			b, err := readShelf(ctx, r, mid.entry.Object)
			if err != nil {
				return err
			}
			if err := f(b); err != nil {
				return err
			}
		}
	}
	return nil
}

type numberedEntry struct {
	n     int64
	entry retake.Entry
}

// numbered gives the entries whose names are numbers, in rising order.
func numbered(entries []retake.Entry) []numberedEntry {
	var out []numberedEntry
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name, 10, 64); err == nil && e.Kind == retake.KindDir {
			out = append(out, numberedEntry{n, e})
		}
	}
	slices.SortFunc(out, func(a, b numberedEntry) int { return int(a.n - b.n) })
	return out
}

func entryNamed(entries []retake.Entry, name string) (retake.Entry, bool) {
	i := slices.IndexFunc(entries, func(e retake.Entry) bool { return e.Name == name })
	if i < 0 {
		return retake.Entry{}, false
	}
	return entries[i], true
}

// leafAt finds one leaf. store.ErrNotFound.
func (l *openLine) leafAt(ctx context.Context, r repo.Repository, number int64) (*store.Leaf, error) {
	top, mid := shelves(number)
	id, err := descend(ctx, r, l.root, top, mid)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %d: %w", number, err)
	}
	b, err := readShelf(ctx, r, id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %d: %w", number, err)
	}
	e, ok := b.leaves[number]
	if !ok {
		return nil, fmt.Errorf("checkpoint %d: %w", number, store.ErrNotFound)
	}
	return readLeaf(ctx, r, e)
}

func descend(ctx context.Context, r repo.Repository, root []retake.Entry, top, mid string) (retake.ObjectID, error) {
	t, ok := entryNamed(root, top)
	if !ok {
		return "", store.ErrNotFound
	}
	mids, err := readDir(ctx, r, t.Object)
	if err != nil {
		return "", err
	}
	m, ok := entryNamed(mids, mid)
	if !ok {
		return "", store.ErrNotFound
	}
	return m.Object, nil
}

func readJSON(ctx context.Context, r repo.Repository, id retake.ObjectID, v any) error {
	b, err := readAll(ctx, r, id)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return errors.Join(store.ErrDamaged, fmt.Errorf("decode %s: %w", id, err))
	}
	return nil
}
