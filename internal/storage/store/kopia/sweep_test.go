package kopia_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// gateHook calls a function when a sweep has marked and asks to be alone.
type gateHook struct {
	fsx.Locks
	alone func()
}

func (g *gateHook) Lock(ctx context.Context, name string, exclusive bool) (func(), error) {
	if f := g.alone; name == "gate" && exclusive && f != nil {
		g.alone = nil
		f()
	}
	return g.Locks.Lock(ctx, name, exclusive)
}

// sweepTest is a store with one history.
type sweepTest struct {
	*testing.T
	s    *kopia.Store
	dir  string
	ws   retake.Workspace
	hook *gateHook
	next int64
}

func newSweepTest(t *testing.T, sole bool) *sweepTest {
	t.Helper()
	y := &sweepTest{T: t, dir: t.TempDir(), hook: &gateHook{Locks: fsx.NewLocks(t.TempDir())}}
	y.ws = retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "yard", Created: time.Unix(1e9, 0).UTC()}
	s, err := kopia.Create(t.Context(), kopia.Options{Dir: y.dir, FS: fsx.OS(), Locks: y.hook, Clock: clock.Wall, Exclusive: sole, Derivation: derivation})
	if err != nil {
		t.Fatal(err)
	}
	y.s = s
	t.Cleanup(func() { _ = s.Close() })
	return y
}

func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b) // never fails
	return b
}

// seal adds a checkpoint with these files.
func (y *sweepTest) seal(files ...[]byte) retake.Checkpoint {
	y.Helper()
	ctx := y.Context()
	w, err := y.s.Begin(ctx, y.ws)
	if err != nil {
		y.Fatal(err)
	}
	defer w.Close()
	entries := make([]retake.Entry, len(files))
	var all sync.WaitGroup
	for i, b := range files { // at once: their pieces lie in the same packs
		all.Go(func() {
			id, n, err := w.WriteFile(ctx, "f", bytes.NewReader(b))
			if err != nil {
				y.Error(err)
			}
			entries[i] = retake.Entry{Name: fmt.Sprint(i), Kind: retake.KindFile, Mode: 0o600, Size: n, Object: id}
		})
	}
	all.Wait()
	id, sum, err := w.WriteDir(ctx, entries, 0)
	if err != nil {
		y.Fatal(err)
	}
	y.next++
	root := retake.Entry{Kind: retake.KindDir, Mode: 0o700, Object: id, Sum: sum}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: y.ws.ID, Number: y.next, Time: time.Unix(1e9+y.next, 0).UTC(), Tree: id}
	if err := w.Seal(ctx, store.SealRequest{Card: retake.Card{V: 1, Checkpoint: cp}, Files: root}); err != nil {
		y.Fatal(err)
	}
	return cp
}

func (y *sweepTest) forget(cps ...retake.Checkpoint) {
	y.Helper()
	w, err := y.s.Begin(y.Context(), y.ws)
	if err != nil {
		y.Fatal(err)
	}
	defer w.Close()
	for _, cp := range cps {
		if err := w.Forget(y.Context(), []retake.Tombstone{{Number: cp.Number, ID: cp.ID, Time: cp.Time, At: cp.Time}}); err != nil {
			y.Fatal(err)
		}
	}
}

func (y *sweepTest) entries(cp retake.Checkpoint) []retake.Entry {
	y.Helper()
	entries, err := y.s.Dir(y.Context(), cp.Tree)
	if err != nil {
		y.Fatalf("checkpoint %d: %v", cp.Number, err)
	}
	return entries
}

func (y *sweepTest) open(cp retake.Checkpoint, i int) io.ReadSeekCloser {
	y.Helper()
	f, err := y.s.File(y.Context(), y.entries(cp)[i].Object)
	if err != nil {
		y.Fatalf("checkpoint %d: %v", cp.Number, err)
	}
	return f
}

func (y *sweepTest) wantFiles(cp retake.Checkpoint, files ...[]byte) {
	y.Helper()
	for i, want := range files {
		f := y.open(cp, i)
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || !bytes.Equal(got, want) {
			y.Fatalf("file %d of checkpoint %d: %v, %d bytes", i, cp.Number, err, len(got))
		}
	}
}

