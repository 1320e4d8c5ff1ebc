//go:build linux

package g5

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// hold restores to and fro under attack until there were enough attempts. After each
// restore the foes rest, and what lies outside is looked at.
func (y *yard) hold(o raid) (err error) {
	runtime.GOMAXPROCS(4) // the foes never wait for us
	start := time.Now()
	if err := y.rearrange(0); err != nil {
		return err
	}
	w, err := y.newWorker(o)
	if err != nil {
		return err
	}
	if y.foes, err = y.newFoes(o); err != nil {
		return err
	}
	for n := 0; y.tale.Attempts < o.Want && time.Since(start) < o.Limit; n++ {
		y.foes.rest.Lock()
		if err = y.judge(); err == nil {
			err = y.rearrange(n % 2)
		}
		stamps := w.look()
		y.foes.rest.Unlock()
		if err != nil {
			return err
		}
		if err := y.inTime(func() error { return w.work(n, stamps) }); err != nil {
			return err
		}
		y.tale.Rounds++
	}
	y.foes.end()
	y.tale.Swaps, y.tale.Seconds = y.foes.swaps, time.Since(start).Seconds()
	return y.judge()
}

// inTime fails when a restore waits for something: a FIFO would let it wait for ever.
func (y *yard) inTime(f func() error) error {
	done, begun := make(chan error, 1), time.Now()
	go func() { done <- f() }()
	select {
	case err := <-done:
		y.tale.Longest = max(y.tale.Longest, time.Since(begun).Milliseconds())
		return err
	case <-time.After(harness.Patience):
		return fmt.Errorf("a restore took longer than %s", harness.Patience)
	}
}

// worker is one restorer with its handles.
type worker struct {
	y        *yard
	how      string
	rnd      *rand.Rand
	root     fsx.Dir // counted: every operation on it and below is an attempt
	touched  *fsxtest.Counter
	holds    fsx.FS // counted: what moves names between the hold and the root is one too
	moved    *fsxtest.Counter
	journals fsx.Dir
}

func (y *yard) newWorker(o raid) (*worker, error) {
	w := &worker{y: y, how: o.How, rnd: rand.New(rand.NewSource(o.Seed + 1))}
	below, touched := fsxtest.NewCountingFS(fsx.OS())
	w.touched = touched
	w.holds, w.moved = fsxtest.NewCountingFS(fsx.OS())
	var err error
	if w.root, err = below.OpenRoot(y.at("root")); err != nil {
		return nil, err
	}
	w.journals, err = fsx.OS().OpenRoot(y.at("home/returns"))
	return w, err
}

// look notes how every path looks while nobody works, as a safety checkpoint does.
func (w *worker) look() map[string]restore.Stamp {
	out := map[string]restore.Stamp{}
	for _, state := range w.y.states {
		for p := range state {
			if s, ok := w.stamp(p); ok {
				out[p] = s
			}
		}
	}
	return out
}

// stamp looks at a path as anybody does, links on the way included.
func (w *worker) stamp(path string) (restore.Stamp, bool) {
	d, err := fsx.OS().OpenRoot(w.y.at("root/" + path[:strings.LastIndex("/"+path, "/")]))
	if err != nil {
		return restore.Stamp{}, false
	}
	defer d.Close() //nolint:errcheck // only looked
	i, err := d.Lstat(path[strings.LastIndex(path, "/")+1:])
	return restore.Stamp{Ino: i.Ino, Nlink: i.Nlink, Size: i.Size, Mtime: i.Mtime, Ctime: i.Ctime}, err == nil
}

func (w *worker) work(n int, stamps map[string]restore.Stamp) error {
	switch w.how {
	case "path":
		w.byPath(n)
		return nil
	case "path-fenced":
		return w.byPathFenced(n)
	}
	return w.apply(n, stamps)
}

// apply does a plan. In every other round the restorer believes whatever it finds, so
// that nothing but its handles stands between it and the outside.
func (w *worker) apply(n int, stamps map[string]restore.Stamp) error {
	gullible := n/2%2 == 1
	out, err := restore.Apply(context.Background(), restore.Job{
		ID: "job", Plan: w.y.plans[n%2], Root: w.root, Trees: w.y.stored, Clock: clock.Wall, Fence: w.how == "both",
		InodeNumber: func(i fsx.Info) uint64 { return i.Ino },
		Stamp: func(path string) (restore.Stamp, bool) {
			if gullible {
				return w.stamp(path)
			}
			s, ok := stamps[path]
			return s, ok
		},
		TrashDirs:  []func() (fsx.Dir, error){func() (fsx.Dir, error) { return w.holds.OpenRoot(w.y.at("hold")) }},
		JournalDir: w.journals, JournalName: "journal",
	})
	w.y.tale.Written += int64(out.Written)
	w.y.tale.Deleted += int64(out.Deleted)
	w.y.tale.Left += int64(len(out.Failed))
	w.y.tale.Attempts = w.attempts()
	var cut *restore.InterruptedError
	if err != nil && !errors.As(err, &cut) { // a mount that covers the root's own disk is trouble, and no escape
		return err
	}
	return restore.RemoveJournal(w.journals, "journal")
}

func (w *worker) attempts() int64 {
	sum := int64(0)
	ops := w.touched.OpCounts()
	maps.DeleteFunc(ops, func(op string, _ int64) bool { return strings.HasSuffix(op, ".Close") || op == "FS.OpenRoot" })
	for _, n := range ops {
		sum += n
	}
	ops = w.moved.OpCounts()
	return sum + ops["Dir.Exchange"] + ops["Dir.Place"]
}

// byPath is a restorer as programs are written: it looks, and then acts by the path.
func (w *worker) byPath(n int) {
	state := w.y.states[1-n%2]
	root := w.y.at("root")
	for path, what := range state {
		if path[0] == 'p' || path[0] == 's' { // it would wait at a FIFO
			continue
		}
		at := root + "/" + path
		w.y.tale.Attempts++
		i, err := os.Lstat(at)
		_, text, file := strings.Cut(what, " ")
		switch {
		case err != nil && !file:
			_ = os.Mkdir(at, 0o755) // somebody may be faster; so below
		case err != nil:
			_ = os.WriteFile(at, []byte(text), 0o644)
		case i.Mode().IsRegular() && w.rnd.Intn(3) == 0:
			_ = os.WriteFile(at, []byte(text), 0o644)
		case i.Mode().IsRegular():
			w.replace(at, text)
		}
	}
	for path := range w.y.states[n%2] {
		if _, stays := state[path]; !stays {
			w.y.tale.Attempts++
			_ = os.Remove(root + "/" + path)
		}
	}
}

func (w *worker) replace(at, text string) {
	tmp := w.y.at("hold/tmp")
	if os.WriteFile(tmp, []byte(text), 0o644) == nil {
		_ = os.Rename(tmp, at) // somebody may be faster
	}
}

// byPathFenced is the same restorer on a thread that the kernel holds to the root.
func (w *worker) byPathFenced(n int) error {
	hold, err := w.holds.OpenRoot(w.y.at("hold"))
	if err != nil {
		return err
	}
	defer hold.Close() //nolint:errcheck // a directory handle
	if !fsx.RunWithLandlock([]fsx.Dir{w.root, hold}, func() { w.byPath(n) }) {
		return errors.New("this kernel has no fence")
	}
	return nil
}
