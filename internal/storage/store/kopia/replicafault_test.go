package kopia_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// weakPlace fails some of its calls, before or after they did their work.
type weakPlace struct {
	replica.Place
	mu    sync.Mutex
	rnd   *rand.Rand
	share float64
	fails int
}

var errWeak = errors.New("the line broke")

func (w *weakPlace) fail() (before, after bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rnd.Float64() >= w.share {
		return false, false
	}
	w.fails++
	before = w.rnd.IntN(2) == 0
	return before, !before
}

func (w *weakPlace) Put(ctx context.Context, name string, data []byte) error {
	before, after := w.fail()
	if before {
		return errWeak
	}
	err := w.Place.Put(ctx, name, data)
	if after {
		return errWeak
	}
	return err
}

func (w *weakPlace) Get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if before, after := w.fail(); before || after {
		return nil, errWeak
	}
	return w.Place.Get(ctx, name, offset, length)
}

func (w *weakPlace) List(ctx context.Context, prefix string) ([]replica.Object, error) {
	if before, after := w.fail(); before || after {
		return nil, errWeak
	}
	return w.Place.List(ctx, prefix)
}

func (w *weakPlace) Delete(ctx context.Context, name string) error {
	if before, after := w.fail(); before || after {
		return errWeak
	}
	return w.Place.Delete(ctx, name)
}

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// What counts as uploaded is there, whatever was lost on the way; and once the place answers again, all is.
func TestUploadedIsUploaded(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 3)
	weak := &weakPlace{Place: b.place, rnd: rand.New(rand.NewPCG(3, 3)), share: 0.55}
	r := replica.New(replica.Options{Source: kopia.NewReplicaSource(b.s), Place: weak, Clock: b.clock, Writer: "here", Pause: noPause})
	defer r.Close(t.Context())
	failed, promised := 0, map[retake.WorkspaceID]int64{}
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for round := range rounds {
		ws := b.list[b.rnd.IntN(2)]
		b.save(ws)
		if round%6 == 5 {
			b.forget(ws)
			b.clock.Advance(25 * time.Hour)
			if _, err := r.Sweep(t.Context()); err != nil {
				failed++
			}
		}
		if _, err := r.Sync(t.Context()); err != nil {
			if failed++; !errors.Is(err, errWeak) {
				t.Fatal(err)
			}
		}
		h := r.Head()
		for _, l := range h.Lines {
			promised[l.Workspace] = max(promised[l.Workspace], l.Latest)
		}
		b.wantPromised(promised)
	}
	if failed == 0 || weak.fails < 2*rounds {
		t.Errorf("%d syncs and %d calls failed: too few to show anything", failed, weak.fails)
	}
	weak.share = 0
	if _, err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ws := range b.list {
		h := r.Head()
		if l, ok := h.Line(ws.ID); !ok || b.oracle[ws.ID][l.Latest] == nil || len(b.oracle[ws.ID]) == 0 {
			t.Errorf("%s: %+v", ws.ID, l)
		}
	}
	if _, err := b.checkCopy(b.place); err != nil {
		t.Error(err)
	}
}

// wantPromised reads the copy and compares how far it is with what was promised.
func (b *copyBed) wantPromised(promised map[retake.WorkspaceID]int64) {
	b.t.Helper()
	key, err := kopia.ReplicaSealer(b.password)
	b.must(err)
	h, err := replica.ReadHead(b.t.Context(), b.place, key)
	b.must(err)
	for id, n := range promised {
		if l, ok := h.Line(id); !ok || l.Latest < n {
			b.t.Errorf("%s is promised up to %d, and there up to %d", id, n, l.Latest)
		}
	}
	if _, err := b.checkCopy(b.place); err != nil {
		b.t.Error(err)
	}
}

