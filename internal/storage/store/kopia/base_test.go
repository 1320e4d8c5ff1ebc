package kopia_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// attachBed is a store that began as the copy of another one.
type attachBed struct {
	*copyBed
	opts  kopia.Options
	reads atomic.Int64 // of packs of the copy
	away  atomic.Bool  // the copy cannot be reached
	two   *kopia.Store
}

// base is the copy as it is now.
func (b *copyBed) base() kopia.Base {
	key, err := kopia.ReplicaSealer(b.password)
	b.must(err)
	h, err := replica.ReadHead(b.t.Context(), b.place, key)
	b.must(err)
	base := kopia.Base{Indexes: h.Indexes, Head: h, Format: map[string][]byte{}, Packs: map[string]int64{}, Get: b.place.Get}
	for _, name := range []string{"kopia.repository", "kopia.blobcfg"} {
		base.Format[name], err = b.place.Get(b.t.Context(), name, 0, -1)
		b.must(err)
	}
	for _, kind := range []string{"p", "q"} {
		found, err := b.place.List(b.t.Context(), kind)
		b.must(err)
		for _, o := range found {
			base.Packs[o.Name] = o.Size
		}
	}
	return base
}

// attach makes the second store of the copy as it is now.
func (b *copyBed) attach() *attachBed {
	b.t.Helper()
	a := &attachBed{copyBed: b}
	base := b.base()
	a.opts = kopia.Options{Dir: b.t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(b.t.TempDir()), Clock: b.clock, Exclusive: true, Password: b.password}
	b.must(kopia.CreateFrom(b.t.Context(), a.opts, base))
	a.opts.Password = "" // it is in the store
	a.opts.Base = func(context.Context) (replica.GetFunc, error) {
		return func(ctx context.Context, name string, offset, length int64) ([]byte, error) {
			if a.away.Load() {
				return nil, errors.New("the copy is away")
			}
			a.reads.Add(1)
			return b.place.Get(ctx, name, offset, length)
		}, nil
	}
	a.open()
	b.t.Cleanup(func() { _ = a.two.Close() })
	return a
}

func (a *attachBed) open() {
	a.t.Helper()
	var err error
	a.two, err = kopia.Open(a.t.Context(), a.opts)
	a.must(err)
}

// check reads all checkpoints that were there when the copy was attached.
func (a *attachBed) check(oracle map[retake.WorkspaceID]map[int64]map[string]string) (tried int) {
	a.t.Helper()
	for ws, all := range oracle {
		for n, want := range all {
			tried++
			if got, err := readCheckpoint(a.t.Context(), a.two, ws, n); err != nil || !maps.Equal(got, want) {
				a.t.Errorf("checkpoint %d of %s: %d files of %d: %v", n, ws, len(got), len(want), err)
			}
		}
	}
	return tried
}

func (b *copyBed) copyOracle() map[retake.WorkspaceID]map[int64]map[string]string {
	out := map[retake.WorkspaceID]map[int64]map[string]string{}
	for ws, all := range b.oracle {
		out[ws] = maps.Clone(all)
	}
	return out
}

func (b *copyBed) upload() {
	b.t.Helper()
	r := replica.New(replica.Options{Source: kopia.NewReplicaSource(b.s), Place: b.place, Clock: b.clock, Writer: "one", Window: time.Millisecond})
	_, err := r.Sync(b.t.Context())
	b.must(errors.Join(err, r.Close(b.t.Context())))
}

// Two stores go on from one copy. Neither harms the other, whatever each saves, forgets and sweeps.
func TestTwoStoresOfOneCopy(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 7)
	for range 30 {
		b.save(b.list[b.rnd.IntN(2)])
	}
	b.upload()
	a, was := b.attach(), b.copyOracle()
	if n := a.check(was); n != 30 || a.reads.Load() == 0 {
		t.Errorf("%d checkpoints, %d reads", n, a.reads.Load())
	}
	for range 20 {
		ws := b.list[b.rnd.IntN(2)]
		b.save(ws)
		files := map[string]string{"d0/f0": "of the second store", "d9/new": time.Now().String()}
		n, err := sealTree(t.Context(), a.two, ws, files)
		b.must(err)
		was[ws.ID][n] = files
	}
	b.forget(b.list[0])
	for _, s := range []*kopia.Store{b.s, a.two} {
		_, err := s.Sweep(t.Context(), store.SweepOptions{})
		b.must(err)
		b.must(s.Maintain(t.Context()))
	}
	a.check(was)
	b.must(a.two.Close())
	a.open()
	a.check(was)
	for ws, all := range b.oracle {
		for n, want := range all {
			if got, err := readCheckpoint(t.Context(), b.s, ws, n); err != nil || !maps.Equal(got, want) {
				t.Errorf("the first store: checkpoint %d of %s: %v", n, ws, err)
			}
		}
	}
}

