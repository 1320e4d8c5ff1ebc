package capture_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// swapper is a directory in which another process swaps what it has: the link
// becomes a directory each time it has been read, and a link again for the next.
type swapper struct {
	fsx.Dir
	name string
	read *atomic.Bool
}

func (s swapper) Readlink(name string) (string, error) {
	s.read.Store(name == s.name)
	return s.Dir.Readlink(name)
}

func (s swapper) Lstat(name string) (fsx.Info, error) {
	i, err := s.Dir.Lstat(name)
	if name == s.name && s.read.Swap(false) {
		i.Type = fsx.Directory
		i.Ino++
	}
	return i, err
}

// duplicateNamesDir lists every name twice, as a listing may when a name is renamed under it.
type duplicateNamesDir struct{ fsx.Dir }

func (d duplicateNamesDir) Names() ([]string, error) {
	names, err := d.Dir.Names()
	return append(names, names...), err
}

func (w *captureTest) captureThrough(dress func(fsx.Dir) fsx.Dir) *capture.Result {
	w.t.Helper()
	root := w.openDir("/ws")
	defer root.Close()
	res, err := capture.Read(context.Background(), dress(root), capture.NewIndex(), w.w, w.opts)
	w.check(err)
	return res
}

// A row says what was read: a directory that took the place of a link is a gap, and
// the capture goes on.
func TestLinkThatBecomesADirectory(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("quiet", "q")
	w.check(w.fs.Symlink("quiet", "/ws/link"))
	w.advanceClock()
	res := w.captureThrough(func(d fsx.Dir) fsx.Dir { return swapper{d, "link", new(atomic.Bool)} })
	if d := cmp.Diff([]string{"moving link"}, w.gaps(res)); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
	if res.Files.Sum.Files != 1 || res.Files.Sum.Dirs > 1 || res.Files.Sum.Symlinks != 0 {
		t.Errorf("the rest is kept: %+v", res.Files.Sum)
	}
}

func TestNameListedTwiceIsTakenOnce(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("one", "1")
	w.writeFile("sub/two", "2")
	w.advanceClock()
	plain := w.captureThrough(func(d fsx.Dir) fsx.Dir { return d })
	if got := w.captureThrough(func(d fsx.Dir) fsx.Dir { return duplicateNamesDir{d} }); got.Files.Object != plain.Files.Object {
		t.Error("a name that was listed twice changed the tree")
	}
}
