package track

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

const inoMask = unix.IN_ONLYDIR

// inoWatch is one instance of inotify with a watch on every directory below the
// root. Names become paths when their event is read: a directory that is moved
// afterwards has an event later in the queue, which marks its old name, and its
// new place with everything below it.
type inoWatch struct {
	w    *Watch
	at   identity
	mask uint32
	file *os.File
	fd   int
	done chan struct{}
	buf  []byte

	mu     sync.Mutex
	closed bool           // guarded by mu, as all below
	space  [16 << 10]byte // for lists; events are read while directories are
	byWD   map[int32]*dir //
	root   *dir
	blind  map[*dir]bool // directories that nobody lets us watch: told each time
	paths  map[string]Mark
	brief  brief
	doubt  string
	broken bool   // the watches do not fit the tree any more
	dead   string // why it is of no use to try again
}

// dir is a directory that is watched. Its path is the names up to the root.
type dir struct {
	up   *dir
	name string
	kids map[string]*dir
	wd   int32 // -1: not watched
}

func (d *dir) path() string {
	if d.up == nil {
		return ""
	}
	return join(d.up.path(), d.name)
}

var (
	errWatches   = errors.New("too few inotify watches: raise fs.inotify.max_user_watches")
	errInstances = errors.New("too few inotify instances: raise fs.inotify.max_user_instances")
)

const inoBuffer = 64 << 10

func openInotify(w *Watch, root int, at *place) (engine, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if errors.Is(err, unix.EMFILE) {
		return nil, errInstances
	}
	if err != nil {
		return nil, fmt.Errorf("start inotify: %w", err)
	}
	i := &inoWatch{
		w: w, at: at.identity, mask: uint32(w.t.mask) | inoMask, fd: fd, file: os.NewFile(uintptr(fd), "inotify"),
		done: make(chan struct{}), buf: make([]byte, inoBuffer),
		byWD: map[int32]*dir{}, blind: map[*dir]bool{}, paths: map[string]Mark{}, brief: newBrief(),
	}
	i.root = &dir{wd: -1}
	if err := i.grow(root, i.root); err != nil {
		return nil, errors.Join(err, i.close())
	}
	if i.root.wd < 0 {
		return nil, errors.Join(errors.New("the root may not be watched"), i.close())
	}
	go follow(i.file, i.done, i.catchUp)
	return i, nil
}

func (i *inoWatch) mode() retake.TrackingMode { return retake.TrackingInotify }

func (i *inoWatch) close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.end()
}

func (i *inoWatch) end() error {
	if i.closed {
		return nil
	}
	i.closed = true
	close(i.done)
	i.byWD, i.blind, i.root = nil, nil, nil
	if err := i.file.Close(); err != nil {
		return fmt.Errorf("close inotify: %w", err)
	}
	return nil
}

// breaks gives the instance up: its watches say nothing for sure any more, and
// a new one is made by the next drain.
func (i *inoWatch) breaks(why string) {
	i.doubts(why)
	i.broken = true
	_ = i.end()
}

func (i *inoWatch) doubts(why string) {
	if i.doubt == "" {
		i.doubt = why
		i.w.notes.wake()
	}
	clear(i.paths)
}

// fails takes an error of adding watches.
func (i *inoWatch) fails(err error) {
	i.breaks(err.Error())
	if errors.Is(err, errWatches) {
		i.dead = err.Error()
	}
}

func (i *inoWatch) note(path string, m Mark) {
	i.w.notes.tell()
	if i.doubt != "" {
		return
	}
	i.paths[path] |= m
	if len(i.paths) > i.w.notes.limit {
		i.doubts("more changes than are kept")
	}
}

func (i *inoWatch) catchUp() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.read(-1)
	return !i.closed
}

func (i *inoWatch) drain(root int, _ *place, d *Dirt) (broken bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.read(root)
	if i.dead != "" {
		d.doubt(i.dead)
		return false
	}
	for path, m := range i.paths {
		d.Paths[path] |= m
	}
	for b := range i.blind {
		d.Paths[b.path()] |= Name | Deep
	}
	if i.brief.adrift() {
		i.doubts(lostName)
	}
	d.Inodes = i.brief.linked(root)
	if i.doubt != "" {
		d.doubt(i.doubt)
	}
	i.paths, i.doubt, i.brief = map[string]Mark{}, "", newBrief()
	return i.broken
}
