//go:build unix

package restore_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

func (r *serviceTest) info(path string) os.FileInfo {
	r.Helper()
	i, err := os.Lstat(path)
	must(r, err)
	return i
}

// Fault: one name of a file with several came back as a link to what it should replace.
func TestOneNameOfAFileWithSeveralComesBack(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "one")
	must(t, os.Link(r.filePath("a"), r.filePath("b")))
	r.recordTurn() // 2
	r.recordTurn("a", "two!")
	r.wantRestored(to("2", "a"))
	r.wantFiles("a", "one", "b", "two!")
	r.wantRestored(to("2"))
	r.wantFiles("a", "one", "b", "one")
	if !os.SameFile(r.info(r.filePath("a")), r.info(r.filePath("b"))) {
		t.Error("a and b are no longer one file")
	}
}

// Fault: mode and time of a file with several names did not come back, or came to a name
// outside as well.
func TestDressOfAFileWithSeveralNamesComesBack(t *testing.T) {
	t.Parallel()
	before, after := time.Unix(1e9, 0), time.Unix(11e8, 0)
	for name, change := range map[string]func(string) error{
		"mode": func(path string) error { return os.Chmod(path, 0o755) },
		"time": func(path string) error { return os.Chtimes(path, after, after) },
	} {
		for _, outside := range []bool{false, true} {
			r := newServiceTest(t, "a", "one")
			other := r.filePath("b")
			if outside {
				other = filepath.Join(r.home, "b")
			}
			must(t, os.Link(r.filePath("a"), other))
			must(t, os.Chtimes(other, before, before))
			r.recordTurn() // 2
			must(t, change(other))
			save(t, r.s, r.ws)
			changed := r.info(other)
			r.wantRestored(to("2"))
			a, b := r.info(r.filePath("a")), r.info(other)
			if a.Mode() != 0o644 || !a.ModTime().Equal(before) {
				t.Errorf("%s, outside %t: a is %v %v", name, outside, a.Mode(), a.ModTime())
			}
			if os.SameFile(a, b) == outside {
				t.Errorf("%s, outside %t: one file is %t", name, outside, !outside)
			}
			if outside && (b.Mode() != changed.Mode() || !b.ModTime().Equal(changed.ModTime())) {
				t.Errorf("%s: the name outside was touched: %v %v", name, b.Mode(), b.ModTime())
			}
		}
	}
}

// Fault: a cut between two names of one file left them two files.
func TestCutBetweenTwoNamesOfAFileIsEnded(t *testing.T) {
	t.Parallel()
	for _, course := range []retake.Course{retake.CourseFinish, retake.CourseUnwind} {
		r := newServiceTest(t, append(many(15, "1"), "y", "1")...)
		must(t, os.Link(r.filePath("y"), r.filePath("z")))
		r.recordTurn() // 2
		goal := treeShape(t, r.root)
		r.recordTurn(append(many(15, "22"), "y", "22")...)
		if course == retake.CourseUnwind {
			goal = treeShape(t, r.root)
		}
		r.interrupt(to("2"))
		r.wantFiles("y", "1", "z", "22")
		r.wantRestored(retake.PlanRequest{Course: course})
		if got := treeShape(t, r.root); got != goal {
			t.Errorf("%s\n--- want\n%s\n--- got\n%s", course, goal, got)
		}
	}
}

// Fault: the safety checkpoint did not hold attributes that the root got since.
func TestSafetyCheckpointHoldsAttributesOfTheRoot(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1")
	r.recordTurn("a", "22")
	root, err := fsx.OS().OpenRoot(r.root)
	must(t, err)
	defer root.Close()
	if err := root.SetXattr("user.mine", []byte("v")); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this file system has no attributes")
	} else {
		must(t, err)
	}
	res := r.wantRestored(to("1"))
	if has, err := root.Xattrs(); err != nil || has["user.mine"] != nil {
		t.Errorf("after the restore: %v %v", has, err)
	}
	r.wantRestored(to(string(res.Safety.ID)))
	if has, err := root.Xattrs(); err != nil || string(has["user.mine"]) != "v" {
		t.Errorf("back again: %v %v", has, err)
	}
}

