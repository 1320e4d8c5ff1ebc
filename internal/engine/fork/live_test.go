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

// plant grows a tree into the live directory and answers the stamps.
func plant(t testing.TB, p *place, st store.Store, g garden) (retake.Entry, *ledger) {
	t.Helper()
	root := sow(t, st, g)
	var l ledger
	_, err := fork.Grow(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, Wrote: l.wrote})
	must(t, err)
	return root, &l
}

// changes are what may happen to live/d/f after its capture. Each leaves the path with
// something that may not be taken.
var changes = map[string]func(t *testing.T, p *place, d fsx.Dir){
	"written over": func(t *testing.T, p *place, d fsx.Dir) {
		f, err := d.Append("f", 0o644)
		must(t, err)
		defer f.Close()
		must(t, f.Truncate(0))
		_, err = f.Write([]byte(strings.ToUpper(stored)))
		must(t, err)
		must(t, f.SetMtime(then+int64(len(stored)))) // only the change time tells
	},
	"longer": func(t *testing.T, p *place, d fsx.Dir) {
		f, err := d.Append("f", 0o644)
		must(t, err)
		defer f.Close()
		_, err = f.Write([]byte(strings.Repeat("more ", 50_000)))
		must(t, err)
	},
	"gone":     func(t *testing.T, p *place, d fsx.Dir) { must(t, d.Remove("f")) },
	"replaced": func(t *testing.T, p *place, d fsx.Dir) { writeFile(t, d, "f", strings.ToUpper(stored)) },
	"a link": func(t *testing.T, p *place, d fsx.Dir) {
		writeFile(t, p.outside, "secret", "of another")
		must(t, d.Remove("f"))
		must(t, d.Symlink(p.path("outside", "secret"), "f"))
	},
	"a link to the file itself": func(t *testing.T, p *place, d fsx.Dir) {
		must(t, d.Rename("f", p.outside, "f"))
		must(t, d.Symlink(p.path("outside", "f"), "f"))
	},
	"a fifo": func(t *testing.T, p *place, d fsx.Dir) {
		must(t, d.Remove("f"))
		must(t, d.Special("f", fsx.FIFO, 0o644))
	},
	"a directory": func(t *testing.T, p *place, d fsx.Dir) {
		must(t, d.Remove("f"))
		must(t, d.Mkdir("f", 0o755))
	},
	"behind a link": func(t *testing.T, p *place, d fsx.Dir) {
		must(t, p.live.Rename("d", p.outside, "d"))
		must(t, p.live.Symlink(p.path("outside", "d"), "d"))
	},
	"another mode": func(t *testing.T, p *place, d fsx.Dir) {
		i, err := d.Lstat("f")
		must(t, err)
		must(t, d.Dress("f", i.Ino, fsx.Dressing{Mode: 0o600, Mtime: i.Mtime}))
	},
	"of no directory": func(t *testing.T, p *place, d fsx.Dir) {
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
			everyPlace(t, func(t *testing.T, p *place) {
				st := counting()
				g := p.fit(garden{"": dir(0o755), "d": dir(0o755), "d/f": file(0o644, stored), "still": file(0o644, "still")})
				root, l := plant(t, p, st, g)
				d, err := p.live.OpenDir("d")
				must(t, err)
				defer d.Close()
				change(t, p, d)
				clear(st.opens)
				rep, have, _ := grow(t, fork.Job{Trees: st, Want: root, To: p.to, From: p.live, Same: l.same})
				same(t, g, have)
				if st.taken() != 1 || rep.Cloned+rep.Copied != 2 {
					t.Errorf("%d files of the store, %+v", st.taken(), rep)
				}
			})
		})
	}
}

// meddler changes the live file when its bytes were just taken.
type meddler struct {
	fsx.Dir
	meddle func()
}

func (d meddler) Create(name string, mode fs.FileMode) (fsx.File, error) {
	f, err := d.Dir.Create(name, mode)
	return meddled{f, d.meddle}, err
}

func (d meddler) OpenFile(name string) (fsx.File, error) {
	f, err := d.Dir.OpenFile(name)
	return meddled{f, d.meddle}, err
}

type meddled struct {
	fsx.File
	meddle func()
}

func (f meddled) CloneFrom(src fsx.File) error {
	err := f.File.CloneFrom(src)
	f.meddle()
	return err
}

func (f meddled) ReadAt(p []byte, off int64) (int, error) {
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
			p := memoryPlace(t)
			st := counting()
			g := p.fit(garden{"": dir(0o755), "f": file(0o644, long)})
			root, l := plant(t, p, st, g)
			var happened atomic.Bool
			meddle := func() {
				if !happened.Swap(true) {
					must(t, p.memory.WriteFile(p.path("live", "f"), []byte(long+"and more"), 0o644))
				}
			}
			j := fork.Job{Trees: st, Want: root, To: meddler{p.to, meddle}, From: p.live, Same: l.same}
			if copies {
				j.To, j.From = p.to, meddler{p.live, meddle} // what is wrapped cannot be cloned
			}
			clear(st.opens)
			rep, err := fork.Grow(context.Background(), j)
			must(t, err)
			have, _ := reap(t, p.to)
			same(t, g, have)
			if !happened.Load() || st.taken() != 1 || rep.Copied != 1 || rep.Cloned != 0 {
				t.Errorf("%d of the store, %+v", st.taken(), rep)
			}
		})
	}
}
