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

// groupRegistry holds one group per file system, by the device of its super-block.
type groupRegistry struct {
	mu     sync.Mutex
	groups map[uint64]*fsGroup // guarded by mu
}

// fsGroup is one mark on a whole file system. It tells of everything there, and
// sorts it by root.
type fsGroup struct {
	superDev uint64
	file     *os.File
	fd       int
	done     chan struct{}

	mu            sync.Mutex
	closed        bool                        // guarded by mu, as all below
	watches       []*fanotifyWatch            //
	ownersByDir   map[string][]*fanotifyWatch // by handle of a directory: who it belongs to; none: outside
	rootPathNames map[string]bool             // the names on the paths of the roots
	buf           []byte
}

// fanotifyWatch is one root in a group. The lock of the group guards it.
//
// Directories are kept by handle and become paths when they are drained. That
// misses nothing: a handle that leads to another path by then belongs to a
// directory that was moved, or one above it was, and the event of that move
// marks the old name, and the new place with everything below it. A handle that
// leads nowhere belongs to a directory that was removed, and its parent was told.
type fanotifyWatch struct {
	group         *fsGroup
	watch         *Watch
	root          rootInfo
	pendingNames  map[string]map[string]Mark // handle to name; "" is the directory itself
	trail         fileTrail
	relinkedPaths map[string]Mark // by path: files that have one name, and had another
	linkedInodes  map[uint64]bool // files that have several names
	nameCount     int
	rescanReason  string
	dirMoved      bool // a directory was moved since this was last cleared
}

// maxKnown bounds what is remembered of directories, most of them outside.
const maxCachedOwners = 1 << 16

const fanotifyBufferSize = 256 << 10

func openFanotify(w *Watch, root int, at *rootInfo) (eventSource, error) {
	if err := checkHandleResolution(root, at); err != nil {
		return nil, err
	}
	h := &w.tracker.registry
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.groups[at.superDev]
	if g == nil {
		var err error
		if g, err = openFanotifyGroup(at.superDev); err != nil {
			return nil, err
		}
	}
	f := &fanotifyWatch{group: g, watch: w, root: *at, pendingNames: map[string]map[string]Mark{}, trail: fileTrail{}, relinkedPaths: map[string]Mark{}, linkedInodes: map[uint64]bool{}}
	if err := g.addWatch(f, root); err != nil {
		if len(g.watches) == 0 {
			err = errors.Join(err, g.shutDown())
		}
		return nil, err
	}
	if h.groups == nil {
		h.groups = map[uint64]*fsGroup{}
	}
	h.groups[at.superDev] = g
	return f, nil
}

// checkHandleResolution asks whether the way from a handle back to a path works: some file
// systems have handles that only name.
func checkHandleResolution(root int, at *rootInfo) error {
	h, _, err := unix.NameToHandleAt(root, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("no handles of files here: %w", err)
	}
	path, exact, err := resolveHandle(root, h.Type(), h.Bytes())
	switch {
	case err != nil:
		return fmt.Errorf("open by handle: %w", err)
	case !exact || path != at.path:
		return errors.New("handles of files lead elsewhere here")
	}
	return nil
}

func openFanotifyGroup(super uint64) (*fsGroup, error) {
	// FAN_REPORT_FID lets changes through that have no name, by nfsd or by handle.
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_DFID_NAME|unix.FAN_REPORT_FID|
		unix.FAN_UNLIMITED_QUEUE|unix.FAN_UNLIMITED_MARKS|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("start fanotify: %w", err)
	}
	g := &fsGroup{
		superDev: super, fd: fd, file: os.NewFile(uintptr(fd), "fanotify"), done: make(chan struct{}),
		buf: make([]byte, fanotifyBufferSize),
	}
	go pollEvents(g.file, g.done, g.readInBackground)
	return g, nil
}

// addWatch puts the mark on the file system, again if it is there already. A mark
// that had gone was deaf for a time that nobody knows.
func (g *fsGroup) addWatch(f *fanotifyWatch, root int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.watches) > 0 && !g.isMarked() {
		for _, other := range g.watches {
			other.requireRescan("the file system was unmounted")
		}
	}
	err := retryEINTR(func() error {
		return unix.FanotifyMark(g.fd, unix.FAN_MARK_ADD|unix.FAN_MARK_FILESYSTEM, f.watch.tracker.mask|unix.FAN_ONDIR, root, "")
	})
	if err != nil {
		return fmt.Errorf("mark file system: %w", err)
	}
	g.watches = append(g.watches, f)
	g.resetOwners()
	return nil
}