func (y *sweepTest) sweep(o store.SweepOptions) retake.SweepReport {
	y.Helper()
	rep, err := y.s.Sweep(y.Context(), o)
	if err != nil {
		y.Fatal(err)
	}
	return rep
}

// What is sealed while a sweep marks is not swept, though its bytes were garbage when
// the mark began: the writer found them stored and did not write them again.
func TestWhatComesBackDuringAMarkStays(t *testing.T) {
	t.Parallel()
	for _, sole := range []bool{false, true} {
		y := newSweepTest(t, sole)
		a, b, old := randomBytes(1, 300<<10), randomBytes(2, 300<<10), randomBytes(3, 900<<10)
		y.seal(a)
		gone := y.seal(old, b)
		y.seal(a)
		y.forget(gone)
		var again, later retake.Checkpoint
		y.hook.alone = func() {
			again = y.seal(old, a)
			later = y.seal(randomBytes(4, 300<<10))
		}
		before := y.sweep(store.SweepOptions{})
		y.wantFiles(again, old, a)
		y.wantFiles(later, randomBytes(4, 300<<10))
		after := y.sweep(store.SweepOptions{})
		y.wantFiles(again, old, a)
		if after.After > before.Before { // b went, old did not
			t.Errorf("sole %v: %+v, then %+v", sole, before, after)
		}
		y.forget(again)
		y.sweep(store.SweepOptions{})
		if rep := y.sweep(store.SweepOptions{}); rep.After > before.Before-int64(len(old))/2 {
			t.Errorf("sole %v: nothing is given back: %+v", sole, rep)
		}
	}
}

// Who reads while packs are rewritten goes on reading, and what he reads from is not in the
// way forever.
func TestReadersOutliveASweep(t *testing.T) {
	t.Parallel()
	y := newSweepTest(t, true)
	big := randomBytes(5, 40<<20) // several pieces, read one by one
	small := randomBytes(6, 300<<10)
	chaff := y.seal(randomBytes(100, 40<<20), big)
	keep := y.seal(big, small)
	y.seal(small)
	y.forget(chaff)
	r := y.open(keep, 0)
	head := make([]byte, 1<<20)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Fatal(err)
	}
	y.sweep(store.SweepOptions{})
	rest, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(append(head, rest...), big) {
		t.Fatalf("the rest after a sweep: %v, %d bytes", err, len(rest))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	packs := y.packs()
	y.sweep(store.SweepOptions{})
	if now := y.packs(); now == packs {
		t.Error("no pack was rewritten when the reader was gone: this test sees nothing")
	}
	y.wantFiles(keep, big, small)
}

// packs names all packs.
func (y *sweepTest) packs() string {
	y.Helper()
	found, err := filepath.Glob(filepath.Join(y.dir, "blobs", "p*"))
	if err != nil {
		y.Fatal(err)
	}
	return strings.Join(found, " ")
}

// sealMostlyGarbage adds n packs of which a quarter is still needed, by the checkpoints that it returns.
func (y *sweepTest) sealMostlyGarbage(n int) (keep []retake.Checkpoint) {
	y.Helper()
	var chaff []retake.Checkpoint
	for i := range n {
		live := randomBytes(uint64(50+i), 1<<20)
		chaff = append(chaff, y.seal(randomBytes(uint64(i), 3<<20), live))
		keep = append(keep, y.seal(live))
	}
	y.seal([]byte("newest"))
	y.forget(chaff...)
	return keep
}

func (y *sweepTest) wantKept(keep []retake.Checkpoint) {
	y.Helper()
	for i, cp := range keep {
		y.wantFiles(cp, randomBytes(uint64(50+i), 1<<20))
	}
}

// A sweep needs the room of what it copies at once, not of what there is.
func TestASweepKeepsToItsRoom(t *testing.T) {
	t.Parallel()
	y := newSweepTest(t, true)
	keep := y.sealMostlyGarbage(12)
	rep := y.sweep(store.SweepOptions{Room: 2 << 20})
	if rep.After > 16<<20 || rep.Peak > 8<<20 {
		t.Errorf("%+v", rep)
	}
	y.wantKept(keep)
}

// lateWriter is a lock file of a store in which a writer comes as soon as a sweep is alone.
type lateWriter struct {
	fsx.Locks
	come  func() // in a goroutine of its own
	asked chan struct{}
	once  sync.Once
	turns atomic.Int32 // how often the sweep was alone
}

