package track_test

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// A file that was written by a name which is gone again lives on by another. Who
// knows files tells where it is; who knows names only doubts.
func TestFileWrittenByALostName(t *testing.T) {
	t.Parallel()
	ways := map[string]func(a testDir){
		"removed":   func(a testDir) { a.remove("root/link") },
		"replaced":  func(a testDir) { a.write("root/new", ""); a.move("root/new", "root/link") },
		"moved out": func(a testDir) { a.move("root/link", "out/link"); a.remove("out/link") },
		"gone with its directory": func(a testDir) {
			a.mkdir("root/d")
			a.move("root/link", "root/d/link")
			a.write("root/d/link", "2")
			must(a, os.RemoveAll(a.at("root/d")))
		},
		"moved out with everything": func(a testDir) {
			a.mkdir("root/d")
			a.move("root/link", "root/d/link")
			a.write("root/d/link", "2")
			a.move("root/d", "out/d")
		},
	}
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		for name, lose := range ways {
			t.Run(name, func(t *testing.T) {
				a := newTestDir(t)
				a.mkdir("root")
				a.mkdir("out")
				a.write("root/f", "1")
				w := start(t, a.at("root"), onlyMode(mode))
				must(t, os.Link(a.at("root/f"), a.at("root/link")))
				a.write("root/link", "other")
				lose(a)
				d := w.Drain()
				if d.RescanReason == "" && d.Paths["f"]&track.MarkName == 0 {
					t.Errorf("neither told nor doubted: %v", d.Paths)
				}
				if mode == retake.TrackingFanotify && d.RescanReason != "" && name == "removed" {
					t.Errorf("in doubt, though the file can be found: %s", d.RescanReason)
				}
				if d := w.Drain(); d.RescanReason != "" {
					t.Errorf("the doubt stays: %s", d.RescanReason)
				}
			})
		}
	})
}

// Programs write a file aside and move it over the old one. That requires no rescan.
func TestWrittenAsideAndMovedIsNoDoubt(t *testing.T) {
	t.Parallel()
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		a := newTestDir(t)
		a.mkdir("root")
		a.write("root/f", "1")
		w := start(t, a.at("root"), onlyMode(mode))
		for range 20 {
			a.write("root/f.tmp", "2")
			a.move("root/f.tmp", "root/f")
		}
		wantMarks(t, drainPaths(t, w), marks{"f": track.MarkName, "f.tmp": track.MarkName})
	})
}

// A file that gets a name outside of the root may be written by it without a word.
// fanotify reports the link; the caller then checks the file at every save.
func TestLinkOutsideIsTold(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("fanotify needs root")
	}
	a := newTestDir(t)
	a.mkdir("root")
	a.mkdir("out")
	a.write("root/f", "1")
	w := start(t, a.at("root"), onlyMode(retake.TrackingFanotify))
	must(t, os.Link(a.at("root/f"), a.at("out/f")))
	i, err := os.Stat(a.at("root/f"))
	must(t, err)
	ino := i.Sys().(*syscall.Stat_t).Ino
	if d := w.Drain(); d.RescanReason != "" || !slices.Contains(d.Inodes, ino) {
		t.Fatalf("the link: %+v", d)
	}
	a.write("out/f", "2")
	a.remove("out/f")
	if d := w.Drain(); d.RescanReason != "" || d.Paths["f"] == 0 {
		t.Errorf("written by a name outside that is gone: %+v", d)
	}
}
