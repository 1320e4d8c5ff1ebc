//go:build !portable

package fsx_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func openOS(t *testing.T, root string) fsx.Dir {
	t.Helper()
	d, err := fsx.OS().OpenRoot(root)
	must(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestPlaceWithoutTheKernelsHelp(t *testing.T) {
	t.Parallel()
	for _, errno := range []unix.Errno{unix.EINVAL, unix.ENOSYS} {
		d := openOS(t, t.TempDir())
		writeFile(t, d, "a", "A")
		writeFile(t, d, "b", "B")
		must(t, d.Mkdir("dir", 0o755))
		withoutSyscall(t, unix.SYS_RENAMEAT2, 4, unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE, errno, func() {
			if err := d.RenameNoReplace("a", d, "b"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("place on a taken name: %v", err)
			}
			if err := d.Exchange("a", d, "b"); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, errno) {
				t.Errorf("exchange: %v", err)
			}
			must(t, d.RenameNoReplace("a", d, "c"))
			must(t, d.RenameNoReplace("dir", d, "moved"))
		})
		if got := readFile(t, d, "b") + readFile(t, d, "c"); got != "BA" || lstat(t, d, "moved").Type != fsx.Directory {
			t.Errorf("the files hold %q", got)
		}
	}
}

func TestDressOnAnOlderKernel(t *testing.T) {
	t.Parallel()
	d := openOS(t, t.TempDir())
	writeFile(t, d, "f", "x")
	must(t, d.Symlink("f", "link"))
	withoutSyscall(t, unix.SYS_UTIMENSAT, 3, unix.AT_EMPTY_PATH, unix.EINVAL, func() {
		for i, name := range []string{"f", "link"} {
			is := lstat(t, d, name)
			must(t, d.SetMetadata(name, is.Ino, fsx.Metadata{Mode: 0o640, Mtime: int64(i) + 5}))
		}
	})
	if a, b := lstat(t, d, "f"), lstat(t, d, "link"); a.Mtime != 5 || a.Mode != 0o640 || b.Mtime != 6 {
		t.Errorf("%+v %+v", a, b)
	}
}

// TestDressWithoutProc hides /proc from this thread alone.
func TestDressWithoutProc(t *testing.T) {
	d := openOS(t, t.TempDir())
	writeFile(t, d, "f", "x")
	must(t, d.Mkdir("dir", 0o755))
	must(t, d.Symlink("f", "link"))
	must(t, d.Mknod("fifo", fsx.FIFO, 0o600))
	usePrivateMounts(t)
	must(t, unix.Mount("none", "/proc", "tmpfs", 0, ""))
	t.Cleanup(func() { _ = unix.Unmount("/proc", unix.MNT_DETACH) })
	for name, attrs := range map[string]map[string][]byte{
		"f": {"user.a": []byte("1")}, "dir": {"user.b": []byte("2")}, "link": nil,
	} {
		is := lstat(t, d, name)
		must(t, d.SetMetadata(name, is.Ino, fsx.Metadata{SetOwner: true, UID: 3, GID: 4, Mode: 0o4710, Mtime: testTime, Xattrs: attrs}))
		got := lstat(t, d, name)
		if got.UID != 3 || got.GID != 4 || got.Mtime != testTime || name != "link" && got.Mode != 0o4710 {
			t.Errorf("%s is %+v", name, got)
		}
		if name != "link" {
			if diff := cmp.Diff(attrs, xattrsOf(t, d, name)); diff != "" {
				t.Error(name, diff)
			}
		}
	}
	is := lstat(t, d, "fifo")
	if err := d.SetMetadata("fifo", is.Ino, fsx.Metadata{Mode: 0o640, Mtime: testTime}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a fifo: %v", err)
	}
	if got := lstat(t, d, "fifo"); got != is {
		t.Errorf("the fifo is %+v, was %+v", got, is)
	}
}

func TestNobodyDresses(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become nobody")
	}
	root := t.TempDir()
	d := openOS(t, root)
	for _, name := range []string{"mine", "locked", "theirs", "grouped"} {
		writeFile(t, d, name, "x")
		if name != "theirs" {
			must(t, os.Chown(filepath.Join(root, name), nobody, nobody))
		}
	}
	must(t, os.Chown(filepath.Join(root, "grouped"), nobody, 0))
	attrs := map[string][]byte{"user.a": []byte("1")}
	asNobody(t, func() {
		is := lstat(t, d, "mine")
		dr := fsx.Metadata{SetOwner: true, UID: 0, GID: nobody, Mode: 0o640, Mtime: testTime, Xattrs: attrs}
		if err := d.SetMetadata("mine", is.Ino, dr); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("give a file away: %v", err)
		}
		if got := lstat(t, d, "mine"); got != is {
			t.Errorf("the rest was given all the same: %+v, was %+v", got, is)
		}
		dr.SetOwner = false
		must(t, d.SetMetadata("mine", is.Ino, dr))

		dr.Mode = 0o000 // keeps even the owner from the attributes
		must(t, d.SetMetadata("locked", lstat(t, d, "locked").Ino, dr))
		dr.Xattrs = map[string][]byte{"user.b": nil}
		must(t, d.SetMetadata("locked", lstat(t, d, "locked").Ino, dr))

		if err := d.SetMetadata("theirs", lstat(t, d, "theirs").Ino, dr); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("the file of another: %v", err)
		}
		dr = fsx.Metadata{Mode: 0o2710, Mtime: testTime}
		if err := d.SetMetadata("grouped", lstat(t, d, "grouped").Ino, dr); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("setgid that the kernel drops: %v", err)
		}
	})
	if got := lstat(t, d, "mine"); got.UID != nobody || got.Mode != 0o640 || got.Mtime != testTime {
		t.Errorf("mine is %+v", got)
	}
	if got := lstat(t, d, "locked"); got.Mode != 0 || got.Mtime != testTime {
		t.Errorf("locked is %+v", got)
	}
	if diff := cmp.Diff(attrs, xattrsOf(t, d, "mine")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string][]byte{"user.b": {}}, xattrsOf(t, d, "locked")); diff != "" {
		t.Error(diff)
	}
}

