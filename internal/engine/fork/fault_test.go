package fork_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// smallTree has one of each, so that every operation is met and the list of them is short.
func smallTree(p *testPlace) fileSet {
	g := oddTree()
	for at := range g {
		if !strings.HasPrefix(at, "a") && !strings.HasPrefix(at, "closed") &&
			at != "" && at != "z" && at != "rich" && at != "link" && at != "fifo" {
			delete(g, at)
		}
	}
	block := strings.Repeat("B", 4096)
	sparse := file(0o600, block+strings.Repeat("\x00", 4096)+block)
	sparse.Holes = []retake.Hole{{Offset: 4096, Length: 4096}}
	g["sparse"] = sparse
	return p.adaptTree(g)
}

// TestEveryOperationFailsOnce: whichever it is, Grow says so or does without it; the live
// files and what is beside are untouched, and no handle stays open.
func TestEveryOperationFailsOnce(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]fsxtest.FaultKind{
		"input and output": fsxtest.IOError, "no space": fsxtest.NoSpace, "short writes": fsxtest.ShortWrite, "short reads": fsxtest.ShortRead,
	} {
		for _, copies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, copies %t", name, copies), func(t *testing.T) {
				t.Parallel()
				_, all := failAt(t, fsxtest.FaultPlan{}, copies)
				said := 0
				for at := int64(rootsOpen + 1); at <= all; at++ {
					if refused, _ := failAt(t, fsxtest.FaultPlan{At: at, Kind: kind}, copies); refused {
						said++
					}
				}
				if all < 80 || said < int(all)/2 {
					t.Errorf("%d of %d were said", said, all)
				}
			})
		}
	}
}

// rootsOpen is how many operations come before Grow.
const rootsOpen = 2

// failAt grows with one fault. It reports whether Grow answered an error, and how many
// operations there were.
func failAt(t *testing.T, plan fsxtest.FaultPlan, copies bool) (refused bool, seen int64) {
	t.Helper()
	p := newMemoryPlace(t)
	g := smallTree(p)
	st := memorytest.New()
	root, l := buildLive(t, p, st, g)
	writeFile(t, p.outside, "beside", "untouched")
	_, before := readTree(t, p.outside)
	live := tops(t, p.live)

	inner, count := fsxtest.NewCountingFS(p.fs)
	faulty := fsxtest.NewFaultyFS(inner, plan)
	to, err := faulty.OpenRoot(p.path("to"))
	must(t, err)
	from, err := faulty.OpenRoot(p.path("live"))
	must(t, err)
	if copies {
		from = hookedDir{from, func() {}}
	}
	_, err = fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: to, From: from, FindUnchanged: l.stampOf, Workers: 1, OnWritten: func(string, fsx.Info) {}})
	ops := count.OpCounts()
	if o, c := ops["Dir.OpenDir"], ops["Dir.Close"]; o != c {
		// the closed directory cannot be opened on the live side: that one is no handle
		if o-c != 1 {
			t.Errorf("%+v: %d directories opened, %d closed", plan, o, c)
		}
	}
	if o, c := ops["Dir.OpenFile"]+ops["Dir.Create"], ops["File.Close"]; o != c {
		t.Errorf("%+v: %d files opened, %d closed", plan, o, c)
	}
	if diff := gocmp.Diff(live, tops(t, p.live)); diff != "" {
		t.Errorf("%+v: the live files changed: %s", plan, diff)
	}
	if _, after := readTree(t, p.outside); gocmp.Diff(before, after) != "" {
		t.Errorf("%+v: what lies beside changed", plan)
	}
	if err != nil {
		if !errors.Is(err, syscall.EIO) && !errors.Is(err, fsx.ErrNoSpace) && !strings.Contains(err.Error(), "unexpected EOF") {
			t.Errorf("%+v: %v", plan, err)
		}
		return true, faulty.OpCount()
	}
	have, _ := readTree(t, p.to)
	if diff := gocmp.Diff(g, have); diff != "" {
		t.Errorf("%+v: no error, and another tree: %s", plan, diff)
	}
	return false, faulty.OpCount()
}

// tops is what stat returns of the names in a directory and of those one level down.
func tops(t *testing.T, d fsx.Dir) map[string]fsx.Info {
	t.Helper()
	all := map[string]fsx.Info{}
	names, err := d.Names()
	must(t, err)
	for _, name := range names {
		i, err := d.Lstat(name)
		must(t, err)
		all[name] = i
		sub, err := d.OpenDir(name)
		if err != nil {
			continue
		}
		below, err := sub.Names()
		must(t, err)
		for _, b := range below {
			i, err := sub.Lstat(b)
			must(t, err)
			all[name+"/"+b] = i
		}
		must(t, sub.Close())
	}
	return all
}

// TestDiskThatIsFull: there is no half of a tree without an error.
func TestDiskThatIsFull(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	st := memorytest.New()
	root := storeTree(t, st, p.adaptTree(oddTree()))
	p.memory.SetCapacity(400_000)
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.to})
	if !errors.Is(err, fsx.ErrNoSpace) {
		t.Error(err)
	}
}

// TestGrownIsDurable: after a power cut all is there.
func TestGrownIsDurable(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	st, g := memorytest.New(), p.adaptTree(oddTree())
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: storeTree(t, st, g), To: p.to})
	must(t, err)
	after, err := p.memory.Crash(nil).OpenRoot(p.path("to"))
	must(t, err)
	have, _ := readTree(t, after)
	wantEqual(t, g, have)
}
