package assemble_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// Harms that the suite cannot build, because they need a policy, a fault or another
// user. Each test is named after what must not happen.

// newStall is a desk without a daemon's work in the background, and its home.
func newStall(t *testing.T, seam fsx.FS, settings map[string]string) (d *desk, home string) {
	t.Helper()
	d, home = &desk{T: t, area: t.TempDir()}, t.TempDir()
	d.reopen(home, seam, settings)
	must(t, os.Mkdir(d.at("shop"), 0o755))
	return d, home
}

// reopen gives the desk a new service, as the next command does.
func (d *desk) reopen(home string, seam fsx.FS, settings map[string]string) {
	d.Helper()
	var err error
	d.set, err = config.Load(filepath.Join(home, "config.json"))
	must(d.T, err)
	for key, value := range settings {
		must(d.T, d.set.Set(key, value))
	}
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
	s, err := assemble.OpenService(d.Context(), c, d.set, assemble.Options{FS: seam, Derivation: derivation})
	must(d.T, err)
	d.s = s
	d.Cleanup(func() { _ = s.Close() })
}

func (d *desk) init() {
	d.Helper()
	res, err := d.s.Init(d.Context(), retake.InitRequest{Dir: d.at("shop")})
	must(d.T, err)
	d.ws = res.Workspace.ID
}

// request is a restore with its digest, and all its obstacles accepted.
func (d *desk) request(req retake.PlanRequest) retake.ApplyRequest {
	d.Helper()
	req.Workspace = d.ws
	p, err := d.s.PlanRestore(d.Context(), req)
	must(d.T, err)
	out := retake.ApplyRequest{PlanRequest: req, Digest: p.Digest}
	for _, o := range p.Obstacles {
		out.Accept = append(out.Accept, o.Class)
	}
	return out
}

func (d *desk) goBack(req retake.PlanRequest) retake.RestoreResult {
	d.Helper()
	res, err := d.s.ApplyRestore(d.Context(), d.request(req))
	must(d.T, err)
	if len(res.Failed) > 0 {
		d.Fatalf("%s left %v", req.Course, res.Failed)
	}
	return res
}

func (d *desk) restore(ref string) {
	d.goBack(retake.PlanRequest{Course: retake.CourseRestore, Ref: ref})
}

func (d *desk) undo() { d.goBack(retake.PlanRequest{Course: retake.CourseUndo}) }

// files are all regular files of the shop with their bytes and inodes.
func (d *desk) files() map[string]string {
	d.Helper()
	out := map[string]string{}
	must(d.T, filepath.Walk(d.at("shop"), func(path string, i os.FileInfo, err error) error {
		if err == nil && i.Mode().IsRegular() {
			b, rerr := os.ReadFile(path)
			rel, _ := filepath.Rel(d.at("shop"), path)
			out[rel], err = string(b), rerr
		}
		return err
	}))
	return out
}

func (d *desk) holds(when string, want map[string]string) {
	d.Helper()
	got := d.files()
	for path, text := range want {
		if got[path] != text {
			d.Errorf("%s: %s is %q, want %q", when, path, got[path], text)
		}
	}
}

func (d *desk) checkpoints() int64 {
	d.Helper()
	tl, err := d.s.Log(d.Context(), retake.LogQuery{Workspace: d.ws})
	must(d.T, err)
	return tl.Total
}

// Harm: what the user left out is in no checkpoint, and a restore deletes or replaces it.
func TestRestoreDeletesWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789", 30_000)
	for name, settings := range map[string]map[string]string{
		"excluded": {"exclude": "outputs/,*.iso"}, "ignored": {"gitignore": "true"}, "too big": {"max-new-file": "100KB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := newStall(t, fsx.OS(), settings)
			d.write("shop/.gitignore", "outputs/\n*.iso\n")
			d.write("shop/src/a", "1")
			d.write("shop/outputs/before", big)
			d.init()
			d.write("shop/outputs/after", big)
			d.write("shop/outputs/before", big+"grew")
			d.write("shop/src/disk.iso", big)
			d.write("shop/src/a", "2")
			d.write("shop/new/b", "2")
			d.save(retake.SaveRequest{})
			want := map[string]string{"outputs/before": big + "grew", "outputs/after": big, "src/disk.iso": big}
			d.restore("1")
			d.holds("after a restore", want)
			d.holds("after a restore", map[string]string{"src/a": "1", "new/b": ""})
			d.undo()
			d.holds("after an undo", want)
			d.holds("after an undo", map[string]string{"src/a": "2", "new/b": "2"})
		})
	}
}

