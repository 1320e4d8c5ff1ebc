package fork_test

import (
	"context"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

const stored = "as it was stored"

// buildLive grows a tree into the live directory and returns the stamps.
func buildLive(t testing.TB, p *testPlace, st store.Store, g fileSet) (retake.Entry, *writtenLog) {
	t.Helper()
	root := storeTree(t, st, g)
	var l writtenLog
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, OnWritten: l.record})
	must(t, err)
	return root, &l
}

// changes are what may happen to live/d/f after its capture. Each leaves the path with
// something that may not be taken.
var changes = map[string]func(t *testing.T, p *testPlace, d fsx.Dir){
	"written over": func(t *testing.T, p *testPlace, d fsx.Dir) {
		f, err := d.Append("f", 0o644)
		must(t, err)
		defer f.Close()
		must(t, f.Truncate(0))
		_, err = f.Write([]byte(strings.ToUpper(stored)))
		must(t, err)
		must(t, f.SetMtime(testTime+int64(len(stored)))) // only the change time tells
	},
	"longer": func(t *testing.T, p *testPlace, d fsx.Dir) {
		f, err := d.Append("f", 0o644)
		must(t, err)
		defer f.Close()
		_, err = f.Write([]byte(strings.Repeat("more ", 50_000)))
		must(t, err)
	},
	"gone":     func(t *testing.T, p *testPlace, d fsx.Dir) { must(t, d.Remove("f")) },
	"replaced": func(t *testing.T, p *testPlace, d fsx.Dir) { writeFile(t, d, "f", strings.ToUpper(stored)) },
	"a link": func(t *testing.T, p *testPlace, d fsx.Dir) {
		writeFile(t, p.outside, "secret", "of another")
		must(t, d.Remove("f"))
		must(t, d.Symlink(p.path("outside", "secret"), "f"))
	},
	"a link to the file itself": func(t *testing.T, p *testPlace, d fsx.Dir) {
		must(t, d.Rename("f", p.outside, "f"))
		must(t, d.Symlink(p.path("outside", "f"), "f"))
	},
	"a fifo": func(t *testing.T, p *testPlace, d fsx.Dir) {
		must(t, d.Remove("f"))
		must(t, d.Mknod("f", fsx.FIFO, 0o644))
	},
	"a directory": func(t *testing.T, p *testPlace, d fsx.Dir) {
		must(t, d.Remove("f"))
		must(t, d.Mkdir("f", 0o755))
	},
	"behind a link": func(t *testing.T, p *testPlace, d fsx.Dir) {
		must(t, p.live.Rename("d", p.outside, "d"))
		must(t, p.live.Symlink(p.path("outside", "d"), "d"))
	},
	"another mode": func(t *testing.T, p *testPlace, d fsx.Dir) {
		i, err := d.Lstat("f")
		must(t, err)
		must(t, d.SetMetadata("f", i.Ino, fsx.Metadata{Mode: 0o600, Mtime: i.Mtime}))
	},
	"of no directory": func(t *testing.T, p *testPlace, d fsx.Dir) {
		must(t, d.Remove("f"))
		must(t, p.live.RemoveDir("d"))
		writeFile(t, p.live, "d", "x")
	},
}

// TestChangedFilesComeFromTheStore: nothing of a live file counts that is not as it was.
func TestChangedFilesComeFromTheStore(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEveryPlace(t, func(t *testing.T, p *testPlace) {
				st := newCountingStore()
				g := p.adaptTree(fileSet{"": dir(0o755), "d": dir(0o755), "d/f": file(0o644, stored), "still": file(0o644, "still")})
				root, l := buildLive(t, p, st, g)
				d, err := p.live.OpenDir("d")
				must(t, err)
				defer d.Close()
				change(t, p, d)
				clear(st.opens)
				rep, have, _ := buildFork(t, fork.Job{Trees: st, Want: root, To: p.to, From: p.live, FindUnchanged: l.stampOf})
				wantEqual(t, g, have)
				if st.openCount() != 1 || rep.Cloned+rep.Copied != 2 {
					t.Errorf("%d files of the store, %+v", st.openCount(), rep)
				}
			})
		})
	}
}

// hookedDir changes the live file when its bytes were just taken.
type hookedDir struct {
	fsx.Dir
	meddle func()
}

func (d hookedDir) Create(name string, mode fs.FileMode) (fsx.File, error) {
	f, err := d.Dir.Create(name, mode)
	return hookedFile{f, d.meddle}, err
}

func (d hookedDir) OpenFile(name string) (fsx.File, error) {
	f, err := d.Dir.OpenFile(name)
	return hookedFile{f, d.meddle}, err
}

type hookedFile struct {
	fsx.File
	meddle func()
}

func (f hookedFile) CloneFrom(src fsx.File) error {
	err := f.File.CloneFrom(src)
	f.meddle()
	return err
}

func (f hookedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.meddle()
	return n, err
}

// TestFileThatChangesWhileItIsTaken: a clone and a copy are dropped alike, to the last byte.
func TestFileThatChangesWhileItIsTaken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100_000)
	for name, copies := range map[string]bool{"cloned": false, "copied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newMemoryPlace(t)
			st := newCountingStore()
			g := p.adaptTree(fileSet{"": dir(0o755), "f": file(0o644, long)})
			root, l := buildLive(t, p, st, g)
			var happened atomic.Bool
			meddle := func() {
				if !happened.Swap(true) {
					must(t, p.memory.WriteFile(p.path("live", "f"), []byte(long+"and more"), 0o644))
				}
			}
			j := fork.Job{Trees: st, Want: root, To: hookedDir{p.to, meddle}, From: p.live, FindUnchanged: l.stampOf}
			if copies {
				j.To, j.From = p.to, hookedDir{p.live, meddle} // what is wrapped cannot be cloned
			}
			clear(st.opens)
			rep, err := fork.Build(context.Background(), j)
			must(t, err)
			have, _ := readTree(t, p.to)
			wantEqual(t, g, have)
			if !happened.Load() || st.openCount() != 1 || rep.Copied != 1 || rep.Cloned != 0 {
				t.Errorf("%d of the store, %+v", st.openCount(), rep)
			}
		})
	}
}
