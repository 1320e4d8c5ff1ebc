package service_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// countingStore is a store that counts reads of trees and records.
type countingStore struct {
	store.Store
	dirs, records atomic.Int64
}

func (c *countingStore) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	c.dirs.Add(1)
	return c.Store.Dir(ctx, id)
}

func (c *countingStore) Record(ctx context.Context, ws retake.WorkspaceID, n int64) (store.Record, error) {
	c.records.Add(1)
	return c.Store.Record(ctx, ws, n)
}

// summaryFixture is a workspace with an exclusive service that summarizes checkpoints.
type summaryFixture struct {
	*testing.T
	s    *service.Service
	st   *countingStore
	home string
	root string
	ws   retake.WorkspaceID

	habits  func(retake.WorkspaceID) retake.Habits // nil: none
	tracker func() *track.Tracker                  // nil: every file is looked at
}

func newSummaryFixture(t *testing.T) *summaryFixture {
	t.Helper()
	k := &summaryFixture{T: t, st: &countingStore{Store: memorytest.New()}, home: t.TempDir(), root: filepath.Join(t.TempDir(), "shop")}
	k.dirs()
	k.s = k.open(true)
	return k
}

func (k *summaryFixture) dirs() {
	k.Helper()
	for _, dir := range []string{"index", "returns", "sessions"} {
		k.must(os.MkdirAll(filepath.Join(k.home, dir), 0o700))
	}
}

func (k *summaryFixture) open(sole bool) *service.Service {
	k.Helper()
	cat, err := sqlite.Open(k.Context(), filepath.Join(k.home, "catalog.db"), "local", sqlite.Options{})
	k.must(err)
	p := service.Parts{
		Parts: workspace.Parts{
			Catalog: cat, OpenStore: func(context.Context, bool) (store.Store, error) { return unclosableStore{k.st}, nil },
			FS: fsx.OS(), IndexDir: filepath.Join(k.home, "index"), DataDir: k.home, RestoreDir: filepath.Join(k.home, "returns"), SessionDir: filepath.Join(k.home, "sessions"),
			Locks: fsx.NewMemoryLocks(), Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute, Exclusive: sole,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
			Habits:  k.habits,
		},
	}
	if k.tracker != nil {
		p.Tracker = k.tracker()
	}
	s := service.New(p)
	k.Cleanup(func() { _ = s.Close() })
	return s
}

// unclosableStore outlives the services that are opened on it.
type unclosableStore struct{ store.Store }

func (unclosableStore) Close() error { return nil }

func (k *summaryFixture) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *summaryFixture) path(path string) string {
	return filepath.Join(k.root, filepath.FromSlash(path))
}

func (k *summaryFixture) write(path, text string) {
	k.Helper()
	k.must(os.MkdirAll(filepath.Dir(k.path(path)), 0o755))
	k.must(os.WriteFile(k.path(path), []byte(text), 0o644))
}

func (k *summaryFixture) init() {
	k.Helper()
	res, err := k.s.Init(k.Context(), retake.InitRequest{Dir: k.root})
	k.must(err)
	k.ws = res.Workspace.ID
	k.waitForGist(res.Checkpoint.ID)
}

func (k *summaryFixture) save() retake.CheckpointID {
	k.Helper()
	res, err := k.s.Save(k.Context(), retake.SaveRequest{Workspace: k.ws})
	k.must(err)
	return res.Checkpoint.ID
}

// waitForGist waits until a checkpoint is summarized.
func (k *summaryFixture) waitForGist(id retake.CheckpointID) retake.Gist {
	k.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.After(30 * time.Second); ; {
		tl, err := k.s.Log(k.Context(), retake.LogQuery{Workspace: k.ws, Limit: 1})
		k.must(err)
		if g := tl.Findings[id].Gist; g != nil && g.V > 0 {
			return *g
		}
		select {
		case <-end:
			k.Fatal("it is never told")
		case <-again.C:
		}
	}
}

const (
	oneSHA   = "1111111111111111111111111111111111111111"
	twoSHA   = "2222222222222222222222222222222222222222"
	threeSHA = "3333333333333333333333333333333333333333"
)

// historySteps are steps whose stories differ in all that a capture hands over.
func (k *summaryFixture) historySteps() []func() {
	many := func(n int) {
		for i := range n {
			k.write(fmt.Sprintf("many/%d.txt", i), "x\n")
		}
	}
	return []func(){
		func() { k.write("src/auth.go", "one\n2\nthree\n") },
		func() { k.must(os.Rename(k.path("src/old.go"), k.path("src/new.go"))) },
		func() { k.must(os.RemoveAll(k.path("docs"))); k.write("docs", "a file now\n") },
		func() { k.must(os.Remove(k.path("docs"))); k.write("docs/deep/er.md", "again\n") },
		func() { k.must(os.Chmod(k.path("src"), 0o700)); k.must(os.Chmod(k.path("src/auth.go"), 0o600)) },
		func() { k.must(os.Chmod(k.root, 0o700)) },
		func() { k.must(os.Chtimes(k.path("src/auth.go"), time.Time{}, time.Unix(1_700_000_000, 0))) },
		func() { k.write(".git/HEAD", "ref: refs/heads/main\n"); k.write(".git/refs/heads/main", oneSHA+"\n") },
		func() { k.write("src/auth.go", "one\n"); k.write(".git/index", "of git\n") },
		func() { k.write(".git/refs/heads/main", twoSHA+"\n") },
		func() {
			k.write(".git/packed-refs", threeSHA+" refs/heads/main\n")
			k.must(os.Remove(k.path(".git/refs/heads/main")))
		},
		func() { k.write(".git/packed-refs", oneSHA+" refs/heads/main\n") },
		func() { many(300) },
		func() { many(0); k.must(os.RemoveAll(k.path("many"))) },
		func() { many(2500) },
		func() { k.write("many/7.txt", "seven\n") },
		func() { k.must(os.RemoveAll(k.path(".git"))) },
	}
}

