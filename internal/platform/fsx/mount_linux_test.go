//go:build !portable

package fsx_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// usePrivateMounts gives the rest of the test a mount table of its own. The thread is
// never unlocked, so it ends with the test and takes its mounts along.
func usePrivateMounts(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		t.Skipf("no mounts for us here: %v", err)
	}
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
}

func TestMountsAreNotEntered(t *testing.T) {
	for name, fs := range map[string]fsx.FS{"os": fsx.OS(), "plain": fsx.PlainOS()} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range []string{"source", "bind", "tmpfs"} {
				must(t, os.Mkdir(filepath.Join(root, dir), 0o755))
			}
			for _, file := range []string{"file", "bindfile", "source/f"} {
				must(t, os.WriteFile(filepath.Join(root, file), []byte("x"), 0o600))
			}
			usePrivateMounts(t)
			bind := func(from, to string) {
				must(t, unix.Mount(filepath.Join(root, from), filepath.Join(root, to), "", unix.MS_BIND, ""))
				t.Cleanup(func() { _ = unix.Unmount(filepath.Join(root, to), unix.MNT_DETACH) })
			}
			bind("source", "bind")
			bind("file", "bindfile")
			must(t, unix.Mount("none", filepath.Join(root, "tmpfs"), "tmpfs", 0, "size=64k"))
			t.Cleanup(func() { _ = unix.Unmount(filepath.Join(root, "tmpfs"), unix.MNT_DETACH) })

			d, err := fs.OpenRoot(root)
			must(t, err)
			defer d.Close()
			for _, mount := range []string{"bind", "tmpfs"} {
				if _, err := d.OpenDir(mount); !errors.Is(err, fsx.ErrOtherMount) {
					t.Errorf("open %s: %v", mount, err)
				}
			}
			if _, err := d.OpenFile("bindfile"); !errors.Is(err, fsx.ErrOtherMount) {
				t.Errorf("open bindfile: %v", err)
			}
			testFullDisk(t, fs, filepath.Join(root, "tmpfs"))
		})
	}
}

func testFullDisk(t *testing.T, fs fsx.FS, root string) {
	t.Helper()
	d, err := fs.OpenRoot(root)
	must(t, err)
	defer d.Close()
	f, err := d.Create("big", 0o600)
	must(t, err)
	defer f.Close()
	n, err := f.Write(make([]byte, 1<<20))
	if !errors.Is(err, fsx.ErrNoSpace) || !errors.Is(err, unix.ENOSPC) || n == 0 || n > 64<<10 {
		t.Errorf("wrote %d bytes to 64 KiB: %v", n, err)
	}
}

func TestReadingLeavesTheAccessTime(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "f")
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	then := time.Unix(1_000_000_000, 0)
	accessed := func() int64 {
		var st unix.Stat_t
		must(t, unix.Stat(path, &st))
		return st.Atim.Nano()
	}
	must(t, os.Chtimes(path, then, then.Add(time.Hour)))
	d, err := fsx.OS().OpenRoot(root)
	must(t, err)
	defer d.Close()
	if got := readFile(t, d, "f"); got != "x" || accessed() != then.UnixNano() {
		t.Errorf("read %q, accessed %d", got, accessed())
	}
	if _, err := os.ReadFile(path); err != nil || accessed() == then.UnixNano() {
		t.Skipf("access times are not kept here: %v", err)
	}
}
