package crashbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

var memoryNoon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// MemLine writes one line of small trees straight into a store on fsxtest.Memory, and
// remembers what must be in it.
type MemLine struct {
	Ws   retake.Workspace
	seed uint64
	Must map[int64]memTree // acknowledged, and not on the way to be forgotten
	May  map[int64]bool    // forgotten, or about to be
}

type memTree struct {
	tree  retake.ObjectID
	files map[string][]byte
}

func newMemLine(seed int64) *MemLine {
	id := retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString())
	return &MemLine{
		Ws:   retake.Workspace{ID: id, Name: "line", Root: "/line", Created: memoryNoon},
		seed: uint64(seed), Must: map[int64]memTree{}, May: map[int64]bool{},
	}
}

// Copy is for another future of the same past.
func (l *MemLine) Copy() *MemLine {
	c := &MemLine{Ws: l.Ws, seed: l.seed, Must: map[int64]memTree{}, May: map[int64]bool{}}
	for n, t := range l.Must {
		c.Must[n] = t
	}
	for n := range l.May {
		c.May[n] = true
	}
	return c
}

// contents are the files at a number: most are those of the number before.
func (l *MemLine) contents(number int64) map[string][]byte {
	files := map[string][]byte{}
	for i := range int64(6) {
		rnd := rand.New(rand.NewPCG(l.seed, uint64(i*1000+(number+i)/3)))
		b := make([]byte, rnd.IntN(9000))
		for j := range b {
			b[j] = byte(rnd.Uint32() >> (j % 2 * 6))
		}
		files[fmt.Sprintf("f%d", i)] = b
	}
	return files
}

// seal appends one checkpoint with these files and notes it when it is acknowledged.
func (l *MemLine) seal(ctx context.Context, w store.Writer, files map[string][]byte) error {
	number := w.Head().Latest + 1
	var entries []retake.Entry
	for name, b := range files {
		id, n, err := w.WriteFile(ctx, name, bytes.NewReader(b))
		if err != nil {
			return err
		}
		entries = append(entries, retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o644, Size: n, ModTime: memoryNoon.UnixNano(), Object: id})
	}
	sub, sum, err := w.WriteDir(ctx, entries, memoryNoon.UnixNano())
	if err != nil {
		return err
	}
	dir := retake.Entry{Name: "d", Kind: retake.KindDir, Mode: 0o755, ModTime: memoryNoon.UnixNano(), Object: sub, Sum: sum}
	id, sum, err := w.WriteDir(ctx, []retake.Entry{dir}, memoryNoon.UnixNano())
	if err != nil {
		return err
	}
	root := retake.Entry{Kind: retake.KindDir, Mode: 0o755, ModTime: memoryNoon.UnixNano(), Object: id, Sum: sum}
	cp := retake.Checkpoint{
		ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: l.Ws.ID, Number: number,
		Time: memoryNoon, Trigger: retake.TriggerManual, Tree: id,
	}
	card := retake.Card{V: retake.CardVersion, Checkpoint: cp}
	if err := w.Seal(ctx, store.SealRequest{Card: card, Files: root, State: map[string][]byte{"turn": []byte(cp.ID)}}); err != nil {
		return err
	}
	l.Must[number] = memTree{id, files}
	return nil
}

// Saves is one writer with a number of seals.
func (l *MemLine) Saves(ctx context.Context, s store.Store, c *clock.Manual, seals int) error {
	w, err := s.Begin(ctx, l.Ws)
	if err != nil {
		return err
	}
	for range seals {
		c.Advance(20 * time.Minute)
		if err = l.seal(ctx, w, l.contents(w.Head().Latest+1)); err != nil {
			break
		}
	}
	return errors.Join(err, w.Close())
}

// forget drops the numbers from the first up to last.
func (l *MemLine) forget(ctx context.Context, s store.Store, first, last int64) error {
	w, err := s.Begin(ctx, l.Ws)
	if err != nil {
		return err
	}
	var stones []retake.Tombstone
	for n := first; n <= last; n++ {
		stones = append(stones, retake.Tombstone{Number: n, ID: "gone", At: memoryNoon})
		delete(l.Must, n)
		l.May[n] = true
	}
	return errors.Join(w.Forget(ctx, stones), w.Close())
}

// Check reads the line: what must be there is, with its bytes; what is there
// beside it is whole.
func (l *MemLine) Check(ctx context.Context, s store.Store) error {
	got := map[int64]retake.Entry{}
	err := s.Records(ctx, l.Ws.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
		if leaf != nil {
			got[leaf.Card.Checkpoint.Number] = leaf.Files
		}
		return nil
	})
	if err != nil && (len(l.Must) > 0 || !errors.Is(err, store.ErrNotFound)) {
		return fmt.Errorf("list: %w", err)
	}
	newest := int64(0)
	for n := range l.Must {
		newest = max(newest, n)
	}
	for n, t := range l.Must {
		if got[n].Object != t.tree {
			return fmt.Errorf("acknowledged checkpoint %d is %q instead of %s", n, got[n].Object, t.tree)
		}
		if n < newest-1 { // the scrub reads those
			continue
		}
		if err := readTree(ctx, s, got[n], t.files); err != nil {
			return fmt.Errorf("acknowledged checkpoint %d: %w", n, err)
		}
	}
	rep, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err == nil && len(rep.Failed) > 0 {
		err = fmt.Errorf("%d damaged, first %s", len(rep.Failed), rep.Failed[0])
	}
	if err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	return nil
}

func readTree(ctx context.Context, s store.Store, root retake.Entry, want map[string][]byte) error {
	top, err := s.Dir(ctx, root.Object)
	if err != nil {
		return err
	}
	entries, err := s.Dir(ctx, top[0].Object)
	if err != nil {
		return err
	}
	if len(entries) != len(want) {
		return fmt.Errorf("%d files instead of %d", len(entries), len(want))
	}
	for _, e := range entries {
		r, err := s.File(ctx, e.Object)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		if !bytes.Equal(b, want[e.Name]) {
			return fmt.Errorf("%s reads otherwise", e.Name)
		}
	}
	return nil
}

// memStore opens the store on a file system in memory, and makes it when it is new.
func memStore(ctx context.Context, fsys fsx.FS, c clock.Clock) (*kopia.Store, error) {
	return kopia.Create(ctx, kopia.Options{Dir: "/store", FS: fsys, Locks: fsx.NewMemoryLocks(), Clock: c, Derivation: harness.Derivation})
}

// OnMemory runs f on an open store.
func OnMemory(ctx context.Context, fsys fsx.FS, c clock.Clock, f func(s store.Store) error) error {
	s, err := memStore(ctx, fsys, c)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}
