package kopia_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/kopia/kopia/fs"
	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob/filesystem"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/snapshot"
	"github.com/kopia/kopia/snapshot/snapshotfs"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// copyBed is a store with a copy in a directory, and what every checkpoint holds.
type copyBed struct {
	t        *testing.T
	rnd      *rand.Rand
	clock    *clock.Manual
	s        *kopia.Store
	password string
	dir      string // of the copy
	place    replica.Place
	oracle   map[retake.WorkspaceID]map[int64]map[string]string // path to text, by number
	now      map[retake.WorkspaceID]map[string]string
	list     []retake.Workspace
	keep     int // how many checkpoints of each workspace stay; 0: all
}

func newCopyBed(t *testing.T, seed uint64) *copyBed {
	t.Helper()
	b := &copyBed{
		t: t, rnd: rand.New(rand.NewPCG(seed, 1)), clock: clock.NewManual(time.Now()), password: strings.Repeat("pw", 20), dir: t.TempDir(),
		oracle: map[retake.WorkspaceID]map[int64]map[string]string{}, now: map[retake.WorkspaceID]map[string]string{},
	}
	var err error
	b.s, err = kopia.Create(t.Context(), kopia.Options{
		Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: b.clock, Exclusive: true, Derivation: derivation, Password: b.password,
	})
	b.must(err)
	t.Cleanup(func() { _ = b.s.Close() })
	b.place, err = places.OpenDir(fsx.OS(), b.dir, b.clock.Now)
	b.must(err)
	for range 2 {
		ws := retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"}
		b.list = append(b.list, ws)
		b.oracle[ws.ID], b.now[ws.ID] = map[int64]map[string]string{}, map[string]string{}
	}
	return b
}

func (b *copyBed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// save changes some files of a workspace and makes a checkpoint.
func (b *copyBed) save(ws retake.Workspace) int64 {
	b.t.Helper()
	files := map[string]string{}
	for p, text := range b.now[ws.ID] {
		files[p] = text
	}
	for range 1 + b.rnd.IntN(4) {
		path := fmt.Sprintf("d%d/f%d", b.rnd.IntN(4), b.rnd.IntN(8))
		size := 1 << b.rnd.IntN(16)
		text := fmt.Sprint(b.rnd.Uint64())
		files[path] = strings.Repeat(text, 1+size/len(text))
		if b.rnd.IntN(5) == 0 {
			delete(files, path)
		}
	}
	n, err := sealTree(b.t.Context(), b.s, ws, files)
	b.must(err)
	b.oracle[ws.ID][n], b.now[ws.ID] = files, files
	b.clock.Advance(time.Duration(b.rnd.IntN(300)) * time.Second)
	return n
}

// sealTree seals a tree of files in directories of one level.
func sealTree(ctx context.Context, s store.Store, ws retake.Workspace, files map[string]string) (int64, error) {
	w, err := s.Begin(ctx, ws)
	if err != nil {
		return 0, err
	}
	defer w.Close() // sealed, or reported
	dirs := map[string][]retake.Entry{}
	for p, text := range files {
		id, size, err := w.WriteFile(ctx, p, strings.NewReader(text))
		if err != nil {
			return 0, err
		}
		dir, name := filepath.Split(p)
		dirs[dir] = append(dirs[dir], retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o644, Size: size, Object: id})
	}
	var root []retake.Entry
	for dir, entries := range dirs {
		id, sum, err := w.WriteDir(ctx, entries, 1)
		if err != nil {
			return 0, err
		}
		root = append(root, retake.Entry{Name: strings.TrimSuffix(dir, "/"), Kind: retake.KindDir, Mode: 0o755, Object: id, Sum: sum})
	}
	id, sum, err := w.WriteDir(ctx, root, 1)
	if err != nil {
		return 0, err
	}
	n := w.Head().Latest + 1
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws.ID, Number: n, Tree: id}
	return n, w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: id, Sum: sum}})
}

// forget forgets the oldest checkpoint of a workspace that is there.
func (b *copyBed) forget(ws retake.Workspace) {
	b.t.Helper()
	w, err := b.s.Begin(b.t.Context(), ws)
	b.must(err)
	defer w.Close() // reported by Forget
	for n := int64(1); n < w.Head().Latest; n++ {
		if _, ok := b.oracle[ws.ID][n]; ok {
			b.must(w.Forget(b.t.Context(), []retake.Tombstone{{Number: n}}))
			delete(b.oracle[ws.ID], n)
			return
		}
	}
}

