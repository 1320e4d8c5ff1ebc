//go:build unix

package restore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// restoreTest is a workspace with its home. Several services may stand on it, one after the
// other, as processes do.
type restoreTest struct {
	home, root string
	stored     *memorytest.Store
	ws         retake.WorkspaceID
}

var testCount atomic.Int64

func newRestoreTest(t fataler, dir string) *restoreTest {
	at := filepath.Join(dir, fmt.Sprint(testCount.Add(1)))
	b := &restoreTest{home: filepath.Join(at, "home"), root: filepath.Join(at, "shop"), stored: memorytest.New()}
	for _, d := range []string{b.root, filepath.Join(b.home, "index"), filepath.Join(b.home, "returns")} {
		must(t, os.MkdirAll(d, 0o755))
	}
	return b
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func (b *restoreTest) openService(t fataler, seam fsx.FS) *service.Service {
	t.Helper()
	cat, err := sqlite.Open(context.Background(), filepath.Join(b.home, "catalog.db"), "local", sqlite.Options{})
	must(t, err)
	return service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return b.stored, nil },
			FS:        seam, IndexDir: filepath.Join(b.home, "index"), DataDir: b.home,
			RestoreDir: filepath.Join(b.home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
		KernelFence: true,
	})
}

func (b *restoreTest) removeFiles() { _ = os.RemoveAll(filepath.Dir(b.root)) }

// treeShape is every path with all that is restored of it; hard links show as groups.
func treeShape(t fataler, root string) string { return describeTree(t, root, true) }

// treeContents is the shape without times.
func treeContents(t fataler, root string) string { return describeTree(t, root, false) }

func describeTree(t fataler, root string, times bool) string {
	t.Helper()
	var out []string
	first := map[uint64]string{}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		i, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%q %s", rel, i.Mode())
		if times {
			line += fmt.Sprintf(" %d", i.ModTime().UnixNano())
		}
		st := i.Sys().(*syscall.Stat_t)
		if !i.IsDir() && st.Nlink > 1 {
			if first[st.Ino] == "" {
				first[st.Ino] = rel
			}
			line += " =" + first[st.Ino]
		}
		switch {
		case i.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", text)
		case i.Mode()&fs.ModeSymlink != 0:
			text, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" -> %q", text)
		}
		out = append(out, line)
		return nil
	}))
	return strings.Join(out, "\n")
}

var sampleNames = []string{"a", "b", "a.db", "a.db-wal", "dir", "é", " x", "n\nl", "\xff", ".git"}

// plain are the words that no program writes all the time.
var stableNames = slices.DeleteFunc(slices.Clone(sampleNames), restore.IsVolatile)

// changeRandomly makes a few random changes below a directory.
func changeRandomly(t *rapid.T, root string) { changeRandomlyWith(t, root, sampleNames) }

func changeRandomlyWith(t *rapid.T, root string, words []string) {
	for range rapid.IntRange(1, 8).Draw(t, "changes") {
		at := root
		for range rapid.IntRange(0, 2).Draw(t, "depth") {
			at = filepath.Join(at, rapid.SampledFrom(words).Draw(t, "dir"))
		}
		path := filepath.Join(at, rapid.SampledFrom(words).Draw(t, "name"))
		clearPath(root, at)
		text := rapid.SampledFrom([]string{"", "x", "one\ntwo\nthree\n", "one\n2\nthree\n"}).Draw(t, "text")
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0, 1, 2:
			_ = os.RemoveAll(path)
			must(t, os.WriteFile(path, []byte(text), 0o644))
		case 3:
			_ = os.RemoveAll(path)
		case 4:
			_ = os.RemoveAll(path)
			must(t, os.Symlink(text+"target", path))
		case 5:
			_ = os.RemoveAll(path)
			must(t, os.Mkdir(path, 0o750))
		case 6:
			if i, err := os.Lstat(path); err == nil && i.Mode()&fs.ModeSymlink == 0 {
				must(t, os.Chmod(path, rapid.SampledFrom([]fs.FileMode{0o755, 0o700, 0o555}).Draw(t, "mode")))
			}
		case 7:
			other := filepath.Join(at, rapid.SampledFrom(words).Draw(t, "other"))
			if i, err := os.Lstat(path); err == nil && i.Mode().IsRegular() && other != path {
				_ = os.RemoveAll(other)
				must(t, os.Link(path, other))
			}
		case 8:
			_ = os.RemoveAll(path)
			must(t, syscall.Mkfifo(path, 0o600))
		}
	}
}

