package track

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

// host holds one group per file system, by the device of its super-block.
type host struct {
	mu     sync.Mutex
	groups map[uint64]*group // guarded by mu
}

// group is one mark on a whole file system. It tells of everything there, and
// sorts it by root.
type group struct {
	super uint64
	file  *os.File
	fd    int
	done  chan struct{}

	mu      sync.Mutex
	closed  bool                   // guarded by mu, as all below
	watches []*fanWatch            //
	known   map[string][]*fanWatch // by handle of a directory: who it belongs to; none: outside
	parts   map[string]bool        // the names on the paths of the roots
	buf     []byte
}

// fanWatch is one root in a group. The lock of the group guards it.
//
// Directories are kept by handle and become paths when they are drained. That
// misses nothing: a handle that leads to another path by then belongs to a
// directory that was moved, or one above it was, and the event of that move
// marks the old name, and the new place with everything below it. A handle that
// leads nowhere belongs to a directory that was removed, and its parent was told.
type fanWatch struct {
	g     *group
	w     *Watch
	at    place
	dirs  map[string]map[string]Mark // handle to name; "" is the directory itself
	trail trail
	found map[string]Mark // by path: files that have one name, and had another
	links map[uint64]bool // files that have several names
	count int
	doubt string
	moved bool // a directory was moved since this was last cleared
}

// maxKnown bounds what is remembered of directories, most of them outside.
const maxKnown = 1 << 16

const fanBuffer = 256 << 10

func openFanotify(w *Watch, root int, at *place) (engine, error) {
	if err := canResolve(root, at); err != nil {
		return nil, err
	}
	h := &w.t.host
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.groups[at.super]
	if g == nil {
		var err error
		if g, err = openGroup(at.super); err != nil {
			return nil, err
		}
	}
	f := &fanWatch{g: g, w: w, at: *at, dirs: map[string]map[string]Mark{}, trail: trail{}, found: map[string]Mark{}, links: map[uint64]bool{}}
	if err := g.join(f, root); err != nil {
		if len(g.watches) == 0 {
			err = errors.Join(err, g.end())
		}
		return nil, err
	}
	if h.groups == nil {
		h.groups = map[uint64]*group{}
	}
	h.groups[at.super] = g
	return f, nil
}

// canResolve asks whether the way from a handle back to a path works: some file
// systems have handles that only name.
func canResolve(root int, at *place) error {
	h, _, err := unix.NameToHandleAt(root, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("no handles of files here: %w", err)
	}
	path, exact, err := resolve(root, h.Type(), h.Bytes())
	switch {
	case err != nil:
		return fmt.Errorf("open by handle: %w", err)
	case !exact || path != at.real:
		return errors.New("handles of files lead elsewhere here")
	}
	return nil
}

func openGroup(super uint64) (*group, error) {
	// FAN_REPORT_FID lets changes through that have no name, by nfsd or by handle.
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_DFID_NAME|unix.FAN_REPORT_FID|
		unix.FAN_UNLIMITED_QUEUE|unix.FAN_UNLIMITED_MARKS|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("start fanotify: %w", err)
	}
	g := &group{
		super: super, fd: fd, file: os.NewFile(uintptr(fd), "fanotify"), done: make(chan struct{}),
		buf: make([]byte, fanBuffer),
	}
	go follow(g.file, g.done, g.catchUp)
	return g, nil
}

// join puts the mark on the file system, again if it is there already. A mark
// that had gone was deaf for a time that nobody knows.
func (g *group) join(f *fanWatch, root int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.watches) > 0 && !g.marked() {
		for _, other := range g.watches {
			other.doubts("the file system was unmounted")
		}
	}
	err := again(func() error {
		return unix.FanotifyMark(g.fd, unix.FAN_MARK_ADD|unix.FAN_MARK_FILESYSTEM, f.w.t.mask|unix.FAN_ONDIR, root, "")
	})
	if err != nil {
		return fmt.Errorf("mark file system: %w", err)
	}
	g.watches = append(g.watches, f)
	g.sorted()
	return nil
}

