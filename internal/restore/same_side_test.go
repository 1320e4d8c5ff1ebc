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
	b := newBed(t, t.TempDir())
	must(t, os.WriteFile(filepath.Join(b.root, "a"), []byte("a\n"), 0o644))
	s := b.begin(t)
	defer s.Close()
	trial := filepath.Join(filepath.Dir(b.root), "trial")
	res, err := s.Fork(context.Background(), retake.ForkRequest{Workspace: b.ws, Ref: "1", Dir: trial})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(trial, "x"), []byte("same\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(b.root, "x"), []byte("same\n"), 0o644))
	must(t, os.Chtimes(filepath.Join(b.root, "x"), time.Unix(1, 0), time.Unix(1, 0)))
	_, err = b.apply(s, retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
	must(t, err)
	if side, err := os.ReadFile(filepath.Join(b.root, "x.from-fork")); err == nil {
		t.Errorf("a side copy of the same bytes: %q", side)
	}
}

// A fork is adopted again and again: its version of a path lies beside ours once.
func TestOneSideCopyOfOneVersion(t *testing.T) {
	b := newBed(t, t.TempDir())
	must(t, os.WriteFile(filepath.Join(b.root, "a"), []byte("a\n"), 0o644))
	s := b.begin(t)
	defer s.Close()
	trial := filepath.Join(filepath.Dir(b.root), "trial")
	res, err := s.Fork(context.Background(), retake.ForkRequest{Workspace: b.ws, Ref: "1", Dir: trial})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(trial, "a"), []byte("theirs\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(b.root, "a"), []byte("ours\n"), 0o644))
	for range 3 {
		_, err = b.apply(s, retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
		must(t, err)
	}
	must(t, os.WriteFile(filepath.Join(trial, "a"), []byte("theirs, again\n"), 0o644))
	_, err = b.apply(s, retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
	must(t, err)
	found, err := filepath.Glob(filepath.Join(b.root, "a*"))
	must(t, err)
	if len(found) != 3 {
		t.Errorf("two versions came, and there are %q", found)
	}
}