// A copy that another machine writes is left alone.
func TestCopyOfAnother(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 4)
	b.save(b.list[0])
	first := b.replica(b.place)
	if _, err := first.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := replica.Options{Source: kopia.NewReplicaSource(b.s), Place: b.place, Clock: b.clock, Writer: "there"}
	other := replica.New(o)
	defer other.Close(t.Context())
	if _, err := other.Sync(t.Context()); !errors.Is(err, replica.ErrOtherWriter) {
		t.Errorf("another machine: %v", err)
	}
	twin := b.replica(b.place) // the same machine twice, as after a copy of a virtual one
	b.save(b.list[0])
	if _, err := twin.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.save(b.list[0])
	if _, err := first.Sync(t.Context()); !errors.Is(err, replica.ErrOtherWriter) {
		t.Errorf("the number of the next head is taken: %v", err)
	}
	another := newCopyBed(t, 5)
	another.save(another.list[0])
	if _, err := another.replica(b.place).Sync(t.Context()); err == nil {
		t.Error("the copy of another store is written to")
	}
	if _, err := b.checkCopy(b.place); err != nil {
		t.Error(err)
	}
}

// Only the wanted histories are copied, and nothing of the others.
func TestCopyOfOneWorkspace(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 6)
	for range 5 {
		b.save(b.list[0])
		b.save(b.list[1])
	}
	r := replica.New(replica.Options{
		Source: kopia.NewReplicaSource(b.s), Place: b.place, Clock: b.clock, Writer: "here", Want: func(id retake.WorkspaceID) bool { return id == b.list[0].ID },
	})
	defer r.Close(t.Context())
	if _, err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, h, err := b.openCopy(b.place)
	b.must(err)
	defer s.Close()
	if len(h.Lines) != 1 || h.Lines[0].Workspace != b.list[0].ID {
		t.Errorf("lines %+v", h.Lines)
	}
	rec, err := b.s.Record(t.Context(), b.list[1].ID, 5)
	b.must(err)
	if _, err := s.Dir(t.Context(), rec.Files.Object); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the tree of another workspace: %v", err)
	}
	if _, err := b.checkCopy(b.place); err != nil {
		t.Error(err)
	}
}

// A store that was put back to an older state does not replace what its copy has.
func TestStoreBehindItsCopy(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 7)
	dir := t.TempDir()
	o := kopia.Options{Dir: dir, FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: b.clock, Exclusive: true, Derivation: derivation, Password: b.password}
	var err error
	b.s, err = kopia.Create(t.Context(), o)
	b.must(err)
	b.save(b.list[0])
	b.must(b.s.Close())
	old := t.TempDir()
	b.must(os.CopyFS(old, os.DirFS(dir)))
	b.s, err = kopia.Open(t.Context(), o)
	b.must(err)
	b.save(b.list[0])
	b.save(b.list[0])
	r := b.replica(b.place)
	if _, err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.must(b.s.Close())
	o.Dir = old
	s, err := kopia.Open(t.Context(), o)
	b.must(err)
	defer s.Close()
	again := replica.New(replica.Options{Source: kopia.NewReplicaSource(s), Place: b.place, Clock: b.clock, Writer: "here"})
	defer again.Close(t.Context())
	if _, err := again.Sync(t.Context()); !errors.Is(err, replica.ErrBehind) {
		t.Errorf("an older store: %v", err)
	}
	if n, err := b.checkCopy(b.place); err != nil || n != 3 {
		t.Errorf("%d checkpoints, %v", n, err)
	}
}

