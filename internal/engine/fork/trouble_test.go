package fork_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

func TestWhatCannotGrow(t *testing.T) {
	t.Parallel()
	base := func() fileSet { return fileSet{"": dir(0o755), "d": dir(0o755), "d/f": file(0o644, "data")} }
	for name, test := range map[string]struct {
		tree   func(g fileSet)
		change func(e *retake.Entry)
		err    string
	}{
		"an object that is not there": {change: func(e *retake.Entry) { e.Object = "fnone" }, err: store.ErrNotFound.Error()},
		"fewer bytes":                 {change: func(e *retake.Entry) { e.Size = 5 }, err: "4 bytes are stored, and not 5"},
		"more bytes":                  {change: func(e *retake.Entry) { e.Size = 3 }, err: "4 bytes are stored, and not 3"},
		"a hole behind the end":       {change: hole(3, 2), err: "holes do not fit"},
		"a hole that begins too late": {change: hole(9, 0), err: "holes do not fit"},
		"a hole before the file":      {change: hole(-1, 2), err: "holes do not fit"},
		"a hole of less than nothing": {change: hole(2, -1), err: "holes do not fit"},
		"a strange kind":              {change: func(e *retake.Entry) { e.Kind = "door" }, err: "unknown kind"},
		"a link of another length": {change: func(e *retake.Entry) { e.Kind, e.Size = retake.KindSymlink, 9 },
			err: "4 bytes are stored, and not 9"},
		"an owner that cannot be": {change: func(e *retake.Entry) { e.UID = ^uint32(0) }, err: "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newMemoryPlace(t)
			st := memorytest.New()
			root := storeChanged(t, st, p.adaptTree(base()), test.change)
			rep, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.to})
			if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), `"d/f"`) {
				t.Errorf("%v, %+v", err, rep)
			}
		})
	}
}

func hole(offset, length int64) func(*retake.Entry) {
	return func(e *retake.Entry) {
		e.Extra = &retake.Extra{Holes: []retake.Hole{{Offset: offset, Length: length}}}
	}
}

// storeChanged stores base with another entry at d/f.
func storeChanged(t *testing.T, st store.Store, g fileSet, change func(*retake.Entry)) retake.Entry {
	t.Helper()
	root := storeTree(t, st, g)
	w, err := st.Begin(context.Background(), retake.Workspace{ID: "w"})
	must(t, err)
	defer w.Close()
	top, err := st.Dir(context.Background(), root.Object)
	must(t, err)
	below, err := st.Dir(context.Background(), top[0].Object)
	must(t, err)
	change(&below[0])
	top[0].Object, _, err = w.WriteDir(context.Background(), below, 0)
	must(t, err)
	root.Object, _, err = w.WriteDir(context.Background(), top, 0)
	must(t, err)
	return root
}

func TestOnlyIntoAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		st := memorytest.New()
		root := storeTree(t, st, p.adaptTree(oddTree()))
		writeFile(t, p.to, "there", "before")
		before, infos := readTree(t, p.to)
		_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.to})
		if !errors.Is(err, fsx.ErrNotEmpty) {
			t.Errorf("a directory that is not empty: %v", err)
		}
		after, now := readTree(t, p.to)
		wantEqual(t, before, after)
		if diff := gocmp.Diff(infos[""], now[""]); diff != "" {
			t.Error(diff)
		}
		if _, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: retake.Entry{Kind: retake.KindFile}, To: p.outside}); err == nil {
			t.Error("a file as the root")
		}
	})
}

// TestRootLosesWhatItHad: the directory may carry attributes of who made it.
func TestRootLosesWhatItHad(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	must(t, p.to.SetXattr("user.before", []byte("x")))
	st, g := memorytest.New(), p.adaptTree(fileSet{"": dir(0o755)})
	_, have, _ := buildFork(t, fork.Job{Trees: st, Want: storeTree(t, st, g), To: p.to})
	wantEqual(t, g, have)
}

func TestStoppedBetweenFiles(t *testing.T) {
	t.Parallel()
	onEveryPlace(t, func(t *testing.T, p *testPlace) {
		g := fileSet{"": dir(0o755)}
		for i := range 50 {
			g[fmt.Sprint(i)] = dir(0o755)
			g[fmt.Sprint(i, "/f")] = file(0o644, "x")
		}
		st := memorytest.New()
		root := storeTree(t, st, p.adaptTree(g))
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var wrote atomic.Int64
		counting, count := fsxtest.NewCountingFS(p.fs)
		to, err := counting.OpenRoot(p.path("to"))
		must(t, err)
		rep, err := fork.Build(ctx, fork.Job{Trees: st, Want: root, To: to, Workers: 2, OnWritten: func(string, fsx.Info) {
			if wrote.Add(1) == 5 {
				stop()
			}
		}})
		ops := count.OpCounts()
		if !errors.Is(err, context.Canceled) || rep.Files >= 50 || ops["Dir.SyncFS"] != 0 {
			t.Errorf("%v, %+v, %v", err, rep, ops)
		}
		if ops["Dir.OpenDir"] != ops["Dir.Close"] || ops["Dir.Create"] != ops["File.Close"] {
			t.Errorf("handles stay open: %v", ops)
		}
	})
}

// TestPanicEndsTheForkAlone: a broken store is an error.
func TestPanicEndsTheForkAlone(t *testing.T) {
	t.Parallel()
	p := newMemoryPlace(t)
	st := memorytest.New()
	root := storeTree(t, st, p.adaptTree(oddTree()))
	_, err := fork.Build(context.Background(), fork.Job{Trees: &failingTrees{Trees: st}, Want: root, To: p.to, Workers: 4})
	if err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Error(err)
	}
}

type failingTrees struct {
	store.Trees
	mu   sync.Mutex
	seen int
}

func (b *failingTrees) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen++; b.seen == 3 {
		panic("the third")
	}
	return b.Trees.File(ctx, id)
}
