//go:build unix

package restore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
)

// A workspace that is in another one is known by a mark on its directory. Going back to a
// checkpoint before it was protected must not end its protection.
func TestAWorkspaceInsideStaysOne(t *testing.T) {
	r := newServiceTest(t, "out", "1\n", "in/file", "1\n")
	inner, err := r.s.Init(t.Context(), retake.InitRequest{Dir: r.filePath("in"), Accept: []string{retake.DangerNested}})
	must(t, err)
	if inner.Workspace.ID == r.ws {
		t.Fatal("the directory inside is no workspace of its own")
	}
	r.recordTurn("out", "2\n", "in/file", "2\n")
	is := func(when, dir string, want retake.WorkspaceID) {
		t.Helper()
		if ws, err := r.s.Locate(t.Context(), dir); err != nil || ws.ID != want {
			t.Errorf("%s %s is %s, want %s: %v", when, dir, ws.ID, want, err)
		}
	}

	must(t, os.Chmod(r.filePath("in"), 0o700)) // so that the directory is dressed as well
	r.wantRestored(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
	r.wantFiles("out", "1\n", "in/file", "1\n")
	is("after a restore", r.filePath("in"), inner.Workspace.ID)
	r.wantRestored(retake.PlanRequest{Course: retake.CourseUndo})
	is("after an undo", r.filePath("in"), inner.Workspace.ID)

	// Deleted with its directory, it comes back with it.
	must(t, os.RemoveAll(r.filePath("in")))
	r.wantRestored(retake.PlanRequest{Course: retake.CourseRestore, Ref: "2"})
	is("brought back", r.filePath("in"), inner.Workspace.ID)

	// A copy of its files is not it.
	dir := filepath.Join(t.TempDir(), "fork")
	fork, err := r.s.Fork(t.Context(), retake.ForkRequest{Workspace: r.ws, Ref: "2", Dir: dir})
	must(t, err)
	is("in a fork", filepath.Join(dir, "in"), fork.Workspace.ID)
}
