package mount_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/mount"
)

// writeAttempts is everything that changes something, each by its name.
func writeAttempts(d *mountTest) map[string]func() error {
	file, dir := d.mountPath(first+"/a"), d.mountPath(first)
	return map[string]func() error{
		"write":    func() error { return os.WriteFile(file, []byte("x"), 0o644) },
		"append":   func() error { f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0); f.Close(); return err },
		"create":   func() error { return os.WriteFile(dir+"/new", nil, 0o644) },
		"on top":   func() error { return os.WriteFile(d.mountPath("new"), nil, 0o644) },
		"truncate": func() error { return os.Truncate(file, 0) },
		"remove":   func() error { return os.Remove(file) },
		"rmdir":    func() error { return syscall.Rmdir(d.mountPath(first + "/empty")) },
		"forget":   func() error { return syscall.Rmdir(dir) },
		"unlink":   func() error { return syscall.Unlink(d.mountPath("latest")) },
		"rename":   func() error { return os.Rename(file, dir+"/b") },
		"mkdir":    func() error { return os.Mkdir(dir+"/new", 0o755) },
		"symlink":  func() error { return os.Symlink("x", dir+"/new") },
		"link":     func() error { return os.Link(file, dir+"/new") },
		"mknod":    func() error { return syscall.Mkfifo(dir+"/new", 0o644) },
		"chmod":    func() error { return os.Chmod(file, 0o777) },
		"chown":    func() error { return os.Chown(file, 1, 1) },
		"times":    func() error { return os.Chtimes(file, noon, noon) },
		"setxattr": func() error { return syscall.Setxattr(file, "user.x", []byte("x"), 0) },
		"rmxattr":  func() error { return syscall.Removexattr(file, "user.x") },
	}
}

func TestNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one"); must(t, os.Mkdir(filepath.Join(d.root, "empty"), 0o755)) })
	d.mount(mount.Options{})
	check := func(how string) {
		for name, write := range writeAttempts(d) {
			if err := write(); !errors.Is(err, syscall.EROFS) {
				t.Errorf("%s, %s: %v", how, name, err)
			}
		}
		if d.readFile(first+"/a") != "one" || len(d.listNames(first)) != 2 || len(d.listNames("")) != 2 {
			t.Errorf("%s: something changed", how)
		}
	}
	check("as mounted")
	if err := syscall.Mount("", d.dir, "", syscall.MS_REMOUNT|syscall.MS_NOSUID|syscall.MS_NODEV, ""); err != nil {
		t.Skipf("mount again: %v", err)
	}
	check("mounted again for writing")
}

// The kernel knows what the mount is.
func TestMountFlags(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	d.mount(mount.Options{})
	b, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if f[1] != d.dir {
			continue
		}
		flags := "," + f[3] + ","
		for _, want := range []string{",ro,", ",nosuid,", ",nodev,"} {
			if !strings.Contains(flags, want) {
				t.Errorf("not %s: %s", want, flags)
			}
		}
		if f[0] != "retake" || f[2] != "fuse.retake" || strings.Contains(flags, "allow_other") {
			t.Errorf("mounted as %s", line)
		}
		return
	}
	t.Error("not in the list of mounts")
}

func (d *mountTest) isMounted() bool {
	b, err := os.ReadFile("/proc/self/mounts")
	must(d.T, err)
	return strings.Contains(string(b), " "+d.dir+" ")
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	d.mount(mount.Options{})
	if err := d.waitEnd(); err != nil || d.isMounted() {
		t.Errorf("%v, mounted: %v", err, d.isMounted())
	}
	if got := d.listNames(""); len(got) != 0 {
		t.Errorf("still there: %q", got)
	}
}

// Somebody in the middle of a file does not hold the mount.
func TestEndsWhileInUse(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root unmounts what is in use")
	}
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	d.mount(mount.Options{})
	f, err := os.Open(d.mountPath(first + "/a"))
	must(t, err)
	defer f.Close()
	if err := d.waitEnd(); err != nil || d.isMounted() {
		t.Errorf("%v, mounted: %v", err, d.isMounted())
	}
	if _, err := f.Read(make([]byte, 3)); !errors.Is(err, syscall.EIO) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSomebodyUnmounts(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	d.mount(mount.Options{})
	if err := syscall.Unmount(d.dir, 0); err != nil {
		t.Skipf("unmount: %v", err)
	}
	<-d.ended
	must(t, d.err)
}

func TestPlacesThatAreRefused(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { must(t, os.Mkdir(filepath.Join(d.root, "inside"), 0o755)) })
	full, file, link := t.TempDir(), filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link")
	must(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	must(t, os.WriteFile(file, nil, 0o644))
	must(t, os.Symlink(filepath.Join(d.root, "inside"), link))
	for dir, want := range map[string]struct {
		kind retake.ErrorKind
		what string
	}{
		filepath.Join(d.dir, "absent"):  {retake.NotFound, "is not there"},
		full:                            {retake.Invalid, "is not empty"},
		file:                            {retake.Invalid, "cannot be mounted on"},
		d.root:                          {retake.Invalid, "lies in the workspace"},
		filepath.Join(d.root, "inside"): {retake.Invalid, "lies in the workspace"},
		link:                            {retake.Invalid, "lies in the workspace"},
		filepath.Dir(d.root):            {retake.Invalid, "is not empty"},
	} {
		err := mount.Serve(t.Context(), dir, mount.Options{Workspace: d.ws, Service: d.s}, func() { t.Errorf("%s: mounted", dir) })
		if !retake.IsKind(err, want.kind) || !strings.Contains(err.Error(), want.what) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// What cannot be asked is not mounted.
func TestUnknownWorkspace(t *testing.T) {
	t.Parallel()
	d := newMountTest(t, func(d *mountTest) { d.writeFile("a", "one") })
	err := mount.Serve(t.Context(), d.dir, mount.Options{Workspace: retake.Workspace{ID: "ws_none", Root: "/nowhere"}, Service: d.s}, func() { t.Error("mounted") })
	if !retake.IsKind(err, retake.NotFound) {
		t.Errorf("%v", err)
	}
}