// Harm: an old ignore file comes back, files become visible by it, and are deleted as
// new ones.
func TestOldIgnoreFileDeletes(t *testing.T) {
	t.Parallel()
	d, _ := newStall(t, fsx.OS(), map[string]string{"gitignore": "true"})
	d.write("shop/.gitignore", "*.log\n")
	d.write("shop/a", "1")
	d.init()
	d.write("shop/.gitignore", "*.log\nmodels/\n")
	d.write("shop/models/weights", "a week of training")
	d.write("shop/a", "2")
	d.save(retake.SaveRequest{})
	want := map[string]string{"models/weights": "a week of training"}
	d.restore("1")
	d.holds("after the old rules came", want)
	d.holds("after a restore", map[string]string{"a": "1", ".gitignore": "*.log\n"})
	d.undo()
	d.holds("after an undo", want)
	d.restore("1")
	d.save(retake.SaveRequest{})
	d.restore("2")
	d.holds("after the new rules came again", want)
}

// writing are the ways to write that the store uses.
var writing = []string{"File.Write", "File.Sync", "Dir.Create", "Dir.Rename", "Dir.Sync"}

// Harm: a capture fails, and its answer is an older checkpoint.
func TestFailedCaptureAnswersAnOldCheckpoint(t *testing.T) {
	t.Parallel()
	for _, op := range writing {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			for _, req := range []retake.SaveRequest{{}, {IfChanged: true}} {
				seam := fsxtest.NewFaultyFS(fsx.OS(), fsxtest.FaultPlan{})
				d, home := newStall(t, seam, nil)
				d.write("shop/a", "1")
				d.init()
				d.write("shop/a", "2")
				req.Workspace = d.ws
				seam.FailNext(op)
				res, err := d.s.Save(t.Context(), req)
				if err == nil || res.Checkpoint.ID != "" || seam.FailedCount() == 0 {
					t.Errorf("a save that was refused answers %q, %v", res.Checkpoint.ID, err)
				}
				d.reopen(home, fsx.OS(), nil)
				d.save(retake.SaveRequest{})
				if got := d.latest("a"); got != "2" {
					t.Errorf("after the disk was whole again a is %q", got)
				}
			}
		})
	}
}

// Harm: a restore begins although all there is now could not be kept.
func TestRestoreWithoutASafetyCheckpoint(t *testing.T) {
	t.Parallel()
	for _, op := range writing {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			seam := fsxtest.NewFaultyFS(fsx.OS(), fsxtest.FaultPlan{})
			d, home := newStall(t, seam, nil)
			d.write("shop/a", "1")
			d.write("shop/dir/b", "1")
			d.init()
			d.write("shop/a", "2")
			d.write("shop/new", "2")
			before := d.files()
			req := d.request(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
			seam.FailNext(op)
			if _, err := d.s.ApplyRestore(t.Context(), req); err == nil || seam.FailedCount() == 0 {
				t.Errorf("a restore went on without its safety checkpoint: %v", err)
			}
			d.same(before)
			d.reopen(home, fsx.OS(), nil)
			if ws, err := d.s.Locate(t.Context(), d.at("shop")); err != nil || ws.Interrupted != nil {
				t.Errorf("a restore that never began is open: %+v %v", ws.Interrupted, err)
			}
			d.restore("1")
			d.same(map[string]string{"a": "1", "dir/b": "1"})
			d.undo()
			d.same(before)
		})
	}
}

