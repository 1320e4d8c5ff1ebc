package fork_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

func TestEverythingGrowsFromTheStore(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		st, g := memorytest.New(), p.adaptTree(oddTree())
		rep, have, _ := buildFork(t, fork.Job{Trees: st, Want: storeTree(t, st, g), To: p.to})
		wantEqual(t, g, have)
		files, dirs, filled, bytes := g.counts()
		want := fork.Report{Files: files, Dirs: dirs, Bytes: bytes, Copied: filled}
		if diff := gocmp.Diff(want, rep); diff != "" {
			t.Error(diff)
		}
	})
}

// TestLiveFilesAreTaken: a file that is still there as it was is not asked of the store.
func TestLiveFilesAreTaken(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		st, g := newCountingStore(), p.adaptTree(oddTree())
		delete(g, "none") // the memory lets nobody open it, and the machine root
		root := storeTree(t, st, g)
		var l writtenLog
		_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, OnWritten: l.record})
		must(t, err)
		clear(st.opens)
		rep, have, _ := buildFork(t, fork.Job{Trees: st, Want: root, To: p.to, From: p.live, FindUnchanged: l.stampOf})
		wantEqual(t, g, have)
		_, _, filled, _ := g.counts()
		if rep.Cloned+rep.Copied != filled || p.memory != nil && rep.Copied > 2 {
			t.Errorf("%d files: %+v", filled, rep)
		}
		if n := st.openCount(); p.root && p.memory == nil && n != 1 { // the link
			t.Errorf("%d of the store: %v", n, st.opens)
		}
	})
}

// TestNumberOfTheStamps: stamps may have other numbers than stat returns.
func TestNumberOfTheStamps(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	st, g := newCountingStore(), p.adaptTree(fileSet{"": dir(0o755), "f": file(0o644, "data")})
	root := storeTree(t, st, g)
	var l writtenLog
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, OnWritten: l.record})
	must(t, err)
	shifted := func(path string, e retake.Entry) (fork.Stamp, bool) {
		s, ok := l.stampOf(path, e)
		s.Ino += 1000
		return s, ok
	}
	rep, _, _ := buildFork(t, fork.Job{Trees: st, Want: root, To: p.to, From: p.live, FindUnchanged: shifted,
		InodeNumber: func(i fsx.Info) uint64 { return i.Ino + 1000 }})
	if rep.Cloned != 1 {
		t.Errorf("%+v", rep)
	}
}

func TestBytesOfOneGroupThatDiffer(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		st := memorytest.New()
		a, b, c := file(0o644, "first"), file(0o644, "other"), file(0o644, "first")
		a.Group, b.Group, c.Group = "a", "a", "a"
		g := p.adaptTree(fileSet{"": dir(0o755), "a": a, "b": b, "c": c})
		_, have, _ := buildFork(t, fork.Job{Trees: st, Want: storeTree(t, st, g), To: p.to})
		b.Group = ""
		wantEqual(t, p.adaptTree(fileSet{"": dir(0o755), "a": a, "b": b, "c": c}), have)
	})
}

func TestOwnersThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	p.memory.RefuseChown(true)
	g := oddTree()
	for at, i := range g {
		i.UID, i.GID = 77, 88
		g[at] = i
	}
	st := memorytest.New()
	rep, have, _ := buildFork(t, fork.Job{Trees: st, Want: storeTree(t, st, g), To: p.to})
	for at, i := range g {
		i.UID, i.GID = 0, 0
		i.Mode &^= 0o6000
		g[at] = i
	}
	wantEqual(t, g, have)
	if len(rep.Warnings) != 1 || rep.Warnings[0].Code != "owner" {
		t.Errorf("warnings %+v", rep.Warnings)
	}
}

func TestAttributesThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	st, g := memorytest.New(), p.adaptTree(oddTree())
	root := storeTree(t, st, g)
	rep, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: plainDir{p.to}})
	must(t, err)
	for at, i := range g {
		i.Xattrs = nil
		g[at] = i
	}
	have, _ := readTree(t, p.to)
	wantEqual(t, g, have)
	if len(rep.Warnings) != 1 || rep.Warnings[0].Code != "attributes" {
		t.Errorf("warnings %+v", rep.Warnings)
	}
}

// plainDir is a file system without attributes.
type plainDir struct{ fsx.Dir }

func refuse(d fsx.Metadata) error {
	if len(d.Xattrs) > 0 {
		return errors.ErrUnsupported
	}
	return nil
}

func (d plainDir) OpenDir(name string) (fsx.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	return plainDir{sub}, err
}

func (d plainDir) Link(name string, to fsx.Dir, newName string) error {
	return d.Dir.Link(name, to.(plainDir).Dir, newName)
}

func (d plainDir) SetOwnMetadata(dr fsx.Metadata) error {
	if err := refuse(dr); err != nil {
		return err
	}
	return d.Dir.SetOwnMetadata(dr)
}

func (d plainDir) Create(name string, mode fs.FileMode) (fsx.File, error) {
	f, err := d.Dir.Create(name, mode)
	return plainFile{f}, err
}

type plainFile struct{ fsx.File }

func (f plainFile) SetMetadata(d fsx.Metadata) error {
	if err := refuse(d); err != nil {
		return err
	}
	return f.File.SetMetadata(d)
}

