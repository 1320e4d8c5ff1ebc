//go:build unix

package restore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
)

// serviceTest is a bed with one service and a policy that may change.
type serviceTest struct {
	*testing.T
	*restoreTest
	s      *service.Service
	policy retake.Policy
}

// newServiceTest protects a workspace with files, given as names and texts in turn.
func newServiceTest(t *testing.T, files ...string) *serviceTest {
	t.Helper()
	return startServiceTest(t, fsx.OS(), files...)
}

func startServiceTest(t *testing.T, seam fsx.FS, files ...string) *serviceTest {
	t.Helper()
	b := newRestoreTest(t, t.TempDir())
	cat, err := sqlite.Open(t.Context(), filepath.Join(b.home, "catalog.db"), "local", sqlite.Options{})
	must(t, err)
	r := &serviceTest{T: t, restoreTest: b}
	r.s = service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return b.stored, nil },
			FS:        seam, IndexDir: filepath.Join(b.home, "index"), DataDir: b.home,
			RestoreDir: filepath.Join(b.home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return r.policy },
			MinFree: func(int64) int64 { return 0 },
		},
		KernelFence: true,
	})
	t.Cleanup(func() { must(t, r.s.Close()) })
	r.writeFiles(files...)
	res, err := r.s.Init(t.Context(), retake.InitRequest{Dir: b.root})
	must(t, err)
	b.ws = res.Workspace.ID
	return r
}

func (r *serviceTest) filePath(name string) string { return filepath.Join(r.root, name) }

func (r *serviceTest) writeFiles(files ...string) {
	r.Helper()
	for i := 0; i < len(files); i += 2 {
		must(r, os.MkdirAll(filepath.Dir(r.filePath(files[i])), 0o755))
		must(r, os.WriteFile(r.filePath(files[i]), []byte(files[i+1]), 0o644))
	}
}

// recordTurn writes files and makes a checkpoint of them.
func (r *serviceTest) recordTurn(files ...string) {
	r.Helper()
	r.writeFiles(files...)
	save(r, r.s, r.ws)
}

// wantFiles compares files with texts; "-" is a file that is not there.
func (r *serviceTest) wantFiles(files ...string) {
	r.Helper()
	for i := 0; i < len(files); i += 2 {
		text, err := os.ReadFile(r.filePath(files[i]))
		if os.IsNotExist(err) {
			text, err = []byte("-"), nil
		}
		must(r, err)
		if string(text) != files[i+1] {
			r.Errorf("%s is %q, want %q", files[i], text, files[i+1])
		}
	}
}

func (r *serviceTest) plan(req retake.PlanRequest) retake.Plan {
	r.Helper()
	req.Workspace = r.ws
	p, err := r.s.PlanRestore(r.Context(), req)
	must(r, err)
	return p
}

// wantRestored applies a plan, and every path of it must come out.
func (r *serviceTest) wantRestored(req retake.PlanRequest) retake.RestoreResult {
	r.Helper()
	res, err := r.applyPlan(r.s, req)
	must(r, err)
	if len(res.Failed) > 0 {
		r.Errorf("%s %s left %v", req.Course, req.Ref, res.Failed)
	}
	return res
}

// wantRefused asks for a plan that cannot be.
func (r *serviceTest) wantRefused(kind retake.ErrorKind, req retake.PlanRequest) {
	r.Helper()
	if _, err := r.applyPlan(r.s, req); !retake.IsKind(err, kind) {
		r.Errorf("%s %s: %v, want %s", req.Course, req.Ref, err, kind)
	}
}

// interrupt applies a plan and stops it after sixteen paths.
func (r *serviceTest) interrupt(req retake.PlanRequest) {
	r.Helper()
	p := r.plan(req)
	req.Workspace = r.ws
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	ask := retake.ApplyRequest{PlanRequest: req, Digest: p.Digest, Progress: func(retake.Progress) { stop() }}
	for _, o := range p.Obstacles {
		ask.Accept = append(ask.Accept, o.Class)
	}
	_, err := r.s.ApplyRestore(ctx, ask)
	ws, lerr := r.s.Locate(r.Context(), r.root)
	must(r, lerr)
	if err == nil || ws.Interrupted == nil || ws.Interrupted.Done != 16 {
		r.Fatalf("not cut after sixteen paths: %v %+v", err, ws.Interrupted)
	}
}