// TestAStoryFromTheCaptureIsThatOfTheTrees: whoever tells it, the story is the same.
func TestAStoryFromTheCaptureIsThatOfTheTrees(t *testing.T) {
	t.Parallel()
	k := newSummaryFixture(t)
	k.write("src/auth.go", "one\ntwo\nthree\n")
	k.write("src/old.go", strings.Repeat("a line of its own\n", 20))
	k.write("docs/a/b.md", "read me\n")
	k.init()
	var told []retake.Story
	var gists []retake.Gist
	heads := []string{}
	for _, step := range k.historySteps() {
		step()
		id := k.save()
		g := k.waitForGist(id)
		gists = append(gists, g)
		if len(heads) == 0 || heads[len(heads)-1] != g.Head {
			heads = append(heads, g.Head)
		}
		st, err := k.s.Story(t.Context(), retake.DiffQuery{Workspace: k.ws, To: string(id)})
		k.must(err)
		told = append(told, st)
	}
	if d := cmp.Diff([]string{"", oneSHA, twoSHA, threeSHA, oneSHA, ""}, heads); d != "" {
		t.Errorf("commits (-want +told):\n%s", d)
	}
	other := k.open(false) // knows nothing of the captures
	for i, st := range told {
		want, err := other.Story(t.Context(), retake.DiffQuery{Workspace: k.ws, To: fmt.Sprint(i + 2)})
		k.must(err)
		if d := cmp.Diff(want, st); d != "" {
			t.Errorf("step %d (-trees +capture):\n%s", i, d)
		}
		if d := cmp.Diff(want.Gist, gists[i]); d != "" {
			t.Errorf("gist of step %d (-trees +capture):\n%s", i, d)
		}
	}
}

// TestGoingBackIsToldFromWhereItCame: the parent of a restore is not what its capture
// knows it by.
func TestGoingBackIsToldFromWhereItCame(t *testing.T) {
	t.Parallel()
	k := newSummaryFixture(t)
	k.write("a.go", "one\n")
	k.init()
	k.write("a.go", "two\n")
	k.write("b.go", "more\n")
	k.waitForGist(k.save())
	k.write("a.go", "three\n") // the safety checkpoint has it
	req := retake.PlanRequest{Workspace: k.ws, Course: retake.CourseRestore, Ref: "1"}
	plan, err := k.s.PlanRestore(t.Context(), req)
	k.must(err)
	apply := retake.ApplyRequest{PlanRequest: req, Digest: plan.Short()}
	for _, o := range plan.Obstacles {
		apply.Accept = append(apply.Accept, o.Class)
	}
	res, err := k.s.ApplyRestore(t.Context(), apply)
	k.must(err)
	g := k.waitForGist(res.Checkpoint.ID)
	want, err := k.open(false).Story(t.Context(), retake.DiffQuery{Workspace: k.ws, To: string(res.Checkpoint.ID)})
	k.must(err)
	if d := cmp.Diff(want.Gist, g); d != "" || g.Counts.Deleted != 1 || g.Counts.Edited != 1 {
		t.Errorf("%+v (-trees +capture):\n%s", g.Counts, d)
	}
}

// TestAStoryGoesByWhatIsLeft: when the checkpoint before is forgotten, the one before that
// takes its place, and the capture knows nothing of it.
func TestAStoryGoesByWhatIsLeft(t *testing.T) {
	t.Parallel()
	k := newSummaryFixture(t)
	k.write("a.go", "one\n")
	k.init()
	k.write("a.go", "two\n")
	k.waitForGist(k.save())
	k.write("b.go", "more\n")
	id := k.save()
	if g := k.waitForGist(id); g.Counts.Added != 1 || g.Counts.Edited != 0 {
		t.Errorf("%+v", g.Counts)
	}
	_, err := k.s.Forget(t.Context(), k.ws, []string{"2"})
	k.must(err)
	st, err := k.s.Story(t.Context(), retake.DiffQuery{Workspace: k.ws, To: string(id)})
	if err != nil || st.From.Number != 1 || st.Counts.Added != 1 || st.Counts.Edited != 1 {
		t.Errorf("from %v: %+v, %v", st.From, st.Counts, err)
	}
}

// TestAStoryOfACaptureReadsNoTree is why captures hand over what they know.
func TestAStoryOfACaptureReadsNoTree(t *testing.T) {
	t.Parallel()
	k := newSummaryFixture(t)
	for i := range 50 {
		k.write(fmt.Sprintf("src/d%d/a.go", i), "one\n")
	}
	k.init()
	k.write("src/d1/a.go", "two\n")
	k.waitForGist(k.save()) // reads the root before it, which nobody knows
	dirs, leaves := k.st.dirs.Load(), k.st.records.Load()
	for i := range 5 {
		k.write(fmt.Sprintf("src/d%d/a.go", i), fmt.Sprint("again ", i))
		id := k.save()
		if g := k.waitForGist(id); g.Counts.Edited != 1 {
			t.Errorf("%+v", g.Counts)
		}
		_, err := k.s.Diff(t.Context(), retake.DiffQuery{Workspace: k.ws, To: string(id)})
		k.must(err)
	}
	perDiff := int64(2 * 3) // the way to the file, on both sides
	if n := k.st.dirs.Load() - dirs; n != 5*perDiff {
		t.Errorf("%d directories are listed; comparing trees lists %d", n, 5*perDiff)
	}
	if n := k.st.records.Load() - leaves; n != 5*2 {
		t.Errorf("%d checkpoints are read; comparing trees reads %d", n, 5*2)
	}
}
