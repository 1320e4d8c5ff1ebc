package kopia

import (
	"cmp"
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

// A history is a directory of checkpoints, in a fan-out that keeps what one save rewrites
// small forever:
//
//	line.json            the workspace and its pins
//	0/0/14/              checkpoint 14: 14/1024, then 14/32 within it
//	      files/         its tree
//	      state/         what the agent held, when there was any
//	      card.json
//	0/0/gone.json        tombstones of that group
//
// Readers find a record by its full number, so that the fan-out may change later.
const (
	groupSize      = 32
	infoFile       = "line.json"
	tombstonesFile = "gone.json"
	cardFile       = "card.json"
	filesDir       = "files"
	stateDir       = "state"
)

func groupNames(number int64) (top, mid string) {
	return strconv.FormatInt(number/(groupSize*groupSize), 10), strconv.FormatInt(number/groupSize%groupSize, 10)
}

// historyInfo is the content of line.json.
type historyInfo struct {
	V         int              `json:"v"`
	Workspace retake.Workspace `json:"workspace"`
	Pins      []retake.Pin     `json:"pins,omitempty"`
}

// Labels of a history's manifests. The head is the one with the highest sequence number; older
// ones are removed lazily.
const (
	historyHost = "retake"
	historyPath = "/line"
	seqTag      = "tag:seq"
	latestTag   = "tag:latest"
)

func historySource(ws retake.WorkspaceID) snapshot.SourceInfo {
	return snapshot.SourceInfo{Host: historyHost, UserName: string(ws), Path: historyPath}
}

// historyHead is one manifest of a history.
type historyHead struct {
	id     manifest.ID
	ws     retake.WorkspaceID
	seq    int64
	latest int64
	at     time.Time
}

// findHistories lists the manifests of all histories, or of one.
func findHistories(ctx context.Context, r repo.Repository, ws retake.WorkspaceID) ([]historyHead, error) {
	labels := map[string]string{manifest.TypeLabelKey: snapshot.ManifestType, snapshot.HostnameLabel: historyHost, snapshot.PathLabel: historyPath}
	if ws != "" {
		labels[snapshot.UsernameLabel] = string(ws)
	}
	entries, err := r.FindManifests(ctx, labels)
	if err != nil {
		return nil, engineError(ctx, "find lines", err)
	}
	out := make([]historyHead, 0, len(entries))
	for _, e := range entries {
		seq, err1 := strconv.ParseInt(e.Labels[seqTag], 10, 64)
		latest, err2 := strconv.ParseInt(e.Labels[latestTag], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read labels of line %s: %w", e.Labels[snapshot.UsernameLabel], err)
		}
		out = append(out, historyHead{e.ID, retake.WorkspaceID(e.Labels[snapshot.UsernameLabel]), seq, latest, e.ModTime})
	}
	// Two with one number: the older was given up as not answered for, and came after all.
	slices.SortFunc(out, func(a, b historyHead) int {
		if a.seq != b.seq {
			return cmp.Compare(b.seq, a.seq)
		}
		return b.at.Compare(a.at)
	})
	return out, nil
}

// openHistory is an opened history: its head and the entries of its root.
type openHistory struct {
	historyHead
	info  historyInfo
	root  []retake.Entry
	stale []manifest.ID // manifests of the same history that the head replaces
}

// readHistory reads the newest state of a history, or returns store.ErrNotFound.
func readHistory(ctx context.Context, r repo.Repository, ws retake.WorkspaceID) (*openHistory, error) {
	all, err := findHistories(ctx, r, ws)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("line %s: %w", ws, store.ErrNotFound)
	}
	l, err := readHead(ctx, r, all[0])
	for _, f := range all[1:] {
		if err == nil {
			l.stale = append(l.stale, f.id)
		}
	}
	return l, err
}

// readHead reads the state that one head has of its history.
func readHead(ctx context.Context, r repo.Repository, h historyHead) (_ *openHistory, err error) {
	l, ws := &openHistory{historyHead: h}, h.ws
	var m snapshot.Manifest
	if _, err := r.GetManifest(ctx, l.id, &m); err != nil {
		return nil, engineError(ctx, "read line "+string(ws), err)
	}
	if l.root, err = readDir(ctx, r, retake.ObjectID(m.RootObjectID().String())); err != nil {
		return nil, fmt.Errorf("read line %s: %w", ws, asDamaged(err))
	}
	e, ok := findEntry(l.root, infoFile)
	if !ok {
		return nil, fmt.Errorf("read line %s: no %s: %w", ws, infoFile, store.ErrDamaged)
	}
	if err := readJSON(ctx, r, e.Object, &l.info); err != nil {
		return nil, fmt.Errorf("read line %s: %w", ws, asDamaged(err))
	}
	return l, nil
}