// keepAt reports why a path stays by a plan; empty: it does not.
func keepAt(p retake.Plan, path string) retake.Keep {
	for _, k := range p.Keeps {
		if k.Path == path {
			return k
		}
	}
	return retake.Keep{}
}

// many are n files of one text, as put takes them.
func many(n int, text string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("f%04d", i), text)
	}
	return out
}

func to(ref string, paths ...string) retake.PlanRequest {
	return retake.PlanRequest{Course: retake.CourseRestore, Ref: ref, Paths: paths}
}

var (
	undo = retake.PlanRequest{Course: retake.CourseUndo}
	redo = retake.PlanRequest{Course: retake.CourseRedo}
)

// Fault: undo gave the older database to a log that was written for the newer one.
func TestUndoLeavesADatabaseWithANewLog(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a.db", "db1")
	r.recordTurn("a.db", "db22", "x", "x")
	r.writeFiles("a.db-wal", "of db22")
	if k := keepAt(r.plan(undo), "a.db"); k.Why != retake.KeepChanged {
		t.Errorf("it is not told: %+v", k)
	}
	r.wantRestored(undo)
	r.wantFiles("a.db", "db22", "a.db-wal", "of db22", "x", "-")
}

// Fault: ending a restore that was cut off parted a database from the log written since.
func TestEndOfACutLeavesADatabaseWithALogWrittenSince(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		course retake.Course
		files  int // before the database
		wal    bool
		want   string
	}{
		"finish between": {retake.CourseFinish, 15, true, "db1"},
		"unwind between": {retake.CourseUnwind, 15, true, "db1"},
		"finish before":  {retake.CourseFinish, 16, false, "db22"},
		"unwind after":   {retake.CourseUnwind, 15, false, "db1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := "zz" // comes after the database
			if c.wal {
				last = "z.db-wal"
			}
			r := newServiceTest(t, append(many(c.files, "1"), "z.db", "db1", last, "1")...)
			r.recordTurn(append(many(c.files, "22"), "z.db", "db22", last, "22")...)
			r.interrupt(to("1"))
			r.wantFiles("z.db", c.want)
			r.writeFiles("z.db-wal", "since")
			r.wantRestored(retake.PlanRequest{Course: c.course})
			r.wantFiles("z.db", c.want, "z.db-wal", "since")
			r.wantFiles(many(c.files, map[retake.Course]string{retake.CourseFinish: "1", retake.CourseUnwind: "22"}[c.course])...)
		})
	}
}

// Fault: a path that names the log alone brought half of a database.
func TestPathOfALogTakesTheWholeDatabase(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a.db", "db1", "a.db-wal", "wal1", "b", "1")
	r.recordTurn("a.db", "db22", "a.db-wal", "wal22", "b", "22")
	r.wantRestored(to("1", "a.db-wal"))
	r.wantFiles("a.db", "db1", "a.db-wal", "wal1", "b", "22")
}

// Fault: undo took back the lines of a log, again and again, and came no further.
func TestUndoPassesOverCheckpointsOfALog(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "b", "1", "srv.log", "")
	r.recordTurn("a", "22")
	r.recordTurn("b", "22")
	log := ""
	step := func(req retake.PlanRequest) {
		log += "l\n"
		r.writeFiles("srv.log", log)
		r.wantRestored(req)
		r.wantFiles("srv.log", log)
	}
	step(undo)
	r.wantFiles("a", "22", "b", "1")
	step(undo)
	r.wantFiles("a", "1", "b", "1")
	r.wantRefused(retake.NotFound, undo)
	step(redo)
	r.wantFiles("a", "22", "b", "1")
	step(redo)
	r.wantFiles("a", "22", "b", "22")
}

