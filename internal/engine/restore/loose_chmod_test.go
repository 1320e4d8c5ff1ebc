//go:build unix

package restore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
)

func TestUndoOfAModeBesideALooseEdit(t *testing.T) {
	b := newRestoreTest(t, t.TempDir())
	path := filepath.Join(b.root, "b")
	must(t, os.WriteFile(path, []byte("one\n"), 0o644))
	s := b.beginService(t)
	defer s.Close()
	must(t, os.Chmod(path, 0o600))
	save(t, s, b.ws)
	must(t, os.WriteFile(path, []byte("edited, in no checkpoint\n"), 0o600))
	if _, err := b.applyPlan(s, retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"}); err != nil {
		t.Fatalf("nobody touched anything: %v", err)
	}
	i, err := os.Stat(path)
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	if i.Mode() != 0o644 || string(text) != "edited, in no checkpoint\n" {
		t.Errorf("mode %s, text %q", i.Mode(), text)
	}
}