// TestDressReachesNothingElse swaps the file with a link that leads out, without
// end. Dressing by path in the same loop does get there.
func TestDressReachesNothingElse(t *testing.T) {
	t.Parallel()
	const enough = 2000
	root, outside := t.TempDir(), t.TempDir()
	victim, bait := filepath.Join(outside, "victim"), filepath.Join(outside, "bait")
	for _, path := range []string{victim, bait, filepath.Join(root, "x"), filepath.Join(root, "y")} {
		must(t, os.WriteFile(path, nil, 0o600))
	}
	must(t, os.Symlink(victim, filepath.Join(root, "xlink")))
	must(t, os.Symlink(bait, filepath.Join(root, "ylink")))
	d := openOS(t, root)
	ino := lstat(t, d, "x").Ino
	stop := make(chan struct{})
	done := swapNames(t, root, [][2]string{{"x", "xlink"}, {"y", "ylink"}}, stop)
	defer func() { close(stop); <-done }()
	deadline := time.After(60 * time.Second)
	dressed, refused, escaped := 0, 0, 0
	for mode := uint32(0o600); dressed < enough || refused < enough || escaped < enough; mode ^= 0o041 {
		switch err := d.SetMetadata("x", ino, fsx.Metadata{Mode: mode, Mtime: testTime, SetOwner: true, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}); {
		case err == nil:
			dressed++
		case errors.Is(err, fsx.ErrUnexpectedFile):
			refused++
		default:
			t.Fatal(err)
		}
		must(t, os.Chmod(bait, 0o600))
		_ = os.Chmod(filepath.Join(root, "y"), 0o777)
		if st, err := os.Stat(bait); err == nil && st.Mode().Perm() == 0o777 {
			escaped++
		}
		select {
		case <-deadline:
			t.Fatalf("dressed %d, refused %d, escaped by path %d", dressed, refused, escaped)
		default:
		}
	}
	if st, err := os.Stat(victim); err != nil || st.Mode().Perm() != 0o600 || st.ModTime().UnixNano() == testTime {
		t.Errorf("the file outside was dressed: %v %v", st.Mode(), err)
	}
}

func TestDressStaysOnThisMount(t *testing.T) {
	for name, fs := range map[string]fsx.FS{"os": fsx.OS(), "plain": fsx.PlainOS()} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, file := range []string{"source", "bound"} {
				must(t, os.WriteFile(filepath.Join(root, file), nil, 0o600))
			}
			usePrivateMounts(t)
			bound := filepath.Join(root, "bound")
			must(t, unix.Mount(filepath.Join(root, "source"), bound, "", unix.MS_BIND, ""))
			t.Cleanup(func() { _ = unix.Unmount(bound, unix.MNT_DETACH) })
			d, err := fs.OpenRoot(root)
			must(t, err)
			defer d.Close()
			is := lstat(t, d, "bound")
			if err := d.SetMetadata("bound", is.Ino, fsx.Metadata{Mode: 0o777}); !errors.Is(err, fsx.ErrOtherMount) {
				t.Errorf("dress a mount: %v", err)
			}
		})
	}
}
