//go:build !portable

package fsx_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// runOnlyWithin runs f with only inside open to changes.
func runOnlyWithin(t *testing.T, inside string, f func()) {
	t.Helper()
	if !fsx.SupportsLandlock() {
		t.Skip("the kernel has no Landlock that lets names move between directories")
	}
	ran := false
	if !fsx.RunWithLandlock([]fsx.Dir{openOS(t, inside)}, func() { ran = true; f() }) || !ran {
		t.Fatal("the kernel can fence and did not")
	}
}

// changes are the ways to change something in dir, where there is a file f, an
// empty directory d and a file in d called g.
func changes(dir string) map[string]func() error {
	at := func(name string) string { return filepath.Join(dir, name) }
	return map[string]func() error{
		"write":    func() error { return os.WriteFile(at("f"), []byte("changed"), 0o600) },
		"truncate": func() error { return os.Truncate(at("f"), 0) },
		"create":   func() error { return os.WriteFile(at("new"), nil, 0o600) },
		"mkdir":    func() error { return os.Mkdir(at("newdir"), 0o755) },
		"symlink":  func() error { return os.Symlink("f", at("newlink")) },
		"link":     func() error { return os.Link(at("f"), at("second")) },
		"fifo":     func() error { return unix.Mkfifo(at("fifo"), 0o600) },
		"socket":   func() error { return unix.Mknod(at("sock"), unix.S_IFSOCK|0o600, 0) },
		"rename":   func() error { return os.Rename(at("r"), at("renamed")) },
		"move":     func() error { return os.Rename(at("d/g"), at("moved")) },
		"remove":   func() error { return unix.Unlink(at("gone")) },
		"rmdir":    func() error { return unix.Rmdir(at("empty")) },
	}
}

func makeTestFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"d", "empty"} {
		must(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	for _, file := range []string{"f", "r", "gone", "d/g"} {
		must(t, os.WriteFile(filepath.Join(dir, file), []byte("data"), 0o600))
	}
	return dir
}

func TestFenceKeepsChangesInside(t *testing.T) {
	t.Parallel()
	inside, outside := makeTestFiles(t), makeTestFiles(t)
	far := openOS(t, outside)
	runOnlyWithin(t, inside, func() {
		for name, change := range changes(outside) {
			if err := change(); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s outside: %v", name, err)
			}
		}
		for name, change := range changes(inside) {
			if err := change(); err != nil {
				t.Errorf("%s inside: %v", name, err)
			}
		}
		for name, err := range map[string]error{
			"out": os.Rename(filepath.Join(inside, "moved"), filepath.Join(outside, "moved")),
			"in":  os.Rename(filepath.Join(outside, "f"), filepath.Join(inside, "taken")),
		} {
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("move %s: %v", name, err)
			}
		}
		if _, err := far.Create("new", 0o600); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("create by a handle from before: %v", err)
		}
		if data, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(data) != "data" {
			t.Errorf("reading outside: %q %v", data, err)
		}
	})
	for name, change := range changes(outside) {
		if err := change(); err != nil {
			t.Errorf("%s after the fence: %v", name, err)
		}
	}
}

func TestTheSeamWorksBehindTheFence(t *testing.T) {
	t.Parallel()
	root := makeTestFiles(t)
	d := openOS(t, root)
	counted, _ := fsxtest.NewCountingFS(fsx.OS())
	stage, err := counted.OpenRoot(t.TempDir())
	must(t, err)
	defer stage.Close()
	if !fsx.SupportsLandlock() {
		t.Skip("the kernel has no Landlock that lets names move between directories")
	}
	ran := fsx.RunWithLandlock([]fsx.Dir{d, stage}, func() {
		writeFile(t, stage, "new", "new")
		is := lstat(t, stage, "new")
		must(t, stage.SetMetadata("new", is.Ino, fsx.Metadata{Mode: 0o751, Mtime: testTime}))
		must(t, errors.Join(stage.Symlink("x", "link"), stage.Mknod("fifo", fsx.FIFO, 0o600), stage.Mkdir("sub", 0o700)))
		// A wrapped directory moves names to any, a bare one only to bare ones.
		must(t, stage.Exchange("new", d, "f"))
		must(t, stage.Link("new", d, "old"))
		must(t, stage.RenameNoReplace("sub", d, "sub"))
		must(t, stage.Rename("link", d, "r"))
		must(t, errors.Join(stage.Remove("fifo"), d.RemoveDir("sub")))
	})
	if got := readFile(t, d, "f") + readFile(t, d, "old"); !ran || got != "newdata" || lstat(t, d, "f").Mode != 0o751 {
		t.Errorf("ran %v, the files hold %q", ran, got)
	}
}

// TestFenceStopsAPlantedLink: a write by path through a link that leads out is
// what a careless line of code would do.
func TestFenceStopsAPlantedLink(t *testing.T) {
	t.Parallel()
	inside, outside := makeTestFiles(t), makeTestFiles(t)
	secret := filepath.Join(outside, "f")
	must(t, os.Symlink(secret, filepath.Join(inside, "evil")))
	must(t, os.Symlink(outside, filepath.Join(inside, "evildir")))
	through := []string{filepath.Join(inside, "evil"), filepath.Join(inside, "evildir", "f")}
	holds := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(secret); err != nil || string(data) != want {
			t.Errorf("the file outside holds %q, want %q, %v", data, want, err)
		}
	}
	runOnlyWithin(t, inside, func() {
		for _, path := range through {
			if err := os.WriteFile(path, []byte("stolen"), 0o600); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("write through %s: %v", path, err)
			}
		}
		if err := os.Remove(through[1]); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("remove through a link: %v", err)
		}
	})
	holds("data")
	for _, path := range through { // the trap works without the fence
		must(t, os.WriteFile(path, []byte("through "+path), 0o600))
		holds("through " + path)
	}
}

func TestFenceLeavesNoThreadBehind(t *testing.T) {
	t.Parallel()
	inside, outside := t.TempDir(), t.TempDir()
	for range 50 {
		runOnlyWithin(t, inside, func() {})
	}
	const threads = 32
	var ready, wg sync.WaitGroup
	ready.Add(threads)
	for range threads { // all of them at once, each on another thread
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
			f, err := os.CreateTemp(outside, "free")
			if err != nil {
				t.Errorf("a thread is still fenced: %v", err)
				return
			}
			_ = f.Close()
		})
	}
	wg.Wait()
}

func TestFencePassesPanicsOn(t *testing.T) {
	t.Parallel()
	inside := t.TempDir()
	func() {
		defer func() {
			if got := recover(); got != "the reason" {
				t.Errorf("recovered %v", got)
			}
		}()
		runOnlyWithin(t, inside, func() { panic("the reason") })
	}()
	done, after := make(chan struct{}), false
	go func() {
		defer close(done)
		runOnlyWithin(t, inside, func() { runtime.Goexit() })
		after = true
	}()
	<-done
	if after {
		t.Error("the caller goes on after its function ended the goroutine")
	}
}

func TestFenceOfAClosedDirectory(t *testing.T) {
	t.Parallel()
	d := openOS(t, t.TempDir())
	must(t, d.Close())
	if fsx.RunWithLandlock([]fsx.Dir{d}, func() { t.Error("it runs") }) {
		t.Error("a closed directory is no fence")
	}
}