// What is damaged in the store is missing in the copy, and named; when it is whole again it follows.
func TestDamageIsMissingInTheCopy(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 8)
	dir := t.TempDir()
	var err error
	b.s, err = kopia.Create(t.Context(), kopia.Options{Dir: dir, FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: b.clock, Exclusive: true, Derivation: derivation, Password: b.password})
	b.must(err)
	defer b.s.Close()
	ws := b.list[0]
	files := map[string]string{"d/a": strings.Repeat("a", 3000), "d/b": strings.Repeat("b", 3000)}
	_, err = sealTree(t.Context(), b.s, ws, files)
	b.must(err)
	b.oracle[ws.ID][1] = files
	rec, err := b.s.Record(t.Context(), ws.ID, 1)
	b.must(err)
	d, err := b.s.Dir(t.Context(), rec.Files.Object)
	b.must(err)
	in, err := b.s.Dir(t.Context(), d[0].Object)
	b.must(err)
	name, offset, err := b.s.Place(t.Context(), in[0].Object)
	b.must(err)
	flipByte(t, filepath.Join(dir, "blobs", name), offset)
	r := b.replica(b.place)
	rep, err := r.Sync(t.Context())
	if err != nil || rep.Missing != 1 {
		t.Fatalf("%+v %v", rep, err)
	}
	if _, err := b.checkCopy(b.place); err == nil {
		t.Error("the damaged file is whole in the copy")
	}
	b.must(b.s.Maintain(t.Context())) // looks into the damage
	delete(files, "d/b")
	_, err = sealTree(t.Context(), b.s, ws, files) // has the bytes, and stores them again
	b.must(err)
	b.oracle[ws.ID][1] = map[string]string{"d/a": files["d/a"], "d/b": strings.Repeat("b", 3000)}
	b.oracle[ws.ID][2] = files
	rep, err = r.Sync(t.Context())
	if err != nil || rep.Missing != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	if n, err := b.checkCopy(b.place); err != nil || n != 2 {
		t.Errorf("%d checkpoints, %v", n, err)
	}
}

// What somebody stands on is not deleted.
func TestPinnedHeadsStay(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 9)
	ws := b.list[0]
	r := b.replica(b.place)
	for range 12 {
		b.save(ws)
		if _, err := r.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s, h, err := b.openCopy(b.place)
	b.must(err)
	defer s.Close()
	b.must(replica.Pin(t.Context(), b.place, h.Number, "dependent"))
	kept := map[int64]map[string]string{}
	for n, files := range b.oracle[ws.ID] {
		kept[n] = files
	}
	sweepTwice := func() (deleted int) {
		for range 2 {
			b.clock.Advance(25 * time.Hour)
			rep, err := r.Sweep(t.Context())
			b.must(err)
			deleted += rep.Deleted
		}
		return deleted
	}
	b.now[ws.ID] = map[string]string{} // all files are others
	b.save(ws)
	for range 12 {
		b.forget(ws)
	}
	_, err = b.s.Sweep(t.Context(), store.SweepOptions{})
	b.must(err)
	sweepTwice()
	for n, want := range kept {
		rec, err := s.Record(t.Context(), ws.ID, n)
		b.must(err)
		got, err := readTree(t.Context(), s, rec.Files.Object, "")
		if err != nil || !equalTrees(got, want) {
			t.Errorf("checkpoint %d, which a dependent reads: %v", n, err)
		}
	}
	b.must(replica.Unpin(t.Context(), b.place, h.Number, "dependent"))
	if n := sweepTwice(); n == 0 {
		t.Error("nothing is deleted once nobody stands on it")
	}
	if _, err := b.checkCopy(b.place); err != nil {
		t.Error(err)
	}
}

// cutPlace breaks off for good after some puts.
type cutPlace struct {
	replica.Place
	mu   sync.Mutex
	left int
	puts map[string]int
}

func (c *cutPlace) Put(ctx context.Context, name string, data []byte) error {
	c.mu.Lock()
	c.left--
	cut := c.left < 0
	c.mu.Unlock()
	if cut {
		return errWeak
	}
	err := c.Place.Put(ctx, name, data)
	if err == nil {
		c.mu.Lock()
		c.puts[name] = len(data)
		c.mu.Unlock()
	}
	return err
}

func (c *cutPlace) packBytes() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, size := range c.puts {
		if name[0] == 'p' || name[0] == 'q' {
			n += size
		}
	}
	return n
}