// Fault: undo passed over a checkpoint in which only a repository changed.
func TestU1_UndoOfACheckpointOfARepository(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", ".git/HEAD", "x")
	r.recordTurn("a", "22")
	r.recordTurn(".git/HEAD", "yy")
	r.wantRestored(undo)
	r.wantFiles("a", "22", ".git/HEAD", "x")
	r.wantRestored(undo)
	r.wantFiles("a", "1", ".git/HEAD", "x")
	r.wantRefused(retake.NotFound, undo)
}

// Fault: undo went to the half that a cut left, not to what was there before.
func TestUndoPassesOverTheHalfOfACut(t *testing.T) {
	t.Parallel()
	for course, want := range map[retake.Course][]string{retake.CourseFinish: {"1", "22", "1"}, retake.CourseUnwind: {"22", "1"}} {
		t.Run(string(course), func(t *testing.T) {
			t.Parallel()
			r := newServiceTest(t, many(20, "1")...)
			r.recordTurn(many(20, "22")...)
			r.interrupt(to("1"))
			r.wantFiles("f0015", "1", "f0016", "22")
			r.wantRestored(retake.PlanRequest{Course: course})
			r.wantFiles(many(20, want[0])...)
			for _, text := range want[1:] {
				r.wantRestored(undo)
				r.wantFiles(many(20, text)...)
			}
			r.wantRefused(retake.NotFound, undo)
		})
	}
}

// Fault: a journal that nobody can read shut the workspace forever.
func TestDamagedJournalIsSetAside(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{garbage", "{}\n{"} {
		r := newServiceTest(t, "a", "1")
		r.recordTurn("a", "22")
		journal := filepath.Join(r.home, "returns", string(r.ws)+".journal")
		must(t, os.WriteFile(journal, []byte(text), 0o600))
		r.wantRestored(to("1"))
		r.wantFiles("a", "1")
		r.wantRefused(retake.NotFound, retake.PlanRequest{Course: retake.CourseFinish})
		aside, err := os.ReadFile(journal + ".damaged")
		if err != nil || string(aside) != text {
			t.Errorf("set aside: %q %v, want %q", aside, err, text)
		}
		if ws, err := r.s.Locate(t.Context(), r.root); err != nil || ws.Interrupted != nil {
			t.Errorf("it counts as cut off: %+v %v", ws.Interrupted, err)
		}
	}
}

// Fault: a part of an item that was taken back made the whole of it count as taken back.
func TestUndoOfAPathLeavesTheRestOfTheItem(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "b", "1")
	r.recordTurn("a", "22", "b", "22")
	r.wantRestored(retake.PlanRequest{Course: retake.CourseUndo, Paths: []string{"a"}})
	r.wantFiles("a", "1", "b", "22")
	r.wantRestored(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	r.wantFiles("a", "1", "b", "1")
	r.wantRefused(retake.Exists, retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
}

// Fault: undo of an item whose predecessor was forgotten took back what others did.
func TestUndoNeedsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "b", "1")
	r.recordTurn("a", "22")
	r.recordTurn("b", "22")
	_, err := r.s.Forget(t.Context(), r.ws, []string{"2"})
	must(t, err)
	r.wantRefused(retake.NotFound, undo)
	r.wantRefused(retake.NotFound, retake.PlanRequest{Course: retake.CourseUndo, Ref: "3"})
	r.wantFiles("a", "22", "b", "22")
}

// Fault: undo named directories that went since, though the item never touched them.
func TestUndoIsSilentOnDirectoriesTheItemNeverTouched(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "old/x", "1")
	r.recordTurn("a", "22")
	must(t, os.RemoveAll(r.filePath("old")))
	r.recordTurn()
	if p := r.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"}); len(p.Keeps) > 0 || strings.Join(paths(p.Writes), " ") != "a" {
		t.Errorf("writes %v, keeps %v", paths(p.Writes), p.Keeps)
	}
}

func paths(steps []retake.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Path)
	}
	return out
}