// asDamaged turns a not-found error into damage: the history has a head, so its parts must
// exist. Taking it for a new history would start it again from nothing.
func asDamaged(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %v", store.ErrDamaged, err) //nolint:errorlint // not found is just what it is not
	}
	return err
}

func (l *openHistory) currentHead() store.Head {
	return store.Head{Workspace: l.info.Workspace, Seq: l.seq, Latest: l.latest, Pins: l.info.Pins}
}

// readRecord reads the directory of a record.
func readRecord(ctx context.Context, r repo.Repository, e retake.Entry) (*store.Record, error) {
	entries, err := readDir(ctx, r, e.Object)
	if err != nil {
		return nil, err
	}
	files, ok1 := findEntry(entries, filesDir)
	card, ok2 := findEntry(entries, cardFile)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("checkpoint %s is not whole: %w", e.Name, store.ErrDamaged)
	}
	rec := &store.Record{Files: files}
	rec.Files.Name = ""
	if err := readJSON(ctx, r, card.Object, &rec.Card); err != nil {
		return nil, err
	}
	if state, ok := findEntry(entries, stateDir); ok {
		if rec.State, err = readDir(ctx, r, state.Object); err != nil {
			return nil, err
		}
	}
	return rec, nil
}

// recordGroup is one mid-level directory: records by number, and tombstones.
type recordGroup struct {
	records    map[int64]retake.Entry
	tombstones []retake.Tombstone
}

// readGroup reads the records and tombstones of a group.
func readGroup(ctx context.Context, r repo.Repository, id retake.ObjectID) (*recordGroup, error) {
	entries, err := readDir(ctx, r, id)
	if err != nil {
		return nil, err
	}
	b := &recordGroup{records: map[int64]retake.Entry{}}
	for _, e := range entries {
		if e.Name == tombstonesFile {
			if err := readJSON(ctx, r, e.Object, &b.tombstones); err != nil {
				return nil, err
			}
			continue
		}
		n, err := strconv.ParseInt(e.Name, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("leaf %.40q: %w", e.Name, store.ErrDamaged)
		}
		b.records[n] = e
	}
	return b, nil
}

// eachGroup calls f for every group that may contain a number above after, in rising order.
func (l *openHistory) eachGroup(ctx context.Context, r repo.Repository, after int64, f func(*recordGroup) error) error {
	for _, top := range numberedEntries(l.root) {
		if (top.n+1)*groupSize*groupSize <= after {
			continue
		}
		mids, err := readDir(ctx, r, top.entry.Object)
		if err != nil {
			return err
		}
		for _, mid := range numberedEntries(mids) {
			if (top.n*groupSize+mid.n+1)*groupSize <= after {
				continue
			}
			b, err := readGroup(ctx, r, mid.entry.Object)
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

// numberedEntries returns the entries whose names are numbers, in rising order.
func numberedEntries(entries []retake.Entry) []numberedEntry {
	var out []numberedEntry
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name, 10, 64); err == nil && e.Kind == retake.KindDir {
			out = append(out, numberedEntry{n, e})
		}
	}
	slices.SortFunc(out, func(a, b numberedEntry) int { return cmp.Compare(a.n, b.n) })
	return out
}

func findEntry(entries []retake.Entry, name string) (retake.Entry, bool) {
	i := slices.IndexFunc(entries, func(e retake.Entry) bool { return e.Name == name })
	if i < 0 {
		return retake.Entry{}, false
	}
	return entries[i], true
}

// findRecord finds one record, or returns store.ErrNotFound.
func (l *openHistory) findRecord(ctx context.Context, r repo.Repository, number int64) (*store.Record, error) {
	top, mid := groupNames(number)
	id, err := findGroup(ctx, r, l.root, top, mid)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %d: %w", number, err)
	}
	b, err := readGroup(ctx, r, id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %d: %w", number, err)
	}
	e, ok := b.records[number]
	if !ok {
		return nil, fmt.Errorf("checkpoint %d: %w", number, store.ErrNotFound)
	}
	return readRecord(ctx, r, e)
}

// findGroup returns the object of a group, or store.ErrNotFound.
func findGroup(ctx context.Context, r repo.Repository, root []retake.Entry, top, mid string) (retake.ObjectID, error) {
	t, ok := findEntry(root, top)
	if !ok {
		return "", store.ErrNotFound
	}
	mids, err := readDir(ctx, r, t.Object)
	if err != nil {
		return "", err
	}
	m, ok := findEntry(mids, mid)
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