// resetOwners forgets who directories belong to, because roots came or went.
func (g *fsGroup) resetOwners() {
	g.ownersByDir = map[string][]*fanotifyWatch{}
	g.rootPathNames = map[string]bool{}
	for _, f := range g.watches {
		for part := range strings.SplitSeq(f.root.path, "/") {
			g.rootPathNames[part] = true
		}
	}
}

// isMarked asks the kernel for the mark: it goes without a word when the file
// system is unmounted.
func (g *fsGroup) isMarked() bool {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(g.fd))
	return err == nil && bytes.Contains(info, []byte("fanotify sdev:"))
}

func (f *fanotifyWatch) mode() retake.TrackingMode { return retake.TrackingFanotify }

func (f *fanotifyWatch) close() error {
	h := &f.watch.tracker.registry
	h.mu.Lock()
	defer h.mu.Unlock()
	f.group.mu.Lock()
	f.group.watches = slices.DeleteFunc(f.group.watches, func(o *fanotifyWatch) bool { return o == f })
	f.group.resetOwners()
	left := len(f.group.watches)
	f.group.mu.Unlock()
	if left > 0 {
		return nil
	}
	delete(h.groups, f.group.superDev)
	return f.group.shutDown()
}

// shutDown closes the group. The descriptor goes under the lock, so that no reader
// meets another file under its number.
func (g *fsGroup) shutDown() error {
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

func (f *fanotifyWatch) requireRescan(why string) {
	if f.rescanReason == "" {
		f.rescanReason = why
		f.watch.notifier.wake()
	}
	f.pendingNames, f.nameCount, f.trail = map[string]map[string]Mark{}, 0, fileTrail{}
	f.relinkedPaths, f.linkedInodes = map[string]Mark{}, map[uint64]bool{}
}

// noteChange keeps one name until it is drained. In doubt nothing is kept.
func (f *fanotifyWatch) noteChange(handle []byte, name string, m Mark) {
	f.watch.notifier.recordEvent()
	if f.rescanReason != "" {
		return
	}
	names := f.pendingNames[string(handle)]
	if names == nil {
		names = map[string]Mark{}
		f.pendingNames[string(handle)] = names
	}
	if _, ok := names[name]; !ok {
		f.nameCount++
	}
	names[name] |= m
	if f.nameCount > f.watch.notifier.maxPaths {
		f.requireRescan("more changes than are kept")
	}
}

func (f *fanotifyWatch) drain(root int, at *rootInfo, d *DirtySet) (broken bool) {
	g := f.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isMarked() {
		d.requireRescan("the file system was unmounted")
		return true
	}
	if f.root.path != at.path { // a link above the root was changed
		f.root = *at
		g.resetOwners()
	}
	g.readQueue()
	files := f.trail
	old := f.takePending()
	f.dirMoved = false
	f.resolveLostFiles(files, f.reportDirs(old, root, at, d), root, at, d)
	// A directory that was moved meanwhile took its changes along. Once more,
	// so that its old name is in the same answer.
	g.readQueue()
	if f.dirMoved {
		f.resolveLostFiles(files, f.reportDirs(old, root, at, d), root, at, d)
		more := f.trail
		f.resolveLostFiles(more, f.reportDirs(f.takePending(), root, at, d), root, at, d)
	}
	f.reportLinkChanges(d)
	if f.rescanReason != "" {
		d.requireRescan(f.rescanReason)
		f.rescanReason = ""
	}
	return false
}

func (f *fanotifyWatch) takePending() map[string]map[string]Mark {
	dirs := f.pendingNames
	f.pendingNames, f.nameCount, f.trail = map[string]map[string]Mark{}, 0, fileTrail{}
	return dirs
}

// reportDirs turns handles into the paths of this checkpoint. It answers the directories that
// are not below the root any more.
func (f *fanotifyWatch) reportDirs(dirs map[string]map[string]Mark, root int, at *rootInfo, d *DirtySet) map[string]bool {
	away := map[string]bool{}
	for handle, names := range dirs {
		path, exact, err := resolveHandleKey(root, handle)
		if errors.Is(err, errGone) {
			away[handle] = true
			continue
		}
		if err != nil {
			d.requireRescan("a changed directory cannot be found")
			continue
		}
		dir, ok := relativePath(at.path, path)
		switch {
		case !ok:
			away[handle] = true
		case !exact:
			d.Paths[dir] |= MarkName | MarkTree
		default:
			for name, m := range names {
				d.Paths[joinPath(dir, name)] |= m
			}
		}
	}
	return away
}
