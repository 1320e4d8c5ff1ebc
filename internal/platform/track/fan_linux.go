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
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

// groupRegistry holds one fanotify group per file system, by the device of its superblock.
type groupRegistry struct {
	mu     sync.Mutex
	groups map[uint64]*fsGroup // guarded by mu
}

// fsGroup is a fanotify group with a mark on a whole file system. It receives all events of
// the file system and assigns them to the roots.
type fsGroup struct {
	superDev  uint64
	file      *os.File
	fd        int
	done      chan struct{}
	drainTime time.Duration // see Options.DrainTime

	mu            sync.Mutex
	closed        bool                        // guarded by mu, as all below
	watches       []*fanotifyWatch            //
	ownersByDir   map[string][]*fanotifyWatch // cache by directory handle: the roots it is below; empty: outside
	rootPathNames map[string]bool             // the path elements of all roots
	buf           []byte
}

// fanotifyWatch is one root in a group, guarded by the lock of the group.
//
// Directories are kept by handle and converted to paths when they are drained. That misses
// nothing: if a handle leads to another path by then, the directory or one above it was moved,
// and the event of that move marks the old name, and the new place with everything below it.
// If a handle leads nowhere, the directory was removed, which was reported by its parent.
type fanotifyWatch struct {
	group         *fsGroup
	watch         *Watch
	root          rootInfo
	pendingNames  map[string]map[string]Mark // handle to name; "" is the directory itself
	trail         fileTrail
	relinkedPaths map[string]Mark // by path: files that have one name now, and had others
	linkedInodes  map[uint64]bool // files that have several names, by inode number
	nameCount     int
	rescanReason  string
	dirMoved      bool // a directory was moved since this was last cleared
}

// maxCachedOwners bounds the cache of directories, most of which are outside the roots.
const maxCachedOwners = 1 << 16

const fanotifyBufferSize = 256 << 10

// openFanotify adds a watch for the root to the group of its file system, which it creates if
// it is the first.
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
		if g, err = openFanotifyGroup(at.superDev, w.tracker.options.DrainTime); err != nil {
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

// checkHandleResolution tests whether a handle can be converted back to a path: on some file
// systems handles only identify files.
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

func openFanotifyGroup(super uint64, drainTime time.Duration) (*fsGroup, error) {
	// FAN_REPORT_FID also reports changes without a name, by nfsd or by handle.
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_DFID_NAME|unix.FAN_REPORT_FID|
		unix.FAN_UNLIMITED_QUEUE|unix.FAN_UNLIMITED_MARKS|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("start fanotify: %w", err)
	}
	g := &fsGroup{
		superDev: super, fd: fd, file: os.NewFile(uintptr(fd), "fanotify"), done: make(chan struct{}),
		buf: make([]byte, fanotifyBufferSize), drainTime: drainTime,
	}
	go pollEvents(g.file, g.done, g.readInBackground)
	return g, nil
}

// addWatch sets the mark on the file system, even if it should exist already. If the mark was
// gone, all other watches have missed events for an unknown time.
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

// resetOwners clears the cache of directories after roots were added, removed or moved.
func (g *fsGroup) resetOwners() {
	g.ownersByDir = map[string][]*fanotifyWatch{}
	g.rootPathNames = map[string]bool{}
	for _, f := range g.watches {
		for part := range strings.SplitSeq(f.root.path, "/") {
			g.rootPathNames[part] = true
		}
	}
}

// isMarked asks the kernel whether the mark still exists: it silently disappears when the file
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

// shutDown closes the group. The descriptor is closed under the lock, so that no reader uses
// its number for another file.
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

// requireRescan records why a rescan is necessary and drops all pending changes, which it
// covers.
func (f *fanotifyWatch) requireRescan(why string) {
	if f.rescanReason == "" {
		f.rescanReason = why
		f.watch.notifier.wake()
	}
	f.pendingNames, f.nameCount, f.trail = map[string]map[string]Mark{}, 0, fileTrail{}
	f.relinkedPaths, f.linkedInodes = map[string]Mark{}, map[uint64]bool{}
}

// noteChange keeps a name until the next drain. Nothing is kept if a rescan is necessary
// anyway.
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
	if f.root.path != at.path { // a symbolic link above the root was changed
		f.root = *at
		g.resetOwners()
	}
	g.drainQueue()
	if f.rescanReason == "" {
		f.reportPending(root, at, d)
	}
	f.reportLinkChanges(d)
	if f.rescanReason != "" {
		d.requireRescan(f.rescanReason)
		f.rescanReason = ""
	}
	return false
}

// reportPending adds what changed since the last drain to d.
func (f *fanotifyWatch) reportPending(root int, at *rootInfo, d *DirtySet) {
	files := f.trail
	old := f.takePending()
	f.dirMoved = false
	f.resolveLostFiles(files, f.reportDirs(old, root, at, d), root, at, d)
	// A directory that was moved meanwhile took its changes along. Report again,
	// so that its old name is in the same result.
	f.group.drainQueue()
	if f.dirMoved {
		f.resolveLostFiles(files, f.reportDirs(old, root, at, d), root, at, d)
		more := f.trail
		f.resolveLostFiles(more, f.reportDirs(f.takePending(), root, at, d), root, at, d)
	}
}

// takePending returns the pending names and starts a new set.
func (f *fanotifyWatch) takePending() map[string]map[string]Mark {
	dirs := f.pendingNames
	f.pendingNames, f.nameCount, f.trail = map[string]map[string]Mark{}, 0, fileTrail{}
	return dirs
}

// reportDirs converts handles to current paths and adds their names to d. It returns the
// directories that are not below the root any more.
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
