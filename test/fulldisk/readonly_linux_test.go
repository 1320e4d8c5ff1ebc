package fulldisk_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// A command on a read-only disk reads without a daemon and without writing, and says why it
// cannot save.
func TestF7_CommandsReadFromAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk, root := t.TempDir(), filepath.Join(t.TempDir(), "ws")
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("a disk needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("one"), 0o644))
	c := config.Config{DataDir: filepath.Join(disk, "data"), Home: "/nobody", BootID: "first run"}
	command := func() retake.Service {
		set, err := config.Load(filepath.Join(disk, "config.json"))
		must(t, err)
		s, err := assemble.OpenWithoutDaemon(t.Context(), c, set)
		must(t, err)
		return s
	}
	s := open(t, disk, "first run") // a command leaves the closing of its files to the kernel
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	must(t, s.Close())
	if daemonctl.IsReadOnly(c) {
		t.Error("a disk that can be written is called read-only")
	}
	makeReadOnly(t, disk)
	if !daemonctl.IsReadOnly(c) {
		t.Error("the disk is not called read-only")
	}
	s = command()
	defer s.Close() // fails, as nothing can be written
	if log, err := s.Log(t.Context(), retake.LogQuery{Workspace: res.Workspace.ID}); err != nil || len(log.Checkpoints) != 1 {
		t.Errorf("Log: %+v, %v", log, err)
	}
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("two"), 0o644))
	_, err = s.Save(t.Context(), retake.SaveRequest{Workspace: res.Workspace.ID})
	var e *retake.Error
	if !errors.As(err, &e) || e.Kind != retake.Away || e.What != "not saved: the disk of the store is read-only" {
		t.Errorf("Save: %v", err)
	}
}

// makeReadOnly waits until nobody has a file open for writing any more.
func makeReadOnly(t *testing.T, disk string) {
	t.Helper()
	var err error
	for range 6000 {
		if err = syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); !errors.Is(err, syscall.EBUSY) {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	must(t, err)
}

// Locks hold on a read-only disk too: another mount of it may be written to.
func TestF7_LocksOfAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a disk needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	locks := fsx.NewLocks(disk)
	release, err := locks.Lock(t.Context(), "known", true)
	must(t, err)
	release()
	makeReadOnly(t, disk)
	release, err = locks.Lock(t.Context(), "known", true)
	must(t, err)
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := locks.Lock(soon, "known", false); err == nil {
		t.Error("a lock was given twice")
	}
	release()
	release, err = locks.Lock(t.Context(), "unknown", true)
	must(t, err)
	release()
}
