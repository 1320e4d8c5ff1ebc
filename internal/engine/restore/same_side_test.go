//go:build unix

package restore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

func TestNoSideCopyOfTheSameBytes(t *testing.T) {
	b := newRestoreTest(t, t.TempDir())
	must(t, os.WriteFile(filepath.Join(b.root, "a"), []byte("a\n"), 0o644))
	s := b.beginService(t)
	defer s.Close()
	trial := filepath.Join(filepath.Dir(b.root), "trial")
	res, err := s.Fork(context.Background(), retake.ForkRequest{Workspace: b.ws, Ref: "1", Dir: trial})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(trial, "x"), []byte("same\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(b.root, "x"), []byte("same\n"), 0o644))
	must(t, os.Chtimes(filepath.Join(b.root, "x"), time.Unix(1, 0), time.Unix(1, 0)))
	_, err = b.applyPlan(s, retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
	must(t, err)
	if side, err := os.ReadFile(filepath.Join(b.root, "x.from-fork")); err == nil {
		t.Errorf("a side copy of the same bytes: %q", side)
	}
}