// Fault: a file of time zero came back with the time of the restore.
func TestTimeZeroComesBack(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1")
	must(t, os.Chtimes(r.filePath("a"), time.Unix(0, 0), time.Unix(0, 0)))
	r.recordTurn() // 2
	r.recordTurn("a", "22")
	r.wantRestored(to("2"))
	if at := r.info(r.filePath("a")).ModTime(); !at.Equal(time.Unix(0, 0)) {
		t.Errorf("its time is %v", at)
	}
	if p := r.plan(to("2")); p.Total() > 0 {
		t.Errorf("there is more to do: %v", paths(p.Writes))
	}
}

// Fault: many deletions made new files come to their names before their bytes were durable.
func TestNewFilesAreDurableWhateverElseGoes(t *testing.T) {
	t.Parallel()
	seam, count := fsxtest.NewCountingFS(fsx.OS())
	r := startServiceTest(t, seam, many(10, "1")...)
	r.recordTurn(many(80, "22")...)
	p := r.plan(to("1"))
	before := count.OpCounts()["File.Sync"]
	res := r.wantRestored(to("1"))
	if len(p.Writes) != 10 || res.Written != 10 || res.Deleted != 70 {
		t.Fatalf("written %d, deleted %d", res.Written, res.Deleted)
	}
	if n := count.OpCounts()["File.Sync"] - before; n < 10 {
		t.Errorf("%d syncs for 10 new files", n)
	}
}

// Fault: a path that is in no checkpoint any more made every first try answer that it moved.
func TestPlanWithAPathThatBecameAGapApplies(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "one", "z", "1")
	r.recordTurn("a", "two!", "z", "22")
	r.policy = retake.Policy{Exclude: []string{"a"}}
	if k := keepAt(r.plan(to("1")), "a"); k.Why != retake.KeepUncaptured {
		t.Errorf("it is not told: %+v", k)
	}
	r.wantRestored(to("1"))
	r.wantFiles("a", "two!", "z", "1")
}

// Fault: a directory that stayed for a path in no checkpoint lost its repository.
func TestRepositoryStaysWithItsDirectory(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "z", "1")
	r.policy = retake.Policy{Exclude: []string{"sub/secret"}}
	r.recordTurn("sub/.git/HEAD", "ref: refs/heads/main\n", "sub/secret", "s", "sub/f", "f")
	if k := keepAt(r.plan(to("1")), "sub/.git/"); k.Why != retake.KeepGit {
		t.Errorf("it is not told: %+v", k)
	}
	r.wantRestored(to("1"))
	r.wantFiles("sub/.git/HEAD", "ref: refs/heads/main\n", "sub/secret", "s", "sub/f", "-")
}

// Fault: a file in the way of a chosen path was passed over in silence.
func TestFileInTheWayOfAPathIsNamed(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "d/x", "x")
	must(t, os.RemoveAll(r.filePath("d")))
	r.recordTurn("d", "a file")
	if k := keepAt(r.plan(to("1", "d/x")), "d"); k.Why != retake.KeepOccupied {
		t.Errorf("it is not told: %+v", k)
	}
	r.wantRestored(to("1", "d/x"))
	r.wantFiles("d", "a file")
}

// Fault: a side copy took a name that the plan itself brings, or one too long to be made.
func TestSideCopiesHaveNamesThatAreFree(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 249)
	r := newServiceTest(t, "a", "1\n", "a.before-2", "mine\n", long+"1", "1\n", long+"2", "2\n")
	must(t, os.Remove(r.filePath("a.before-2")))
	r.recordTurn("a", "22\n", long+"1", "22\n", long+"2", "22\n")
	r.recordTurn("a", "333\n", long+"1", "333\n", long+"2", "333\n")
	req := retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"}
	p := r.plan(req)
	r.wantRestored(req)
	r.wantFiles("a", "333\n", "a.before-2", "mine\n", keepAt(p, "a").Side, "1\n")
	r.wantFiles(long+"1", "333\n", keepAt(p, long+"1").Side, "1\n")
	r.wantFiles(long+"2", "333\n", keepAt(p, long+"2").Side, "2\n")
}