// A store stands alone once it has what it needs. Until then what is not here is not damaged.
func TestStoreStandsAlone(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 8)
	for range 20 {
		b.save(b.list[b.rnd.IntN(2)])
	}
	b.upload()
	a, was := b.attach(), b.copyOracle()
	a.away.Store(true)
	if _, err := readCheckpoint(t.Context(), a.two, b.list[0].ID, 1); err == nil || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("the copy is away: %v", err)
	}
	a.away.Store(false)
	rec, err := a.two.Record(t.Context(), b.list[0].ID, lastOf(was[b.list[0].ID]))
	b.must(err)
	b.must(kopia.FetchBase(t.Context(), a.two, kopia.FetchRequest{Tree: rec.Files.Object}))
	a.away.Store(true)
	if got, err := readCheckpoint(t.Context(), a.two, b.list[0].ID, lastOf(was[b.list[0].ID])); err != nil || len(got) == 0 {
		t.Errorf("the tree that was fetched: %v", err)
	}
	if err := kopia.FetchBase(t.Context(), a.two, kopia.FetchRequest{}); err == nil {
		if _, serr := os.Stat(filepath.Join(a.opts.Dir, "base")); serr == nil {
			t.Error("nothing was lacking, and the list is still there")
		}
	}
	a.away.Store(false)
	b.must(kopia.FetchBase(t.Context(), a.two, kopia.FetchRequest{}))
	a.away.Store(true)
	b.must(os.RemoveAll(b.dir))
	b.must(a.two.Close())
	a.opts.Base = nil
	a.open()
	if n := a.check(was); n != 20 {
		t.Errorf("%d checkpoints", n)
	}
	rep, err := a.two.Scrub(t.Context(), retake.ScrubQuery{Share: 1})
	b.must(err)
	if len(rep.Failed) > 0 {
		t.Errorf("scrub: %v", rep.Failed)
	}
}

func lastOf(all map[int64]map[string]string) (n int64) {
	for i := range all {
		n = max(n, i)
	}
	return n
}

func readCheckpoint(ctx context.Context, s store.Store, ws retake.WorkspaceID, n int64) (map[string]string, error) {
	rec, err := s.Record(ctx, ws, n)
	if err != nil {
		return nil, err
	}
	return readTree(ctx, s, rec.Files.Object, "")
}

// One that was cut off can be made again, and is no obstacle to a store of its own.
func TestAttachThatWasCutOff(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 10)
	b.save(b.list[0])
	b.upload()
	whole := b.base()
	cut := whole
	cut.Get = func(context.Context, string, int64, int64) ([]byte, error) { return nil, errors.New("cut off") }
	o := kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: b.clock, Password: b.password}
	if err := kopia.CreateFrom(t.Context(), o, cut); err == nil {
		t.Fatal("it was made of nothing")
	}
	b.must(kopia.CreateFrom(t.Context(), o, whole))
	if _, err := os.Stat(filepath.Join(o.Dir, "blobs", ".shards")); err != nil {
		t.Errorf("a stock engine does not know its layout: %v", err)
	}
	own := kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: b.clock, Password: b.password}
	_ = kopia.CreateFrom(t.Context(), own, cut)
	own.Password, own.Derivation = "", derivation
	s, err := kopia.Create(t.Context(), own)
	b.must(err)
	b.must(s.Close())
}

// A store is made in an empty directory only.
func TestAttachReplacesNothing(t *testing.T) {
	t.Parallel()
	b := newCopyBed(t, 9)
	b.save(b.list[0])
	b.upload()
	a := b.attach()
	o := a.opts
	o.Password = b.password
	if err := kopia.CreateFrom(t.Context(), o, kopia.Base{Head: &replica.Head{}}); err == nil {
		t.Error("a store was replaced")
	}
}
