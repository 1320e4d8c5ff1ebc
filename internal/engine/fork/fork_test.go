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
	"github.com/retake-dev/retake/internal/storage/store/memory"
)

func TestEverythingGrowsFromTheStore(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p *place) {
		st, g := memory.New(), p.fit(wild())
		rep, have, _ := grow(t, fork.Job{Trees: st, Want: sow(t, st, g), To: p.to})
		same(t, g, have)
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
	everyPlace(t, func(t *testing.T, p *place) {
		st, g := counting(), p.fit(wild())
		delete(g, "none") // the memory lets nobody open it, and the machine root
		root := sow(t, st, g)
		var l ledger
		_, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, Wrote: l.wrote})
		must(t, err)
		clear(st.opens)
		rep, have, _ := grow(t, fork.Job{Trees: st, Want: root, To: p.to, From: p.live, Same: l.same})
		same(t, g, have)
		_, _, filled, _ := g.counts()
		if rep.Cloned+rep.Copied != filled || p.memory != nil && rep.Copied > 2 {
			t.Errorf("%d files: %+v", filled, rep)
		}
		if n := st.taken(); p.root && p.memory == nil && n != 1 { // the link
			t.Errorf("%d of the store: %v", n, st.opens)
		}
	})
}

// TestNumberOfTheStamps: stamps may have other numbers than stat tells.
func TestNumberOfTheStamps(t *testing.T) {
	t.Parallel()
	p := memoryPlace(t)
	st, g := counting(), p.fit(garden{"": dir(0o755), "f": file(0o644, "data")})
	root := sow(t, st, g)
	var l ledger
	_, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, Wrote: l.wrote})
	must(t, err)
	shifted := func(path string, e retake.Entry) (fork.Stamp, bool) {
		s, ok := l.same(path, e)
		s.Ino += 1000
		return s, ok
	}
	rep, _, _ := grow(t, fork.Job{Trees: st, Want: root, To: p.to, From: p.live, Same: shifted,
		Number: func(i fsx.Info) uint64 { return i.Ino + 1000 }})
	if rep.Cloned != 1 {
		t.Errorf("%+v", rep)
	}
}

func TestBytesOfOneGroupThatDiffer(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p *place) {
		st := memory.New()
		a, b, c := file(0o644, "first"), file(0o644, "other"), file(0o644, "first")
		a.Group, b.Group, c.Group = "a", "a", "a"
		g := p.fit(garden{"": dir(0o755), "a": a, "b": b, "c": c})
		_, have, _ := grow(t, fork.Job{Trees: st, Want: sow(t, st, g), To: p.to})
		b.Group = ""
		same(t, p.fit(garden{"": dir(0o755), "a": a, "b": b, "c": c}), have)
	})
}

func TestOwnersThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	p := memoryPlace(t)
	p.memory.RefuseChown(true)
	g := wild()
	for at, i := range g {
		i.UID, i.GID = 77, 88
		g[at] = i
	}
	st := memory.New()
	rep, have, _ := grow(t, fork.Job{Trees: st, Want: sow(t, st, g), To: p.to})
	for at, i := range g {
		i.UID, i.GID = 0, 0
		i.Mode &^= 0o6000
		g[at] = i
	}
	same(t, g, have)
	if len(rep.Warnings) != 1 || rep.Warnings[0].Code != "owner" {
		t.Errorf("warnings %+v", rep.Warnings)
	}
}

func TestAttributesThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	p := memoryPlace(t)
	st, g := memory.New(), p.fit(wild())
	root := sow(t, st, g)
	rep, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: plainDir{p.to}})
	must(t, err)
	for at, i := range g {
		i.Xattrs = nil
		g[at] = i
	}
	have, _ := reap(t, p.to)
	same(t, g, have)
	if len(rep.Warnings) != 1 || rep.Warnings[0].Code != "attributes" {
		t.Errorf("warnings %+v", rep.Warnings)
	}
}

// plainDir is a file system without attributes.
type plainDir struct{ fsx.Dir }

