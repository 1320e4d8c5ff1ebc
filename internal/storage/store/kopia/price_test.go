package kopia_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// pricedStore is a store whose saves are timed, and their syncs counted.
type pricedStore struct {
	*kopia.Store
	dir   string
	ops   *fsxtest.Counter
	ws    retake.Workspace
	took  []time.Duration
	syncs []int64
}

func newPricedStore(t *testing.T) *pricedStore {
	t.Helper()
	p := &pricedStore{dir: t.TempDir(), ws: retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"}}
	counted, ops := fsxtest.NewCountingFS(fsx.OS())
	p.ops = ops
	s, err := kopia.Create(t.Context(), kopia.Options{Dir: p.dir, FS: counted, Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: true, Derivation: derivation})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p.Store = s
	return p
}

// save seals ten changed files in a directory beside 200 others, and measures it.
func (p *pricedStore) save(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	before, began := p.ops.SyncCount(), time.Now()
	if err := p.seal(t.Context(), rnd); err != nil {
		t.Fatal(err)
	}
	p.took = append(p.took, time.Since(began))
	p.syncs = append(p.syncs, p.ops.SyncCount()-before)
}

func (p *pricedStore) seal(ctx context.Context, rnd *rand.Rand) error {
	w, err := p.Begin(ctx, p.ws)
	if err != nil {
		return err
	}
	defer w.Close() // sealed, or reported
	var files []retake.Entry
	var same retake.ObjectID
	for i := range 210 {
		text := []byte("the same")
		if i < 10 {
			text = make([]byte, 5000)
			for at := range text {
				text[at] = byte('a' + rnd.IntN(16)) // compresses to about a half, as code does
			}
		}
		e := retake.Entry{Name: fmt.Sprintf("file%03d.go", i), Kind: retake.KindFile, Mode: 0o644, Size: int64(len(text)), Object: same}
		if i <= 10 {
			if e.Object, _, err = w.WriteFile(ctx, e.Name, bytes.NewReader(text)); err != nil {
				return err
			}
			same = e.Object
		}
		files = append(files, e)
	}
	id, sum, err := w.WriteDir(ctx, files, 1)
	if err != nil {
		return err
	}
	root, sum, err := w.WriteDir(ctx, []retake.Entry{{Name: "src", Kind: retake.KindDir, Mode: 0o755, Object: id, Sum: sum}}, 1)
	if err != nil {
		return err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: p.ws.ID, Number: w.Head().Latest + 1, Tree: root}
	return w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: root, Sum: sum}})
}

// size returns the bytes of a directory of the store.
func (p *pricedStore) size(t *testing.T, name string) int64 {
	t.Helper()
	var n int64
	err := filepath.WalkDir(filepath.Join(p.dir, name), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}

func median[T int64 | time.Duration](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// maxSaveSyncs is how many syncs a save may take, with copies and without.
const maxSaveSyncs = 5

// What the second copy of metadata costs: nothing inside a save, and more bytes. SAVES sets how many
// are measured; times are only printed, because they depend on what else the machine does.
func TestPriceOfCopies(t *testing.T) {
	t.Parallel()
	saves := 10
	if n, err := strconv.Atoi(os.Getenv("SAVES")); err == nil {
		saves = n
	}
	with, without := newPricedStore(t), newPricedStore(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	var copying []time.Duration
	var copySyncs []int64
	for range saves {
		without.save(t, rnd)
		with.save(t, rnd)
		before, began := with.ops.SyncCount(), time.Now()
		if err := with.Maintain(t.Context()); err != nil { // as the daemon does in the pause after a save
			t.Fatal(err)
		}
		copying, copySyncs = append(copying, time.Since(began)), append(copySyncs, with.ops.SyncCount()-before)
	}
	blobs, copies := with.size(t, "blobs"), with.size(t, "copies")
	t.Logf("%d saves of ten files: with copies %v, without %v, %.2f times; %d and %d syncs", saves,
		median(with.took), median(without.took), float64(median(with.took))/float64(median(without.took)), median(with.syncs), median(without.syncs))
	t.Logf("beside saves: copying %v, %d syncs; %d bytes a save in blobs, %d in copies, %.2f times the bytes", median(copying), median(copySyncs),
		blobs/int64(saves), copies/int64(saves), float64(blobs+copies)/float64(blobs))
	if got := median(with.syncs); got > maxSaveSyncs || got != median(without.syncs) {
		t.Errorf("a save takes %d syncs with copies and %d without", got, median(without.syncs))
	}
	if copies == 0 || without.size(t, "copies") > with.size(t, "copies")/2 {
		t.Errorf("the store with copies has %d bytes of them, the other %d", copies, without.size(t, "copies"))
	}
}
