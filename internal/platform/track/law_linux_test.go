package track_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// state is the state of one path.
type state struct {
	mode    uint32
	uid     uint32
	size    int64
	mtime   int64
	ino     uint64
	links   uint64
	content string
	attr    string
}

func (s state) isDir() bool { return s.mode&unix.S_IFMT == unix.S_IFDIR }

// snapshotTree looks at everything below a root that stands still.
func snapshotTree(t *testing.T, root string) map[string]state {
	t.Helper()
	all := map[string]state{}
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		must(t, err)
		var st unix.Stat_t
		must(t, unix.Lstat(path, &st))
		s := state{mode: st.Mode, uid: st.Uid, mtime: st.Mtim.Nano(), ino: st.Ino}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			b, err := os.ReadFile(path)
			must(t, err)
			s.content, s.size, s.links = string(b), st.Size, uint64(st.Nlink)
		case unix.S_IFLNK:
			s.content, err = os.Readlink(path)
			must(t, err)
		}
		var buf [64]byte
		if n, err := unix.Lgetxattr(path, "user.k", buf[:]); err == nil {
			s.attr = string(buf[:n])
		}
		rel, err := filepath.Rel(root, path)
		must(t, err)
		if rel == "." {
			rel = ""
		}
		all[rel] = s
		return nil
	}))
	return all
}

// missedChanges returns what differs and was not reported.
func missedChanges(before, after map[string]state, got marks) (lost []string) {
	twins := map[uint64]bool{} // files with several names, one of which was reported
	for path, m := range got {
		for _, at := range []map[string]state{before, after} {
			if s, ok := at[path]; ok && m&track.MarkName != 0 && s.links > 0 {
				twins[s.ino] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, at := range []map[string]state{before, after} {
		for path := range at {
			was, had := before[path]
			is, has := after[path]
			if seen[path] || had == has && was == is {
				continue
			}
			seen[path] = true
			if !isReported(path, was, is, after, got, twins) {
				lost = append(lost, fmt.Sprintf("%q was %+v, is %+v", path, was, is))
			}
		}
	}
	return lost
}

func isReported(path string, was, is state, after map[string]state, got marks, twins map[uint64]bool) bool {
	if covers(got, path) {
		return true
	}
	// Whoever looks at files with several names again, as the package asks.
	if was.links > 1 && is.ino == was.ino && (is.links != was.links || twins[is.ino]) || is.links > 1 && is.ino == was.ino {
		return true
	}
	// A directory that is gone takes along what was below it.
	for up := path; up != "" && up != "."; up = filepath.Dir(up) {
		if s, ok := after[up]; !ok || !s.isDir() {
			if got[up]&track.MarkName != 0 {
				return true
			}
		}
	}
	// A name that came or went moves the time of its directory.
	if was.isDir() && is.isDir() {
		was.mtime = is.mtime
		if was == is {
			for name := range got {
				if filepath.Dir("/"+name) == filepath.Clean("/"+path) {
					return true
				}
			}
		}
	}
	return false
}

// scene is a small tree in which anything may happen.
type scene struct {
	root, out string
	r         *rand.Rand
}

func (s scene) pick() string {
	n := 1 + s.r.IntN(4)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = string(rune('a' + s.r.IntN(4)))
	}
	base := s.root
	if s.r.IntN(10) == 0 {
		base = s.out
	}
	return base + "/" + strings.Join(parts, "/")
}

// act does one thing. Errors do not matter: two do this at once.
func (s scene) act() {
	path := s.pick()
	switch s.r.IntN(16) {
	case 0, 1, 2:
		_ = os.WriteFile(path, fmt.Append(nil, s.r.Uint64()), 0o644)
	case 3:
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, _ = fmt.Fprint(f, s.r.Uint64())
			_ = f.Close()
		}
	case 4:
		_ = os.Truncate(path, int64(s.r.IntN(30)))
	case 5:
		_ = os.Chmod(path, 0o700|os.FileMode(s.r.IntN(8)))
	case 6:
		_ = os.Chtimes(path, time.Unix(1, 0), time.Unix(int64(s.r.IntN(1000)), 0))
	case 7:
		_ = unix.Setxattr(path, "user.k", fmt.Append(nil, s.r.Uint32()), 0)
	case 8:
		_ = os.Remove(path)
	case 9:
		_ = os.RemoveAll(path)
	case 10:
		_ = os.Mkdir(path, 0o755)
	case 11:
		_ = os.MkdirAll(path, 0o755)
	case 12, 13:
		_ = os.Rename(path, s.pick())
	case 14:
		_ = os.Symlink("a", path)
	case 15:
		_ = os.Link(path, s.pick())
	}
}

// runScene lets two act at once while a third drains, and answers what was missed:
// first a wild time, in which they meet, then calm ones, in which one event has
// to tell of one change and the watch has to know where everything went.
func runScene(t *testing.T, tr *track.Tracker, seed uint64) (lost []string, doubts int) {
	t.Helper()
	a := newTestDir(t)
	a.mkdir("root")
	a.mkdir("out")
	s := scene{a.at("root"), a.at("out"), rand.New(rand.NewPCG(seed, 0))}
	for range 200 {
		s.act()
	}
	w, err := tr.Watch(s.root)
	must(t, err)
	defer w.Close()
	for phase, acts := range []int{150, 7, 7, 7, 7, 7, 7} {
		before := snapshotTree(t, s.root)
		got, d := drainWhile(w, func(i int) {
			actor := scene{s.root, s.out, rand.New(rand.NewPCG(seed, uint64(10*phase+i+1)))}
			for range acts {
				actor.act()
			}
		})
		doubts += d
		lost = append(lost, missedChanges(before, snapshotTree(t, s.root), got)...)
	}
	return lost, doubts
}

// drainWhile drains until two actors have ended, and once more.
func drainWhile(w *track.Watch, act func(i int)) (got marks, doubts int) {
	var actors sync.WaitGroup
	for i := range 2 {
		actors.Go(func() { act(i) })
	}
	done := make(chan struct{})
	go func() { actors.Wait(); close(done) }()
	got = marks{}
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		d := w.Drain()
		if d.RescanReason != "" {
			doubts++
			got[""] |= markAll
		}
		for path, m := range d.Paths {
			got[path] |= m
		}
	}
	return got, doubts
}