// Harm: the disk of the store is full, and a restore overwrites what it could not keep.
func TestRestoreWithoutRoomForSafety(t *testing.T) {
	t.Parallel()
	d, _ := newStall(t, fsx.OS(), nil)
	d.write("shop/a", "1")
	d.init()
	d.write("shop/a", "2")
	req := d.request(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
	must(t, d.set.Set("floor", "8000TB"))
	if _, err := d.s.ApplyRestore(t.Context(), req); !retake.IsKind(err, retake.Limit) {
		t.Errorf("without room: %v", err)
	}
	if d.holds("without room", map[string]string{"a": "2"}); d.checkpoints() != 1 {
		t.Errorf("%d checkpoints", d.checkpoints())
	}
}

// Harm: a restore is killed, and the workspace is gone, half there, or stuck.
func TestKilledRestoreLosesTheWorkspace(t *testing.T) {
	t.Parallel()
	cut := 0
	for at := int64(30); at < 300; at += 9 {
		d, home, st := &desk{T: t, area: t.TempDir()}, t.TempDir(), memorytest.New()
		d.s = inMemory(t, home, st, fsx.OS())
		before, after := map[string]string{"gone": "before"}, map[string]string{"new": "after"}
		for i := range 6 {
			before[fmt.Sprintf("src/f%d", i)], after[fmt.Sprintf("src/f%d", i)] = "before", "after"
		}
		d.fill(before)
		d.init()
		must(t, os.Remove(d.at("shop/gone")))
		d.fill(after)
		d.save(retake.SaveRequest{})
		req := d.request(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
		must(t, d.s.Close())
		d.s = inMemory(t, home, st, fsxtest.CrashAt(fsx.OS(), at, nil))
		_, err := d.s.ApplyRestore(t.Context(), req)
		_ = d.s.Close() // it crashed
		for path, text := range d.files() {
			if text != before[path] && text != after[path] {
				t.Errorf("cut at %d: %s is %q", at, path, text)
			}
		}
		d.s = inMemory(t, home, st, fsx.OS())
		if cut += d.mend(err, at%2 == 0, before, after); t.Failed() {
			t.Fatalf("cut at %d: %v", at, err)
		}
		must(t, d.s.Close())
	}
	if cut < 5 {
		t.Errorf("only %d restores were cut", cut)
	}
}

// inMemory is a service on a store that outlives it, as if processes came and went.
func inMemory(t *testing.T, home string, st *memorytest.Store, seam fsx.FS) *service.Service {
	t.Helper()
	for _, dir := range []string{"index", "returns"} {
		must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	cat, err := sqlite.Open(t.Context(), filepath.Join(home, "catalog.db"), "local", sqlite.Options{})
	must(t, err)
	return service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return st, nil },
			FS:        seam, IndexDir: filepath.Join(home, "index"), DataDir: home,
			RestoreDir: filepath.Join(home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
		KernelFence: true,
	})
}

func (d *desk) fill(files map[string]string) {
	d.Helper()
	for path, text := range files {
		d.write("shop/"+path, text)
	}
}

// mend ends a restore that was cut off, and answers how many there were.
func (d *desk) mend(err error, finish bool, before, after map[string]string) int {
	d.Helper()
	ws, lerr := d.s.Locate(d.Context(), d.at("shop"))
	must(d.T, lerr)
	if ws.Interrupted == nil {
		want := before
		if err != nil && d.files()["new"] != "" {
			want = after
		}
		d.same(want)
		return 0
	}
	_, perr := d.s.PlanRestore(d.Context(), retake.PlanRequest{Workspace: d.ws, Course: retake.CourseRestore, Ref: "1"})
	if !retake.IsKind(perr, retake.Partly) {
		d.Errorf("nobody is told that a restore was interrupted: %v", perr)
	}
	if finish {
		d.goBack(retake.PlanRequest{Course: retake.CourseFinish})
		d.same(before)
	} else {
		d.goBack(retake.PlanRequest{Course: retake.CourseUnwind})
		d.same(after)
	}
	return 1
}

func (d *desk) same(want map[string]string) {
	d.Helper()
	got := d.files()
	if d.holds("after a cut", want); len(got) != len(want) {
		d.Errorf("after a cut: %v, want %v", got, want)
	}
}