func refuse(d fsx.Dressing) error {
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

func (d plainDir) DressSelf(dr fsx.Dressing) error {
	if err := refuse(dr); err != nil {
		return err
	}
	return d.Dir.DressSelf(dr)
}

func (d plainDir) Create(name string, mode fs.FileMode) (fsx.File, error) {
	f, err := d.Dir.Create(name, mode)
	return plainFile{f}, err
}

type plainFile struct{ fsx.File }

func (f plainFile) Dress(d fsx.Dressing) error {
	if err := refuse(d); err != nil {
		return err
	}
	return f.File.Dress(d)
}

// TestManyFilesOfOneDirectory: several goroutines share a directory, and progress goes
// forward to its end.
func TestManyFilesOfOneDirectory(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p *place) {
		g := garden{"": dir(0o755), "d": dir(0o700)}
		for i := range 3000 {
			f := file(0o644, fmt.Sprint("file ", i))
			if i%10 == 0 {
				f.Data, f.Group = "shared", "d/0000"
			}
			g[fmt.Sprintf("d/%04d", i)] = f
		}
		st, want := memory.New(), p.fit(g)
		at := want["d/0000"]
		for i := 0; i < 3000; i += 10 {
			want[fmt.Sprintf("d/%04d", i)] = at
		}
		root := sow(t, st, want)
		var steps []retake.Progress
		_, have, _ := grow(t, fork.Job{Trees: st, Want: root, To: p.to, Workers: 8, Progress: func(s retake.Progress) { steps = append(steps, s) }})
		same(t, want, have)
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
	p := memoryPlace(t)
	g := garden{"": dir(0o755)}
	const n = 500
	for i := range n {
		g[fmt.Sprint(i)] = file(0o644, fmt.Sprint("file ", i))
	}
	g = p.fit(g)
	st := memory.New()
	root := sow(t, st, g)
	var l ledger
	_, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, Wrote: l.wrote})
	must(t, err)
	counting, count := fsx.Counting(p.fs)
	to, err := counting.OpenRoot(p.path("to"))
	must(t, err)
	live, err := counting.OpenRoot(p.path("live"))
	must(t, err)
	_, err = fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: to, From: live, Same: l.same, Wrote: func(string, fsx.Info) {}})
	must(t, err)
	want := map[string]int64{
		"FS.OpenRoot": 2, "Dir.Names": 1, "Dir.DressSelf": 1, "Dir.Stat": 1, "Dir.SyncFS": 1,
		"Dir.OpenFile": n, "Dir.Create": n, "File.CloneFrom": n, "File.Stat": 2 * n, "File.Dress": n, "File.Close": 2 * n,
	}
	if diff := gocmp.Diff(want, count.Ops()); diff != "" {
		t.Error(diff)
	}
	if count.Syncs() != 1 || p.memory.Unsynced() != 0 {
		t.Errorf("%d syncs, %d changes not durable", count.Syncs(), p.memory.Unsynced())
	}
}

// TestCloningIsGivenUp: two file systems share no storage.
func TestCloningIsGivenUp(t *testing.T) {
	t.Parallel()
	p, other := memoryPlace(t), memoryPlace(t)
	g := garden{"": dir(0o755)}
	for i := range 100 {
		g[fmt.Sprint(i)] = file(0o644, fmt.Sprint("file ", i))
	}
	g = p.fit(g)
	st := counting()
	root := sow(t, st, g)
	var l ledger
	_, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, Wrote: l.wrote})
	must(t, err)
	clear(st.opens)
	fs, count := fsx.Counting(other.fs)
	to, err := fs.OpenRoot(other.path("to"))
	must(t, err)
	rep, have, _ := grow(t, fork.Job{Trees: st, Want: root, To: to, From: p.live, Same: l.same, Workers: 1})
	same(t, g, have)
	if rep.Copied != 100 || rep.Cloned != 0 || st.taken() != 0 || count.Ops()["File.CloneFrom"] > 10 {
		t.Errorf("%+v, %d of the store, %v", rep, st.taken(), count.Ops())
	}
}

// TestFewDirectoriesAreOpen: what was begun is ended before more is begun.
func TestFewDirectoriesAreOpen(t *testing.T) {
	t.Parallel()
	p := memoryPlace(t)
	g := garden{"": dir(0o755)}
	for a := range 30 {
		g[fmt.Sprint(a)] = dir(0o755)
		for b := range 30 {
			g[fmt.Sprintf("%d/%d", a, b)] = dir(0o755)
			g[fmt.Sprintf("%d/%d/f", a, b)] = file(0o644, "x")
		}
	}
	g = p.fit(g)
	st := memory.New()
	var now, most atomic.Int64
	_, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: sow(t, st, g), To: gauge{p.to, &now, &most}, Workers: 4})
	must(t, err)
	if now.Load() != 0 || most.Load() > 3*4 {
		t.Errorf("%d stayed open, %d were at once", now.Load(), most.Load())
	}
}

type gauge struct {
	fsx.Dir
	now, most *atomic.Int64
}

func (d gauge) OpenDir(name string) (fsx.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if n := d.now.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	return gauge{sub, d.now, d.most}, err
}

func (d gauge) Close() error {
	d.now.Add(-1)
	return d.Dir.Close()
}

func TestDeepTree(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p *place) {
		g, at := garden{"": dir(0o755)}, ""
		for range 300 {
			at = under(at, "d")
			g[at] = dir(0o500)
		}
		f := file(0o600, "deep")
		f.Group = under(at, "f")
		g[under(at, "f")], g["near"] = f, f
		g = p.fit(g)
		st := memory.New()
		_, have, _ := grow(t, fork.Job{Trees: st, Want: sow(t, st, g), To: p.to})
		same(t, g, have)
	})
}