// sorted forgets who directories belong to, because roots came or went.
func (g *group) sorted() {
	g.known = map[string][]*fanWatch{}
	g.parts = map[string]bool{}
	for _, f := range g.watches {
		for part := range strings.SplitSeq(f.at.real, "/") {
			g.parts[part] = true
		}
	}
}

// marked asks the kernel for the mark: it goes without a word when the file
// system is unmounted.
func (g *group) marked() bool {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(g.fd))
	return err == nil && bytes.Contains(info, []byte("fanotify sdev:"))
}

func (f *fanWatch) mode() retake.TrackingMode { return retake.TrackingFanotify }

func (f *fanWatch) close() error {
	h := &f.w.t.host
	h.mu.Lock()
	defer h.mu.Unlock()
	f.g.mu.Lock()
	f.g.watches = slices.DeleteFunc(f.g.watches, func(o *fanWatch) bool { return o == f })
	f.g.sorted()
	left := len(f.g.watches)
	f.g.mu.Unlock()
	if left > 0 {
		return nil
	}
	delete(h.groups, f.g.super)
	return f.g.end()
}

// end closes the group. The descriptor goes under the lock, so that no reader
// meets another file under its number.
func (g *group) end() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	close(g.done)
	if err := g.file.Close(); err != nil {
		return fmt.Errorf("close fanotify: %w", err)
	}
	return nil
}

func (f *fanWatch) doubts(why string) {
	if f.doubt == "" {
		f.doubt = why
		f.w.notes.wake()
	}
	f.dirs, f.count, f.trail = map[string]map[string]Mark{}, 0, trail{}
	f.found, f.links = map[string]Mark{}, map[uint64]bool{}
}

// note keeps one name until it is drained. In doubt nothing is kept.
func (f *fanWatch) note(handle []byte, name string, m Mark) {
	f.w.notes.tell()
	if f.doubt != "" {
		return
	}
	names := f.dirs[string(handle)]
	if names == nil {
		names = map[string]Mark{}
		f.dirs[string(handle)] = names
	}
	if _, ok := names[name]; !ok {
		f.count++
	}
	names[name] |= m
	if f.count > f.w.notes.limit {
		f.doubts("more changes than are kept")
	}
}

func (f *fanWatch) drain(root int, at *place, d *Dirt) (broken bool) {
	g := f.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.marked() {
		d.doubt("the file system was unmounted")
		return true
	}
	if f.at.real != at.real { // a link above the root was changed
		f.at = *at
		g.sorted()
	}
	g.read()
	files := f.trail
	old := f.take()
	f.moved = false
	f.search(files, f.answer(old, root, at, d), root, at, d)
	// A directory that was moved meanwhile took its changes along. Once more,
	// so that its old name is in the same answer.
	g.read()
	if f.moved {
		f.search(files, f.answer(old, root, at, d), root, at, d)
		more := f.trail
		f.search(more, f.answer(f.take(), root, at, d), root, at, d)
	}
	f.tellLinks(d)
	if f.doubt != "" {
		d.doubt(f.doubt)
		f.doubt = ""
	}
	return false
}

func (f *fanWatch) take() map[string]map[string]Mark {
	dirs := f.dirs
	f.dirs, f.count, f.trail = map[string]map[string]Mark{}, 0, trail{}
	return dirs
}

// answer turns handles into the paths of this checkpoint. It answers the directories that
// are not below the root any more.
func (f *fanWatch) answer(dirs map[string]map[string]Mark, root int, at *place, d *Dirt) map[string]bool {
	away := map[string]bool{}
	for handle, names := range dirs {
		path, exact, err := resolveKey(root, handle)
		if errors.Is(err, errGone) {
			away[handle] = true
			continue
		}
		if err != nil {
			d.doubt("a changed directory cannot be found")
			continue
		}
		dir, ok := beneath(at.real, path)
		switch {
		case !ok:
			away[handle] = true
		case !exact:
			d.Paths[dir] |= Name | Deep
		default:
			for name, m := range names {
				d.Paths[join(dir, name)] |= m
			}
		}
	}
	return away
}
