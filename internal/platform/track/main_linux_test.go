package track_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

const ownMounts = "TRACK_TEST_OWN_MOUNTS"

// TestMain starts the tests anew with a mount table of their own, so that no
// mount outlives them. All threads have to be in it, which only exec does.
func TestMain(m *testing.M) {
	if os.Geteuid() == 0 && os.Getenv(ownMounts) == "" && os.Getenv(poorRole) == "" {
		runtime.LockOSThread()
		if unix.Unshare(unix.CLONE_NEWNS) == nil && unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") == nil {
			_ = unix.Exec("/proc/self/exe", os.Args, append(os.Environ(), ownMounts+"=1"))
		}
		runtime.UnlockOSThread()
	}
	os.Exit(m.Run())
}

var modes = []retake.TrackingMode{retake.TrackingFanotify, retake.TrackingInotify}

// inEach runs a test once for fanotify and once for inotify.
func inEach(t *testing.T, run func(t *testing.T, mode retake.TrackingMode)) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			needs(t, mode)
			run(t, mode)
		})
	}
}

// needs skips what this user, or the place of temporary files, cannot do.
func needs(t testing.TB, mode retake.TrackingMode) {
	t.Helper()
	if mode != retake.TrackingFanotify {
		return
	}
	w, err := track.New(onlyMode(mode)).Watch(t.TempDir())
	if err != nil {
		t.Skipf("a mark on a file system needs root, and handles: %v", err)
	}
	must(t, w.Close())
}

func needsMounts(t testing.TB) {
	t.Helper()
	if os.Getenv(ownMounts) == "" {
		t.Skip("mounting needs root and a mount table of our own")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mount mounts for the time of the test.
func mount(t testing.TB, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	must(t, os.MkdirAll(target, 0o755))
	must(t, unix.Mount(source, target, kind, flags, data))
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
}

// start watches a root and discards what was reported before.
func start(t testing.TB, root string, o track.Options) *track.Watch {
	t.Helper()
	return startWith(t, track.New(o), root)
}

func startWith(t testing.TB, tr *track.Tracker, root string) *track.Watch {
	t.Helper()
	t.Cleanup(func() { must(t, tr.Close()) })
	w, err := tr.Watch(root)
	must(t, err)
	w.Drain()
	return w
}

func onlyMode(mode retake.TrackingMode) track.Options {
	return track.Options{Mode: mode, TrustUnreadable: true, DrainTime: time.Minute}
}

// drainPaths drains and fails if a rescan is required.
func drainPaths(t testing.TB, w *track.Watch) map[string]track.Mark {
	t.Helper()
	d := w.Drain()
	if d.RescanReason != "" {
		t.Fatalf("in doubt: %s", d.RescanReason)
	}
	return d.Paths
}

// wantMarks fails unless the paths carry these marks at least.
func wantMarks(t testing.TB, got, want map[string]track.Mark) {
	t.Helper()
	for path, m := range want {
		if got[path]&m != m {
			t.Errorf("%q has marks %b, want %b; all: %v", path, got[path], m, got)
		}
	}
}

// testDir is a directory with short calls that end the test when they fail.
type testDir struct {
	testing.TB
	dir string
}

func newTestDir(t testing.TB) testDir {
	t.Helper()
	return testDir{t, t.TempDir()}
}

func (a testDir) at(rel string) string { return filepath.Join(a.dir, rel) }

func (a testDir) write(rel, content string) {
	a.Helper()
	must(a, os.WriteFile(a.at(rel), []byte(content), 0o644))
}

func (a testDir) mkdir(rel string) {
	a.Helper()
	must(a, os.MkdirAll(a.at(rel), 0o755))
}

func (a testDir) move(from, to string) {
	a.Helper()
	must(a, os.Rename(a.at(from), a.at(to)))
}

func (a testDir) remove(rel string) {
	a.Helper()
	must(a, os.RemoveAll(a.at(rel)))
}

func (a testDir) open(rel string, flags int) *os.File {
	a.Helper()
	f, err := os.OpenFile(a.at(rel), flags, 0o644)
	must(a, err)
	a.Cleanup(func() { f.Close() })
	return f
}

// mapped maps the first page of an open file.
func (a testDir) mapped(f *os.File, prot int) []byte {
	a.Helper()
	b, err := unix.Mmap(int(f.Fd()), 0, 4096, prot, unix.MAP_SHARED)
	must(a, err)
	return b
}