const rounds = 80

// K1, for anything that can happen to a tree.
func TestNothingIsMissed(t *testing.T) {
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		tr := track.New(onlyMode(mode))
		defer tr.Close()
		doubtful := 0
		for seed := range uint64(rounds) {
			lost, doubts := runScene(t, tr, seed)
			if len(lost) > 0 {
				t.Errorf("seed %d missed %s", seed, strings.Join(lost, "\n"))
			}
			if doubts > 0 {
				doubtful++
			}
		}
		t.Logf("%d of %d rounds had a doubt", doubtful, rounds)
		most := rounds / 2                  // a machine that is busy has more of them
		if mode == retake.TrackingInotify { // every file that is made, written and removed is one
			most = rounds - 5
		}
		if doubtful > most {
			t.Errorf("%d of %d rounds had a doubt: that proves nothing", doubtful, rounds)
		}
	})
}

// The control: whoever does not hear one kind of change misses something.
func TestDeafTrackersAreFound(t *testing.T) {
	kinds := map[string]uint64{
		"writes": unix.IN_MODIFY | unix.IN_CLOSE_WRITE, "attributes": unix.IN_ATTRIB, "create": unix.IN_CREATE,
		"delete": unix.IN_DELETE, "moved from": unix.IN_MOVED_FROM, "moved to": unix.IN_MOVED_TO,
	}
	inEach(t, func(t *testing.T, mode retake.TrackingMode) {
		for name, kind := range kinds {
			t.Run(name, func(t *testing.T) {
				tr := track.NewWithoutEvents(onlyMode(mode), kind)
				defer tr.Close()
				for seed := range uint64(rounds) {
					if lost, _ := runScene(t, tr, seed); len(lost) > 0 {
						return
					}
				}
				t.Error("nothing was missed: the test above cannot fail")
			})
		}
	})
}