// A long upload that is cut off goes on where a head was put last, and the packs alone tell what they hold.
func TestLongUploadGoesOn(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 10)
	const each, files = 64 << 10, 300
	tree := map[string]string{}
	for i := range files {
		data := make([]byte, each)
		for j := range data {
			data[j] = byte(b.rnd.Uint32())
		}
		tree[fmt.Sprintf("d%d/f%d", i%9, i)] = string(data)
	}
	n, err := sealTree(t.Context(), b.s, b.list[0], tree)
	b.must(err)
	b.oracle[b.list[0].ID][n] = tree
	cut := &cutPlace{Place: b.place, left: 22, puts: map[string]int{}}
	o := replica.Options{Source: kopia.NewReplicaSourceOfSmallPacks(b.s, 1<<20), Place: cut, Clock: b.clock, Writer: "here", Pause: noPause}
	first := replica.New(o)
	if _, err := first.Sync(t.Context()); !errors.Is(err, errWeak) {
		t.Fatal(err)
	}
	b.must(first.Close(t.Context()))
	cut.left = 1 << 30
	second := replica.New(o)
	defer second.Close(t.Context())
	if _, err := second.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := cut.packBytes(); n > each*files*13/10 {
		t.Errorf("%d kB were put for %d kB", n>>10, each*files>>10)
	}
	if _, err := b.checkCopy(b.place); err != nil {
		t.Error(err)
	}
	found, err := b.place.List(t.Context(), "")
	b.must(err)
	entries := 0
	for _, f := range found {
		if f.Name[0] != 'p' && f.Name[0] != 'q' {
			continue
		}
		in, err := b.s.ReadIndexOfPack(t.Context(), b.place.Get, f.Name, f.Size)
		if err != nil {
			t.Errorf("pack %s: %v", f.Name, err)
		}
		entries += in
	}
	if entries < files {
		t.Errorf("the packs tell of %d contents", entries)
	}
}

// Nothing of what was saved can be read in the objects of a copy.
func TestNothingIsReadableInACopy(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 11)
	files := map[string]string{"secret-directory/secret-name": strings.Repeat("a secret text ", 200)}
	_, err := sealTree(t.Context(), b.s, b.list[0], files)
	b.must(err)
	if _, err := b.replica(b.place).Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := b.place.List(t.Context(), "")
	b.must(err)
	for _, f := range found {
		data, err := b.place.Get(t.Context(), f.Name, 0, -1)
		b.must(err)
		for _, text := range []string{"secret", string(b.list[0].ID), b.password, "entries", "line"} {
			if bytes.Contains(data, []byte(text)) || strings.Contains(f.Name, text) {
				t.Errorf("%s has %q", f.Name, text)
			}
		}
	}
	key, err := kopia.ReplicaSealer(strings.Repeat("x", 40))
	b.must(err)
	if _, err := replica.ReadHead(t.Context(), b.place, key); err == nil {
		t.Error("another password opens the head")
	}
}

// countingGets counts reads of a place.
type countingGets struct {
	replica.Place
	mu   sync.Mutex
	gets int
}

func (c *countingGets) Get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	c.mu.Lock()
	c.gets++
	c.mu.Unlock()
	return c.Place.Get(ctx, name, offset, length)
}

// Indexes are read from the cache, and from the copy when the cache is damaged.
func TestIndexesOfACopyAreCached(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 12)
	dir := t.TempDir()
	cache, err := fsx.OS().OpenRoot(dir)
	b.must(err)
	defer cache.Close()
	p := &countingGets{Place: b.place}
	o := replica.Options{Source: kopia.NewReplicaSource(b.s), Place: p, Clock: b.clock, Writer: "here", Cache: cache}
	syncOnce := func() (gets int) {
		b.save(b.list[0])
		before := p.gets
		r := replica.New(o)
		defer r.Close(t.Context())
		if _, err := r.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p.gets - before
	}
	for range 5 {
		syncOnce()
	}
	if n := syncOnce(); n != 1 { // the head
		t.Errorf("%d reads with a cache", n)
	}
	files, err := os.ReadDir(dir)
	b.must(err)
	for _, f := range files {
		i, err := f.Info()
		b.must(err)
		flipByte(t, filepath.Join(dir, f.Name()), i.Size()/2)
	}
	if n := syncOnce(); n < 2 || len(files) == 0 {
		t.Errorf("%d reads with a damaged cache of %d files", n, len(files))
	}
	if n := syncOnce(); n != 1 {
		t.Errorf("%d reads with a cache that was made again", n)
	}
	if _, err := b.checkCopy(b.place); err != nil {
		t.Error(err)
	}
}