func (b *copyBed) replica(place replica.Place) *replica.Replica {
	b.t.Helper()
	r := replica.New(replica.Options{Source: kopia.NewReplicaSource(b.s), Place: place, Clock: b.clock, Writer: "here"})
	b.t.Cleanup(func() { _ = r.Close(context.Background()) })
	return r
}

// openCopy opens the copy as a machine does that has nothing but the password.
func (b *copyBed) openCopy(place replica.Place) (*kopia.Store, *replica.Head, error) {
	key, err := kopia.ReplicaSealer(b.password)
	if err != nil {
		return nil, nil, err
	}
	h, err := replica.ReadHead(b.t.Context(), place, key)
	if err != nil || len(h.Lines) == 0 {
		return nil, h, err
	}
	s, err := kopia.Open(b.t.Context(), kopia.Options{
		Dir: b.t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(b.t.TempDir()), Clock: b.clock, Password: b.password,
		Copy: &kopia.CopyOptions{Indexes: h.Indexes, Clock: h.Clock, Get: place.Get},
	})
	return s, h, err
}

// checkCopy reads every checkpoint that the newest head promises, and compares it with the oracle.
func (b *copyBed) checkCopy(place replica.Place) (checkpoints int, err error) {
	s, h, err := b.openCopy(place)
	if err != nil || s == nil {
		return 0, err
	}
	defer s.Close()
	for _, l := range h.Lines {
		seen := map[int64]bool{}
		err := s.Records(b.t.Context(), l.Workspace, 0, func(rec *store.Record, _ *retake.Tombstone) error {
			if rec == nil {
				return nil
			}
			n := rec.Card.Checkpoint.Number
			seen[n] = true
			want, ok := b.oracle[l.Workspace][n]
			got, err := readTree(b.t.Context(), s, rec.Files.Object, "")
			if err != nil {
				return fmt.Errorf("checkpoint %d: %w", n, err)
			}
			if ok && !equalTrees(got, want) { // one that was forgotten meanwhile is only read
				return fmt.Errorf("checkpoint %d has other files", n)
			}
			checkpoints++
			return nil
		})
		if err != nil {
			return checkpoints, fmt.Errorf("head %d: %w", h.Number, err)
		}
		for n := range b.oracle[l.Workspace] {
			if n <= l.Latest && !seen[n] {
				return checkpoints, fmt.Errorf("head %d: checkpoint %d of %d is missing", h.Number, n, l.Latest)
			}
		}
	}
	return checkpoints, nil
}

func equalTrees(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for p := range a {
		if a[p] != b[p] {
			return false
		}
	}
	return true
}

func readTree(ctx context.Context, s store.Store, id retake.ObjectID, prefix string) (map[string]string, error) {
	entries, err := s.Dir(ctx, id)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.Kind == retake.KindDir {
			below, err := readTree(ctx, s, e.Object, prefix+e.Name+"/")
			if err != nil {
				return nil, err
			}
			for p, text := range below {
				out[p] = text
			}
			continue
		}
		f, err := s.File(ctx, e.Object)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		out[prefix+e.Name] = string(text)
	}
	return out, nil
}

// checkStock opens the copy with the engine's own client and reads every file of every snapshot in it.
func (b *copyBed) checkStock() (snapshots int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine panics: %v", p)
		}
	}()
	ctx := b.t.Context()
	st, err := filesystem.New(ctx, &filesystem.Options{Path: b.dir}, false)
	if err != nil {
		return 0, err
	}
	file := filepath.Join(b.t.TempDir(), "repository.config")
	opts := &repo.ConnectOptions{ClientOptions: repo.ClientOptions{ReadOnly: true, Hostname: "h", Username: "u"}, CachingOptions: content.CachingOptions{}}
	if err := repo.Connect(ctx, file, st, b.password, opts); err != nil {
		return 0, err
	}
	r, err := repo.Open(ctx, file, b.password, &repo.Options{DisableRepositoryLog: true})
	if err != nil {
		return 0, err
	}
	defer r.Close(ctx)
	all, err := snapshot.ListSnapshotManifests(ctx, r, nil, nil)
	if err != nil {
		return 0, err
	}
	loaded, err := snapshot.LoadSnapshots(ctx, r, all)
	if err != nil || len(loaded) != len(all) {
		return 0, fmt.Errorf("%d of %d snapshots: %w", len(loaded), len(all), err)
	}
	for _, m := range loaded {
		root, err := snapshotfs.SnapshotRoot(r, m)
		if err != nil {
			return 0, err
		}
		if err := readStock(ctx, root); err != nil {
			return 0, fmt.Errorf("snapshot of %s: %w", m.Source.UserName, err)
		}
	}
	return len(all), nil
}

