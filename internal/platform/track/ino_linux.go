package track

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

const inotifyExtraMask = unix.IN_ONLYDIR

// inotifyWatch is an inotify instance with a watch on every directory below the root. Names
// are converted to paths when their event is read. If a directory is moved afterwards, a later
// event in the queue marks its old name, and its new place with everything below it.
type inotifyWatch struct {
	watch        *Watch
	rootIdentity dirIdentity
	mask         uint32
	file         *os.File
	fd           int
	done         chan struct{}
	buf          []byte

	mu           sync.Mutex
	closed       bool                  // guarded by mu, as all below
	listBuf      [16 << 10]byte        // for listing directories while buf holds events
	dirsByWD     map[int32]*watchedDir //
	root         *watchedDir
	unwatchable  map[*watchedDir]bool // directories that we have no permission to watch: reported at each drain
	paths        map[string]Mark
	activity     nameActivity
	rescanReason string
	broken       bool   // the watches do not match the tree any more
	fatalReason  string // why a retry would fail too
}

// watchedDir is a directory in the tree of watches. Its path follows from the names up to the
// root.
type watchedDir struct {
	parent   *watchedDir
	name     string
	children map[string]*watchedDir
	wd       int32 // -1: not watched
}

func (d *watchedDir) path() string {
	if d.parent == nil {
		return ""
	}
	return joinPath(d.parent.path(), d.name)
}

var (
	errTooFewWatches   = errors.New("too few inotify watches: raise fs.inotify.max_user_watches")
	errTooFewInstances = errors.New("too few inotify instances: raise fs.inotify.max_user_instances")
)

const inotifyBufferSize = 64 << 10

// openInotify creates an instance and watches all directories below the root.
func openInotify(w *Watch, root int, at *rootInfo) (eventSource, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if errors.Is(err, unix.EMFILE) {
		return nil, errTooFewInstances
	}
	if err != nil {
		return nil, fmt.Errorf("start inotify: %w", err)
	}
	i := &inotifyWatch{
		watch: w, rootIdentity: at.dirIdentity, mask: uint32(w.tracker.mask) | inotifyExtraMask, fd: fd, file: os.NewFile(uintptr(fd), "inotify"),
		done: make(chan struct{}), buf: make([]byte, inotifyBufferSize),
		dirsByWD: map[int32]*watchedDir{}, unwatchable: map[*watchedDir]bool{}, paths: map[string]Mark{}, activity: newNameActivity(),
	}
	i.root = &watchedDir{wd: -1}
	if err := i.watchTree(root, i.root); err != nil {
		return nil, errors.Join(err, i.close())
	}
	if i.root.wd < 0 {
		return nil, errors.Join(errors.New("the root may not be watched"), i.close())
	}
	go pollEvents(i.file, i.done, i.readInBackground)
	return i, nil
}

func (i *inotifyWatch) mode() retake.TrackingMode { return retake.TrackingInotify }

func (i *inotifyWatch) close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closeLocked()
}

// closeLocked closes the instance. The lock must be held.
func (i *inotifyWatch) closeLocked() error {
	if i.closed {
		return nil
	}
	i.closed = true
	close(i.done)
	i.dirsByWD, i.unwatchable, i.root = nil, nil, nil
	if err := i.file.Close(); err != nil {
		return fmt.Errorf("close inotify: %w", err)
	}
	return nil
}

// markBroken gives the instance up because its watches are not reliable any more. The next
// drain creates a new one.
func (i *inotifyWatch) markBroken(why string) {
	i.requireRescan(why)
	i.broken = true
	_ = i.closeLocked()
}

// requireRescan records why a rescan is necessary and drops all pending changes, which it
// covers.
func (i *inotifyWatch) requireRescan(why string) {
	if i.rescanReason == "" {
		i.rescanReason = why
		i.watch.notifier.wake()
	}
	clear(i.paths)
}

// handleWatchError handles an error of adding watches.
func (i *inotifyWatch) handleWatchError(err error) {
	i.markBroken(err.Error())
	if errors.Is(err, errTooFewWatches) {
		i.fatalReason = err.Error()
	}
}

func (i *inotifyWatch) noteChange(path string, m Mark) {
	i.watch.notifier.recordEvent()
	if i.rescanReason != "" {
		return
	}
	i.paths[path] |= m
	if len(i.paths) > i.watch.notifier.maxPaths {
		i.requireRescan("more changes than are kept")
	}
}

func (i *inotifyWatch) readInBackground() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.readQueue(-1)
	return !i.closed
}

func (i *inotifyWatch) drain(root int, _ *rootInfo, d *DirtySet) (broken bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.readQueue(root)
	if i.fatalReason != "" {
		d.requireRescan(i.fatalReason)
		return false
	}
	for path, m := range i.paths {
		d.Paths[path] |= m
	}
	for b := range i.unwatchable {
		d.Paths[b.path()] |= MarkName | MarkTree
	}
	if i.activity.hasOpenMoves() {
		i.requireRescan(reasonLostName)
	}
	d.Inodes = i.activity.linkedInodes(root)
	if i.rescanReason != "" {
		d.requireRescan(i.rescanReason)
	}
	i.paths, i.rescanReason, i.activity = map[string]Mark{}, "", newNameActivity()
	return i.broken
}