func (l *lateWriter) Lock(ctx context.Context, name string, exclusive bool) (func(), error) {
	if name == "gate" && !exclusive && l.turns.Load() == 1 {
		l.once.Do(func() { close(l.asked) })
	}
	release, err := l.Locks.Lock(ctx, name, exclusive)
	if err == nil && name == "use" && exclusive {
		if l.turns.Add(1) == 1 {
			go l.come()
			<-l.asked
		}
	}
	return release, err
}

// A sweep that nobody may stop lets a writer in between two batches.
func TestWritersDoNotWaitForAWholeSweep(t *testing.T) {
	t.Parallel()
	y := newSweepTest(t, true)
	keep := y.sealMostlyGarbage(4)
	var late retake.Checkpoint
	saved := make(chan struct{})
	locks := &lateWriter{Locks: y.hook.Locks, asked: make(chan struct{}), come: func() {
		defer close(saved)
		late = y.seal([]byte("late"))
	}}
	y.hook.Locks = locks
	y.s.ShortenTurns()
	rep := y.sweep(store.SweepOptions{Room: 1 << 20})
	if n := locks.turns.Load(); n < 2 {
		t.Errorf("it was alone %d times, want 2 or more", n)
	}
	<-saved
	if rep.After > 6<<20 {
		t.Errorf("the rest was left: %+v", rep)
	}
	y.wantFiles(late, []byte("late"))
	y.wantKept(keep)
}

// A wipe that waits for a reader stops nobody for long: the reader reads on, others read, a writer
// saves, and when the reader has ended, so does the wipe.
func TestAWipeWaitsForReadersAlone(t *testing.T) {
	t.Parallel()
	y := newSweepTest(t, true)
	y.s.SetReaderExit(200 * time.Millisecond)
	big, small := randomBytes(5, 20<<20), randomBytes(6, 300<<10)
	chaff := y.seal(randomBytes(100, 3<<20), big)
	keep := y.seal(big, small)
	y.forget(chaff)
	r := y.open(keep, 0)
	head := make([]byte, 1<<20)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Fatal(err)
	}
	wiped := make(chan error, 1)
	go func() {
		_, err := y.s.Sweep(t.Context(), store.SweepOptions{Wipe: true})
		wiped <- err
	}()
	for range 3 { // each has to get past the wipe
		y.wantFiles(keep, big, small)
		y.seal([]byte("beside a wipe"))
	}
	rest, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(append(head, rest...), big) {
		t.Fatalf("the rest beside a wipe: %v, %d bytes", err, len(rest))
	}
	select {
	case err := <-wiped:
		t.Fatalf("it ended beside a reader: %v", err)
	default:
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-wiped; err != nil {
		t.Fatal(err)
	}
	y.wantFiles(keep, big, small)
}

// A reader that never ends makes a wipe give up, and it says so.
func TestAWipeGivesUpBesideAReader(t *testing.T) {
	t.Parallel()
	y := newSweepTest(t, true)
	y.s.SetReaderExit(time.Millisecond)
	keep := y.seal(randomBytes(6, 300<<10))
	r := y.open(keep, 0)
	defer r.Close()
	if _, err := y.s.Sweep(t.Context(), store.SweepOptions{Wipe: true}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("beside a reader: %v, want ErrBusy", err)
	}
}

// A sweep that waits for a long scrub does not keep writers out until that ends.
func TestWritersDoNotWaitForAScrub(t *testing.T) {
	t.Parallel()
	y := newSweepTest(t, true)
	y.s.SetWriterExit(50 * time.Millisecond)
	y.seal([]byte("one"))
	release, err := y.s.HoldShared(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	swept := make(chan error, 1)
	asked := make(chan struct{})
	y.hook.alone = func() { close(asked) }
	go func() {
		_, err := y.s.Sweep(t.Context(), store.SweepOptions{})
		swept <- err
	}()
	<-asked
	for range 3 {
		y.seal([]byte("beside a sweep that waits"))
	}
	select {
	case err := <-swept:
		t.Fatalf("it ended beside a scrub: %v", err)
	default:
	}
	release()
	if err := <-swept; err != nil {
		t.Fatal(err)
	}
}