// Fault: a fork in its own workspace was deleted when that went back.
func TestForkInItsOwnWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "d/a", "1")
	for _, dir := range []string{"try", "d/try"} {
		_, err := r.s.Fork(t.Context(), retake.ForkRequest{Workspace: r.ws, Ref: "1", Dir: r.filePath(dir)})
		if !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := os.Lstat(r.filePath(dir)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made: %v", dir, err)
		}
	}
}

// Fault: a fork whose directory was removed could not be adopted, though its checkpoints are there.
func TestRemovedForkIsAdopted(t *testing.T) {
	t.Parallel()
	r := newServiceTest(t, "a", "1", "b", "1")
	f, err := r.s.Fork(t.Context(), retake.ForkRequest{Workspace: r.ws, Ref: "1", Dir: filepath.Join(filepath.Dir(r.root), "try")})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(f.Workspace.Root, "a"), []byte("forked"), 0o644))
	save(t, r.s, f.Workspace.ID)
	must(t, os.RemoveAll(f.Workspace.Root))
	r.wantRestored(retake.PlanRequest{Course: retake.CourseAdopt, Fork: f.Workspace.ID})
	r.wantFiles("a", "forked", "b", "1")
}

// Fault: every file had its whole directory read anew. Memory tells of that work on a busy
// machine too; it is counted for all tests, so this one is not beside others.
func TestFlatDirectoryIsRestoredByLinearWork(t *testing.T) {
	work := func(n int) uint64 {
		r := newServiceTest(t, prefixed("flat/", many(n, "1"))...)
		r.recordTurn(prefixed("flat/", many(n, "22"))...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := r.wantRestored(to("1"))
		runtime.ReadMemStats(&after)
		if res.Written != n {
			t.Fatalf("%d of %d files were written", res.Written, n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, lots := work(500), work(2000); lots > 5*few {
		t.Errorf("500 files take %d bytes, 2000 take %d", few, lots)
	}
}

// prefixed puts a directory before the names.
func prefixed(dir string, files []string) []string {
	for i := 0; i < len(files); i += 2 {
		files[i] = dir + files[i]
	}
	return files
}

// nobody is a user without rights.
const nobody = 65534

// Fault: read-only directories could not be emptied, filled, replaced, or lost their mode.
func TestReadOnlyDirectoriesAreChangedAndStayReadOnly(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		readOnlyDirectories(t)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("this test cannot become a user without rights here")
	}
	area, err := os.MkdirTemp("", "readonly") // the directories of a test are closed to others
	must(t, err)
	defer os.RemoveAll(area)
	must(t, os.Chown(area, nobody, nobody))
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Dir, cmd.Env = area, []string{"TMPDIR=" + area}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("this test cannot become a user without rights: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("as a user without rights: %v\n%s", err, out)
	}
}

func readOnlyDirectories(t *testing.T) {
	shut := func(r *serviceTest, dir string) { must(t, os.Chmod(r.filePath(dir), 0o555)) }
	is := func(r *serviceTest, want string) {
		t.Helper()
		if got := treeShape(t, r.root); got != want {
			t.Errorf("--- want\n%s\n--- got\n%s", want, got)
		}
	}
	r := newServiceTest(t, append(prefixed("ro/", many(20, "1")), "x", "a file")...)
	first := treeShape(t, r.root)
	must(t, os.Remove(r.filePath("x")))
	must(t, os.Mkdir(r.filePath("x"), 0o555))
	r.writeFiles("new/f", "1")
	shut(r, "new")
	shut(r, "ro")
	r.recordTurn() // 2
	second := treeShape(t, r.root)
	for range 2 {
		r.wantRestored(to("1"))
		is(r, first)
		r.wantRestored(to("2"))
		is(r, second)
	}
	must(t, os.Chmod(r.filePath("ro"), 0o755))
	must(t, os.RemoveAll(r.filePath("ro")))
	r.writeFiles("ro/h", "1")
	shut(r, "ro")
	save(t, r.s, r.ws)
	third := treeShape(t, r.root)
	r.interrupt(to("2"))
	r.wantRestored(retake.PlanRequest{Course: retake.CourseUnwind})
	is(r, third)
	r.wantRestored(to("2"))
	is(r, second)
	must(t, filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error { // so that it can be removed
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}))
}