// clearPath makes directories of everything on the way.
func clearPath(root, at string) {
	rel, _ := filepath.Rel(root, at)
	path := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		path = filepath.Join(path, name)
		if i, err := os.Lstat(path); err == nil && !i.IsDir() {
			_ = os.Remove(path)
		}
		_ = os.Mkdir(path, 0o755)
	}
}

func (b *restoreTest) beginService(t fataler) *service.Service {
	s := b.openService(t, fsx.OS())
	res, err := s.Init(context.Background(), retake.InitRequest{Dir: b.root})
	must(t, err)
	b.ws = res.Workspace.ID
	return s
}

func (b *restoreTest) applyPlan(s *service.Service, req retake.PlanRequest) (retake.RestoreResult, error) {
	req.Workspace = b.ws
	p, err := s.PlanRestore(context.Background(), req)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	var accept []string
	for _, o := range p.Obstacles {
		accept = append(accept, o.Class)
	}
	return s.ApplyRestore(context.Background(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest, Accept: accept})
}

func save(t fataler, s *service.Service, ws retake.WorkspaceID) {
	_, err := s.Save(context.Background(), retake.SaveRequest{Workspace: ws})
	must(t, err)
}

// Going to any checkpoint gives exactly what was there, and going back what is there now.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		b := newRestoreTest(t, dir)
		defer b.removeFiles()
		changeRandomly(t, b.root)
		s := b.beginService(t)
		defer s.Close()
		states := []string{treeShape(t, b.root)}
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			changeRandomly(t, b.root)
			save(t, s, b.ws)
			states = append(states, treeShape(t, b.root))
		}
		if rapid.Bool().Draw(t, "loose") {
			changeRandomly(t, b.root)
		}
		now := treeShape(t, b.root)
		n := rapid.IntRange(1, len(states)).Draw(t, "target")
		req := retake.PlanRequest{Course: retake.CourseRestore, Ref: fmt.Sprint(n), Git: true}
		res, err := b.applyPlan(s, req)
		if err != nil || len(res.Failed) > 0 {
			t.Fatalf("restore %d: %v %v", n, res.Failed, err)
		}
		if got := treeShape(t, b.root); got != states[n-1] {
			t.Fatalf("restored %d\n--- want\n%s\n--- got\n%s", n, states[n-1], got)
		}
		res, err = b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRestore, Ref: string(res.Safety.ID), Git: true})
		if err != nil || len(res.Failed) > 0 {
			t.Fatalf("back again: %v %v", res.Failed, err)
		}
		if got := treeShape(t, b.root); got != now {
			t.Fatalf("back again\n--- want\n%s\n--- got\n%s", now, got)
		}
	})
}

// Every undo goes one item back, and as many redos bring all of it again. Outputs are
// left out: undo passes over what only they changed.
func TestUndoIsALadder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		b := newRestoreTest(t, dir)
		defer b.removeFiles()
		changeRandomlyWith(t, b.root, stableNames)
		s := b.beginService(t)
		defer s.Close()
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			changeRandomlyWith(t, b.root, stableNames)
			save(t, s, b.ws)
		}
		rungs := []string{treeContents(t, b.root)}
		for {
			if len(rungs) > 8 {
				t.Fatalf("undo does not end:\n%s", strings.Join(rungs[len(rungs)-3:], "\n\n"))
			}
			res, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseUndo, Git: true})
			if retake.IsKind(err, retake.NotFound) {
				break
			}
			if err != nil || len(res.Failed) > 0 {
				t.Fatalf("undo: %v %v", res.Failed, err)
			}
			rungs = append(rungs, treeContents(t, b.root))
		}
		for _, want := range slices.Backward(rungs[:len(rungs)-1]) {
			res, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRedo, Git: true})
			if err != nil || len(res.Failed) > 0 {
				t.Fatalf("redo: %v %v", res.Failed, err)
			}
			if got := treeContents(t, b.root); got != want {
				t.Fatalf("redo\n--- want\n%s\n--- got\n%s", want, got)
			}
		}
		_, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseRedo, Git: true})
		if !errors.As(err, new(*retake.Error)) || !retake.IsKind(err, retake.NotFound) {
			t.Fatalf("a redo too many: %v", err)
		}
	})
}