// TestManyFilesOfOneDirectory: several goroutines share a directory, and progress goes
// forward to its end.
func TestManyFilesOfOneDirectory(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		g := fileSet{"": dir(0o755), "d": dir(0o700)}
		for i := range 3000 {
			f := file(0o644, fmt.Sprint("file ", i))
			if i%10 == 0 {
				f.Data, f.Group = "shared", "d/0000"
			}
			g[fmt.Sprintf("d/%04d", i)] = f
		}
		st, want := memorytest.New(), p.adaptTree(g)
		at := want["d/0000"]
		for i := 0; i < 3000; i += 10 {
			want[fmt.Sprintf("d/%04d", i)] = at
		}
		root := storeTree(t, st, want)
		var steps []retake.Progress
		_, have, _ := buildFork(t, fork.Job{Trees: st, Want: root, To: p.to, Workers: 8, Progress: func(s retake.Progress) { steps = append(steps, s) }})
		wantEqual(t, want, have)
		last := retake.Progress{}
		for _, s := range steps {
			if s.Files < last.Files || s.Bytes < last.Bytes || s.Total != root.Sum.Files+root.Sum.Symlinks {
				t.Errorf("%+v comes after %+v", s, last)
			}
			last = s
		}
		if len(steps) < 2 || last.Files != last.Total {
			t.Errorf("%d steps, the last %+v", len(steps), last)
		}
	})
}

// TestFewCallsForAFile holds the price of a clone.
func TestFewCallsForAFile(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	g := fileSet{"": dir(0o755)}
	const n = 500
	for i := range n {
		g[fmt.Sprint(i)] = file(0o644, fmt.Sprint("file ", i))
	}
	g = p.adaptTree(g)
	st := memorytest.New()
	root := storeTree(t, st, g)
	var l writtenLog
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, OnWritten: l.record})
	must(t, err)
	counting, count := fsxtest.NewCountingFS(p.fs)
	to, err := counting.OpenRoot(p.path("to"))
	must(t, err)
	live, err := counting.OpenRoot(p.path("live"))
	must(t, err)
	_, err = fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: to, From: live, FindUnchanged: l.stampOf, OnWritten: func(string, fsx.Info) {}})
	must(t, err)
	want := map[string]int64{
		"FS.OpenRoot": 2, "Dir.Names": 1, "Dir.RemoveXattr": 1, "Dir.DressSelf": 1, "Dir.Stat": 1, "Dir.SyncFS": 1,
		"Dir.OpenFile": n, "Dir.Create": n, "File.CloneFrom": n, "File.Stat": 2 * n, "File.Dress": n, "File.Close": 2 * n,
	}
	if diff := gocmp.Diff(want, count.OpCounts()); diff != "" {
		t.Error(diff)
	}
	if count.SyncCount() != 1 || p.memory.UnsyncedCount() != 0 {
		t.Errorf("%d syncs, %d changes not durable", count.SyncCount(), p.memory.UnsyncedCount())
	}
}

// TestCloningIsGivenUp: two file systems share no storage.
func TestCloningIsGivenUp(t *testing.T) {
	t.Parallel()
	p, other := newMemoryPlace(t), newMemoryPlace(t)
	g := fileSet{"": dir(0o755)}
	for i := range 100 {
		g[fmt.Sprint(i)] = file(0o644, fmt.Sprint("file ", i))
	}
	g = p.adaptTree(g)
	st := newCountingStore()
	root := storeTree(t, st, g)
	var l writtenLog
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, OnWritten: l.record})
	must(t, err)
	clear(st.opens)
	fs, count := fsxtest.NewCountingFS(other.fs)
	to, err := fs.OpenRoot(other.path("to"))
	must(t, err)
	rep, have, _ := buildFork(t, fork.Job{Trees: st, Want: root, To: to, From: p.live, FindUnchanged: l.stampOf, Workers: 1})
	wantEqual(t, g, have)
	if rep.Copied != 100 || rep.Cloned != 0 || st.openCount() != 0 || count.OpCounts()["File.CloneFrom"] > 10 {
		t.Errorf("%+v, %d of the store, %v", rep, st.openCount(), count.OpCounts())
	}
}

// TestFewDirectoriesAreOpen: what was begun is ended before more is begun.
func TestFewDirectoriesAreOpen(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	g := fileSet{"": dir(0o755)}
	for a := range 30 {
		g[fmt.Sprint(a)] = dir(0o755)
		for b := range 30 {
			g[fmt.Sprintf("%d/%d", a, b)] = dir(0o755)
			g[fmt.Sprintf("%d/%d/f", a, b)] = file(0o644, "x")
		}
	}
	g = p.adaptTree(g)
	st := memorytest.New()
	var now, most atomic.Int64
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: storeTree(t, st, g), To: openDirCounter{p.to, &now, &most}, Workers: 4})
	must(t, err)
	if now.Load() != 0 || most.Load() > 3*4 {
		t.Errorf("%d stayed open, %d were at once", now.Load(), most.Load())
	}
}

type openDirCounter struct {
	fsx.Dir
	now, most *atomic.Int64
}

func (d openDirCounter) OpenDir(name string) (fsx.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if n := d.now.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	return openDirCounter{sub, d.now, d.most}, err
}

func (d openDirCounter) Close() error {
	d.now.Add(-1)
	return d.Dir.Close()
}

func TestDeepTree(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		g, at := fileSet{"": dir(0o755)}, ""
		for range 300 {
			at = joinPath(at, "d")
			g[at] = dir(0o500)
		}
		f := file(0o600, "deep")
		f.Group = joinPath(at, "f")
		g[joinPath(at, "f")], g["near"] = f, f
		g = p.adaptTree(g)
		st := memorytest.New()
		_, have, _ := buildFork(t, fork.Job{Trees: st, Want: storeTree(t, st, g), To: p.to})
		wantEqual(t, g, have)
	})
}