func readStock(ctx context.Context, e fs.Entry) error {
	switch e := e.(type) {
	case fs.Directory:
		return fs.IterateEntries(ctx, e, readStock)
	case fs.File:
		f, err := e.Open(ctx)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, f)
		return errors.Join(err, f.Close())
	}
	return nil
}

// watchedPlace calls somebody after every change.
type watchedPlace struct {
	replica.Place
	after func(name string, deleted bool)
}

func (w *watchedPlace) Put(ctx context.Context, name string, data []byte) error {
	err := w.Place.Put(ctx, name, data)
	w.after(name, false)
	return err
}

func (w *watchedPlace) Delete(ctx context.Context, name string) error {
	err := w.Place.Delete(ctx, name)
	w.after(name, true)
	return err
}

// A copy is whole after every object that is put or deleted, to us and to the engine's own client. With
// UPLOADS=2000 in the environment it takes as many.
func TestCopyIsWholeAtEveryInstant(t *testing.T) {
	t.Parallel()
	uploads, err := strconv.Atoi(os.Getenv("UPLOADS"))
	if err != nil {
		uploads = 24
	}
	b := newCopyBed(t, 1)
	b.keep = 30
	points, deletions, sweeps, most, stockMost := 0, 0, 0, 0, 0
	probe := func(name string, deleted bool) {
		points++
		if deleted {
			deletions++
		}
		n, err := b.checkCopy(b.place)
		if err != nil {
			t.Errorf("after %s (deleted %v): %v", name, deleted, err)
		}
		most = max(most, n)
		if points <= 2 || uploads > 100 && points%10 > 0 { // nothing that the engine could open; or it would take hours
			return
		}
		n, err = b.checkStock()
		if err != nil {
			t.Errorf("stock, after %s (deleted %v): %v", name, deleted, err)
		}
		stockMost = max(stockMost, n)
	}
	r := b.replica(&watchedPlace{b.place, probe})
	for round := 0; round < uploads && !t.Failed(); round++ {
		b.workAndSync(r, round)
		sweeps = (round + 1) / 12
	}
	t.Logf("%d uploads, %d sweeps: %d points, of which %d deletions; up to %d checkpoints, %d snapshots by the engine's own client", uploads, sweeps, points, deletions, most, stockMost)
	if points < 60 || most < 20 || stockMost < 2 {
		t.Errorf("%d points, %d checkpoints, %d snapshots: too few to show anything", points, most, stockMost)
	}
}

// workAndSync saves, forgets and cleans up as time goes by, and uploads.
func (b *copyBed) workAndSync(r *replica.Replica, round int) {
	b.t.Helper()
	ws := b.list[b.rnd.IntN(2)]
	for range 1 + b.rnd.IntN(3) {
		b.save(ws)
	}
	if round%5 == 4 {
		b.forget(ws)
	}
	for _, ws := range b.list {
		for len(b.oracle[ws.ID]) > b.keep && b.keep > 0 {
			b.forget(ws)
		}
	}
	if round%8 == 7 {
		_, err := b.s.Sweep(b.t.Context(), store.SweepOptions{})
		b.must(err)
	}
	if round%12 == 11 {
		b.clock.Advance(25 * time.Hour)
		_, err := r.Sweep(b.t.Context())
		b.must(err)
	}
	_, err := r.Sync(b.t.Context())
	b.must(err)
	b.must(b.s.Maintain(b.t.Context()))
}

// latePlace puts packs only when something else was put after them: what a careless copy does.
type latePlace struct {
	replica.Place
	waiting map[string][]byte
}

func (l *latePlace) Put(ctx context.Context, name string, data []byte) error {
	if name[0] == 'p' || name[0] == 'q' {
		l.waiting[name] = data
		return nil
	}
	return l.Place.Put(ctx, name, data)
}

// The check notices a copy whose head is put before its packs.
func TestWrongOrderIsNoticed(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 2)
	late := &latePlace{b.place, map[string][]byte{}}
	b.save(b.list[0])
	if _, err := b.replica(late).Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.checkCopy(b.place); err == nil {
		t.Error("a copy without its packs counts as whole")
	}
	for name, data := range late.waiting {
		b.must(b.place.Put(t.Context(), name, data))
	}
	if n, err := b.checkCopy(b.place); err != nil || n != 1 {
		t.Errorf("%d checkpoints, %v", n, err)
	}
}
