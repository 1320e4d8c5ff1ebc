package track_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

func itoa(n int) string { return strconv.Itoa(n) }

// wantRescan drains and fails unless a rescan is required; the watch is complete again then.
func wantRescan(t *testing.T, w *track.Watch, part string) {
	t.Helper()
	if d := w.Drain(); !strings.Contains(d.RescanReason, part) || d.RescanReason == "" {
		t.Fatalf("doubt %q, want %q; paths %d", d.RescanReason, part, len(d.Paths))
	}
}

// wantNewFile fails unless the watch reports a new file in the root.
func wantNewFile(t *testing.T, w *track.Watch, root, name string) {
	t.Helper()
	must(t, os.WriteFile(root+"/"+name, nil, 0o600))
	wantMarks(t, drainPaths(t, w), marks{name: track.MarkName})
}

// The queue of inotify holds 16,384 events; that of fanotify has no end.
func TestManyChangesAtOnce(t *testing.T) {
	const files = 7_000 // three events each
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("d")
		w := start(t, a.dir, onlyMode(mode))
		release := track.LockQueue(w)
		for i := range files {
			a.write("d/"+itoa(i), "x")
		}
		release()
		if mode == retake.TrackingInotify {
			wantRescan(t, w, "more changes at once than the kernel keeps")
		} else if got := drainPaths(t, w); len(got) < files {
			t.Errorf("%d told of %d", len(got), files)
		}
		wantNewFile(t, w, a.dir, "after")
		a.mkdir("d/new")
		a.write("d/new/f", "")
		wantMarks(t, drainPaths(t, w), marks{"d/new": markAll})
	})
}

// Changes elsewhere on the file system, or here, that take too long to look up are not waited for: a
// rescan comes instead, and the old ones are not told later.
func TestADrainDoesNotWaitForAFlood(t *testing.T) {
	needs(t, retake.TrackingFanotify)
	a := newTestDir(t)
	o := onlyMode(retake.TrackingFanotify)
	o.DrainTime = 1 // as if all of it had passed
	w := start(t, a.dir, o)
	release := track.LockQueue(w)
	for i := range 100 {
		a.write(itoa(i), "x")
	}
	release()
	wantRescan(t, w, "more changes on the file system than can be followed")
}

func TestTooManyPathsAreADoubt(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		o := onlyMode(mode)
		o.MaxPaths = 10
		w := start(t, a.dir, o)
		for i := range 11 {
			a.write(itoa(i), "")
		}
		wantRescan(t, w, "more changes than are kept")
		wantNewFile(t, w, a.dir, "after")
	})
}

func TestMountsBelowTheRoot(t *testing.T) {
	needsMounts(t)
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("d/with blank")
		w := start(t, a.dir, onlyMode(mode))
		mount(t, "none", a.at("d/with blank"), "tmpfs", 0, "")
		wantRescan(t, w, "mounted or unmounted below")
		wantNewFile(t, w, a.dir, "after mount")
		must(t, unix.Unmount(a.at("d/with blank"), 0))
		wantRescan(t, w, "mounted or unmounted below")
		a.write("d/with blank/f", "")
		wantMarks(t, drainPaths(t, w), marks{"d/with blank/f": track.MarkName})
	})
}

// A file system that is followed can be unmounted, and comes back as another.
func TestUnmountOfTheRoot(t *testing.T) {
	needsMounts(t)
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("m")
		mount(t, "none", a.at("m"), "tmpfs", 0, "")
		w := start(t, a.at("m"), onlyMode(mode))
		wantNewFile(t, w, a.at("m"), "f")
		must(t, unix.Unmount(a.at("m"), 0))
		mount(t, "none", a.at("m"), "tmpfs", 0, "")
		if d := w.Drain(); d.RescanReason == "" {
			t.Fatal("another file system stands at the root, and nobody says so")
		}
		wantNewFile(t, w, a.at("m"), "f")
		must(t, unix.Unmount(a.at("m"), 0))
		if d := w.Drain(); d.RescanReason == "" {
			t.Fatal("the file system is gone, and nobody says so")
		}
		wantNewFile(t, w, a.at("m"), "f")
	})
}

func TestAnotherDirectoryAtTheRoot(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("up/root/d")
		root := a.at("up/root")
		w := start(t, root, onlyMode(mode))

		a.remove("up/root") // the inode number may be the same
		a.mkdir("up/root")
		wantRescan(t, w, "")
		wantNewFile(t, w, root, "f1")

		a.move("up/root", "up/old")
		wantRescan(t, w, "the root is gone")
		wantRescan(t, w, "the root is gone")
		a.move("up/old", "up/root")
		wantRescan(t, w, "")
		wantNewFile(t, w, root, "f2")

		a.move("up", "elsewhere")
		a.write("elsewhere/root/f3", "")
		a.move("elsewhere", "up")
		if d := w.Drain(); d.RescanReason == "" && d.Paths["f3"] == 0 {
			t.Errorf("a change while the root was away is lost: %v", d)
		}
		wantNewFile(t, w, root, "f4")
	})
}

func TestRootsInEachOther(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("outer/inner")
		a.mkdir("outer/innerish")
		tr := track.New(onlyMode(mode))
		outer := startWith(t, tr, a.at("outer"))
		inner := startWith(t, tr, a.at("outer/inner"))
		a.write("outer/inner/f", "")
		a.write("outer/innerish/g", "")
		wantMarks(t, drainPaths(t, outer), marks{"inner/f": track.MarkName, "innerish/g": track.MarkName})
		got := drainPaths(t, inner)
		wantMarks(t, got, marks{"f": track.MarkName})
		if len(got) != 1 {
			t.Errorf("told of others: %v", got)
		}
		must(t, inner.Close())
		wantNewFile(t, outer, a.at("outer"), "after")
		if d := inner.Drain(); d.RescanReason == "" {
			t.Error("a closed watch is sure")
		}
	})
}

// The background notifies without a Drain.
func TestToldWakes(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		w := start(t, a.dir, onlyMode(mode))
		a.write("f", "")
		select {
		case <-w.Notify():
		case <-time.After(time.Minute):
			t.Fatal("nobody is told")
		}
		if w.EventCount() == 0 {
			t.Error("woken without an event")
		}
		wantMarks(t, drainPaths(t, w), marks{"f": track.MarkName})
	})
}

func TestFileSystemsThatDoNotTell(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"/proc", "/sys"} {
		_, err := track.New(track.Options{}).Watch(root)
		if err == nil || !strings.Contains(err.Error(), "may change without telling") {
			t.Errorf("%s: %v", root, err)
		}
	}
	a := newTestDir(t)
	a.write("f", "")
	must(t, os.Symlink(".", a.at("l")))
	for _, bad := range []string{a.at("f"), a.at("l"), a.at("none")} {
		if _, err := track.New(track.Options{}).Watch(bad); err == nil {
			t.Errorf("%s is followed", bad)
		}
	}
	if _, err := track.New(track.Options{Mode: retake.TrackingScan}).Watch(a.dir); err == nil {
		t.Error("there is a tracker that scans")
	}
}
