package service_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// fakeDisk is a file system with a settable amount of free space.
type fakeDisk struct {
	fsx.FS
	free atomic.Int64
}

const diskSize = 1e12

func (d *fakeDisk) FreeSpace(string) (int64, int64, error) { return d.free.Load(), diskSize, nil }

// retentionFixture is a service on a store in memory, with a clock and a disk that tests
// control.
type retentionFixture struct {
	*testing.T
	s      *service.Service
	disk   *fakeDisk
	clock  *clock.Manual
	home   string
	root   string
	ws     retake.WorkspaceID
	st     *memorytest.Store
	budget atomic.Int64
	floor  atomic.Int64
	within atomic.Int64
	gone   atomic.Int64          // after how long nothing is kept
	blind  atomic.Bool           // the catalog does not know of forks
	asked  func(catalog.Catalog) // once, after the catalog was first asked for commits
}

// partialCatalog is a catalog that may be rebuilt only in part.
type partialCatalog struct {
	catalog.Catalog
	r *retentionFixture
}

func (c *partialCatalog) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	all, err := c.Catalog.Workspaces(ctx)
	if c.r.blind.Load() {
		all = slices.DeleteFunc(all, func(w retake.WorkspaceState) bool { return w.Origin != nil })
	}
	return all, err
}

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

func newRetentionFixture(t *testing.T, sole bool) *retentionFixture {
	t.Helper()
	r := &retentionFixture{T: t, disk: &fakeDisk{FS: fsx.OS()}, clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)), home: t.TempDir(), root: filepath.Join(t.TempDir(), "shop"), st: memorytest.New()}
	r.disk.free.Store(diskSize / 2)
	r.within.Store(int64(30 * day))
	r.open(sole, r.disk)
	r.must(os.Mkdir(r.root, 0o755))
	r.write("start")
	res, err := r.s.Init(t.Context(), retake.InitRequest{Dir: r.root})
	r.must(err)
	r.ws = res.Workspace.ID
	return r
}

func (r *retentionFixture) open(sole bool, seam fsx.FS) {
	r.Helper()
	for _, dir := range []string{"index", "returns"} {
		r.must(os.MkdirAll(filepath.Join(r.home, dir), 0o700))
	}
	cat, err := sqlite.Open(r.Context(), filepath.Join(r.home, "catalog.db"), "local", sqlite.Options{})
	r.must(err)
	r.s = service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   &partialCatalog{cat, r},
			OpenStore: func(context.Context, bool) (store.Store, error) { return r.st, nil },
			FS:        seam, IndexDir: filepath.Join(r.home, "index"), DataDir: r.home,
			RestoreDir: filepath.Join(r.home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: r.clock, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute, Exclusive: sole,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return r.floor.Load() },
		},
		Maintenance: maintenance.Options{Budget: func(int64) int64 { return r.budget.Load() }, Within: func(retake.WorkspaceID) time.Duration { return time.Duration(r.within.Load()) }, GoneAfter: func(retake.WorkspaceID) time.Duration { return time.Duration(r.gone.Load()) }},
	})
	s := r.s
	r.Cleanup(func() { _ = s.Close() })
}

func (r *retentionFixture) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *retentionFixture) write(text string) {
	r.Helper()
	r.must(os.WriteFile(filepath.Join(r.root, "a"), []byte(text), 0o644))
}

// saveMany takes n automatic checkpoints, each that long after the one before.
func (r *retentionFixture) saveMany(n int, step time.Duration) retake.Checkpoint {
	r.Helper()
	return r.saveManyWith(n, step, retake.SaveRequest{Trigger: retake.TriggerQuiet})
}

func (r *retentionFixture) saveManyWith(n int, step time.Duration, req retake.SaveRequest) retake.Checkpoint {
	r.Helper()
	var last retake.Checkpoint
	for i := range n {
		r.clock.Advance(step)
		r.write(fmt.Sprintf("%d at %v", i, r.clock.Now()))
		req.Workspace = r.ws
		res, err := r.s.Save(r.Context(), req)
		r.must(err)
		last = res.Checkpoint
	}
	return last
}

func (r *retentionFixture) numbers() []int64 {
	r.Helper()
	tl, err := r.s.Log(r.Context(), retake.LogQuery{Workspace: r.ws})
	r.must(err)
	var out []int64
	for _, cp := range tl.Checkpoints {
		out = append(out, cp.Number)
	}
	slices.Sort(out)
	return out
}

func (r *retentionFixture) thin() retake.ThinReport {
	r.Helper()
	rep, err := r.s.Thin(r.Context(), retake.ThinRequest{})
	r.must(err)
	return rep
}

// fillDisk puts the disk below its floor, for good: all goes that may ever go.
func (r *retentionFixture) fillDisk() {
	r.floor.Store(1e9)
	r.disk.free.Store(1)
}

func (r *retentionFixture) freeDisk() { r.disk.free.Store(diskSize / 2) }

// waitUntil waits for something, looking often.
func (r *retentionFixture) waitUntil(what string, f func() bool) {
	r.Helper()
	end := time.NewTimer(3 * time.Minute)
	defer end.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !f() {
		select {
		case <-end.C:
			r.Fatalf("it never came: %s", what)
		case <-again.C:
		}
	}
}
