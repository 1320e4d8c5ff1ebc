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

// doubtful drains and fails without a doubt; the watch is whole again then.
func doubtful(t *testing.T, w *track.Watch, part string) {
	t.Helper()
	if d := w.Drain(); !strings.Contains(d.Doubt, part) || d.Doubt == "" {
		t.Fatalf("doubt %q, want %q; paths %d", d.Doubt, part, len(d.Paths))
	}
}

// hears fails unless the watch tells of a new file in the root.
func hears(t *testing.T, w *track.Watch, root, name string) {
	t.Helper()
	must(t, os.WriteFile(root+"/"+name, nil, 0o600))
	told(t, sure(t, w), marks{name: track.Name})
}

// The queue of inotify holds 16,384 events; that of fanotify has no end.
func TestManyChangesAtOnce(t *testing.T) {
	const files = 7_000 // three events each
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		a.mkdir("d")
		w := start(t, a.dir, only(mode))
		release := track.Hold(w)
		for i := range files {
			a.write("d/"+itoa(i), "x")
		}
		release()
		if mode == retake.TrackingInotify {
			doubtful(t, w, "more changes at once than the kernel keeps")
		} else if got := sure(t, w); len(got) < files {
			t.Errorf("%d told of %d", len(got), files)
		}
		hears(t, w, a.dir, "after")
		a.mkdir("d/new")
		a.write("d/new/f", "")
		told(t, sure(t, w), marks{"d/new": whole})
	})
}

func TestTooManyPathsAreADoubt(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		o := only(mode)
		o.Limit = 10
		w := start(t, a.dir, o)
		for i := range 11 {
			a.write(itoa(i), "")
		}
		doubtful(t, w, "more changes than are kept")
		hears(t, w, a.dir, "after")
	})
}

func TestMountsBelowTheRoot(t *testing.T) {
	needsMounts(t)
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		a.mkdir("d/with blank")
		w := start(t, a.dir, only(mode))
		mount(t, "none", a.at("d/with blank"), "tmpfs", 0, "")
		doubtful(t, w, "mounted or unmounted below")
		hears(t, w, a.dir, "after mount")
		must(t, unix.Unmount(a.at("d/with blank"), 0))
		doubtful(t, w, "mounted or unmounted below")
		a.write("d/with blank/f", "")
		told(t, sure(t, w), marks{"d/with blank/f": track.Name})
	})
}

// A file system that is followed can be unmounted, and comes back as another.
func TestUnmountOfTheRoot(t *testing.T) {
	needsMounts(t)
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		a.mkdir("m")
		mount(t, "none", a.at("m"), "tmpfs", 0, "")
		w := start(t, a.at("m"), only(mode))
		hears(t, w, a.at("m"), "f")
		must(t, unix.Unmount(a.at("m"), 0))
		mount(t, "none", a.at("m"), "tmpfs", 0, "")
		if d := w.Drain(); d.Doubt == "" {
			t.Fatal("another file system stands at the root, and nobody says so")
		}
		hears(t, w, a.at("m"), "f")
		must(t, unix.Unmount(a.at("m"), 0))
		if d := w.Drain(); d.Doubt == "" {
			t.Fatal("the file system is gone, and nobody says so")
		}
		hears(t, w, a.at("m"), "f")
	})
}

func TestAnotherDirectoryAtTheRoot(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		a.mkdir("up/root/d")
		root := a.at("up/root")
		w := start(t, root, only(mode))

		a.remove("up/root") // the inode number may be the same
		a.mkdir("up/root")
		doubtful(t, w, "")
		hears(t, w, root, "f1")

		a.move("up/root", "up/old")
		doubtful(t, w, "the root is gone")
		doubtful(t, w, "the root is gone")
		a.move("up/old", "up/root")
		doubtful(t, w, "")
		hears(t, w, root, "f2")

		a.move("up", "elsewhere")
		a.write("elsewhere/root/f3", "")
		a.move("elsewhere", "up")
		if d := w.Drain(); d.Doubt == "" && d.Paths["f3"] == 0 {
			t.Errorf("a change while the root was away is lost: %v", d)
		}
		hears(t, w, root, "f4")
	})
}

func TestRootsInEachOther(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		a.mkdir("outer/inner")
		a.mkdir("outer/innerish")
		tr := track.New(only(mode))
		outer := startWith(t, tr, a.at("outer"))
		inner := startWith(t, tr, a.at("outer/inner"))
		a.write("outer/inner/f", "")
		a.write("outer/innerish/g", "")
		told(t, sure(t, outer), marks{"inner/f": track.Name, "innerish/g": track.Name})
		got := sure(t, inner)
		told(t, got, marks{"f": track.Name})
		if len(got) != 1 {
			t.Errorf("told of others: %v", got)
		}
		must(t, inner.Close())
		hears(t, outer, a.at("outer"), "after")
		if d := inner.Drain(); d.Doubt == "" {
			t.Error("a closed watch is sure")
		}
	})
}

// The background tells without a Drain.
func TestToldWakes(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newArea(t)
		w := start(t, a.dir, only(mode))
		a.write("f", "")
		select {
		case <-w.Told():
		case <-time.After(time.Minute):
			t.Fatal("nobody is told")
		}
		if w.Events() == 0 {
			t.Error("woken without an event")
		}
		told(t, sure(t, w), marks{"f": track.Name})
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
	a := newArea(t)
	a.write("f", "")
	must(t, os.Symlink(".", a.at("l")))
	for _, bad := range []string{a.at("f"), a.at("l"), a.at("none")} {
		if _, err := track.New(track.Options{}).Watch(bad); err == nil {
			t.Errorf("%s is followed", bad)
		}
	}
	if _, err := track.New(track.Options{Only: retake.TrackingScan}).Watch(a.dir); err == nil {
		t.Error("there is a tracker that scans")
	}
}
