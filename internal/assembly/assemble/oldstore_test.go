package assemble_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
)

// A store that lost its newest checkpoints, as one that was copied back from a backup, gives their
// numbers to no others: people and agents may have written them down.
func TestNumbersAreNeverGivenAgain(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	save := func(s retake.Service, ws retake.WorkspaceID, text string) int64 {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(root, "a"), []byte(text), 0o644))
		res, err := s.Save(t.Context(), retake.SaveRequest{Workspace: ws})
		must(t, err)
		return res.Checkpoint.Number
	}
	s := openSolo(t, home)
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	ws := res.Workspace.ID
	save(s, ws, "2")
	must(t, s.Close())
	dir, old := filepath.Join(home, "data/store"), filepath.Join(home, "old")
	copyDir(t, dir, old)
	s = openSolo(t, home)
	save(s, ws, "3")
	save(s, ws, "4")
	must(t, s.Close())
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(old, dir))

	s = openSolo(t, home)
	if _, err := s.Rebuild(t.Context()); err != nil { // nor does a catalog that is made anew forget
		t.Fatal(err)
	}
	must(t, s.Close())
	s = openSolo(t, home)
	defer s.Close()
	if n := save(s, ws, "5"); n != 5 {
		t.Errorf("the next checkpoint is %d, but 3 and 4 were given before", n)
	}
	if n := save(s, ws, "6"); n != 6 {
		t.Errorf("the one after it is %d", n)
	}
}
