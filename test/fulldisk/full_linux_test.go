// Package fulldisk_test reads a history whose disk is full or read-only.
package fulldisk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
)

// Reading needs no writing: on a full and on a read-only disk, in a new run of the
// machine, the history is listed, compared and planned with; a warning names the disk.
func TestR4_ReadsWorkWithoutWriting(t *testing.T) {
	t.Parallel()
	disk, root := t.TempDir(), filepath.Join(t.TempDir(), "ws")
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a small disk needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("one"), 0o644))
	s := open(t, disk, "first run")
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("two"), 0o644))
	_, err = s.Save(t.Context(), retake.SaveRequest{Workspace: res.Workspace.ID, Intent: "second"})
	must(t, err)
	must(t, s.Close())

	fill(t, filepath.Join(disk, "full"))
	reads(t, disk, root, "full run", "kB free")
	must(t, os.Remove(filepath.Join(disk, "full")))
	must(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	reads(t, disk, root, "read-only run", "read-only")
}

func reads(t *testing.T, disk, root, boot, warned string) {
	t.Helper()
	s := open(t, disk, boot)
	defer s.Close() // fails, as nothing can be written
	ws, err := s.Locate(t.Context(), root)
	if err != nil || !strings.Contains(ws.Stale, warned) {
		t.Fatalf("%s: Locate: %q, %v", boot, ws.Stale, err)
	}
	if all, err := s.Workspaces(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%s: Workspaces: %v, %v", boot, all, err)
	}
	if log, err := s.Log(t.Context(), retake.LogQuery{Workspace: ws.ID}); err != nil || len(log.Checkpoints) != 2 || log.Checkpoints[0].Intent != "second" {
		t.Errorf("%s: Log: %+v, %v", boot, log, err)
	}
	if d, err := s.Diff(t.Context(), retake.DiffQuery{Workspace: ws.ID, To: "2"}); err != nil || len(d.Changes) == 0 {
		t.Errorf("%s: Diff: %+v, %v", boot, d, err)
	}
	if p, err := s.PlanRestore(t.Context(), retake.PlanRequest{Workspace: ws.ID, Course: retake.CourseRestore, Ref: "1"}); err != nil || p.Digest == "" {
		t.Errorf("%s: PlanRestore: %v", boot, err)
	}
}

func open(t *testing.T, disk, boot string) retake.Service {
	t.Helper()
	set, err := config.Load(filepath.Join(t.TempDir(), "config.json"))
	must(t, err)
	must(t, set.Set("floor", "1KB"))
	s, err := assemble.OpenService(t.Context(), config.Config{DataDir: filepath.Join(disk, "data"), Home: "/nobody", BootID: boot}, set, assemble.Options{})
	must(t, err)
	return s
}

// fill leaves no room on a disk.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	for piece := bytes.Repeat([]byte("x"), 64<<10); len(piece) > 0; {
		if _, err = f.Write(piece); errors.Is(err, syscall.ENOSPC) {
			piece = piece[:len(piece)/2]
		} else {
			must(t, err)
		}
	}
	must(t, f.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
