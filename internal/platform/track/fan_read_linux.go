package track

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/clock"
)

// The queue has the changes of a whole file system, and each directory in it is looked up. Who builds
// or unpacks beside us must not delay a checkpoint, so a drain handles events for DrainTime only, and
// then asks for a rescan instead. Between drains there is time, but nobody waits long for the lock.
const (
	backgroundShare = 5 // of DrainTime

	tooManyChanges = "more changes on the file system than can be followed"
)

// readInBackground empties the queue between drains, so that it stays short.
func (g *fsGroup) readInBackground() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	_, ok := g.readQueue(g.drainTime / backgroundShare)
	return ok
}

// drainQueue reads all events in the queue, or asks for a rescan and drops what is in it.
func (g *fsGroup) drainQueue() {
	if empty, ok := g.readQueue(g.drainTime); empty || !ok {
		return
	}
	g.requireRescan(tooManyChanges)
	end := clock.Wall.Now().Add(g.drainTime / 2)
	for clock.Wall.Now().Before(end) { // what is left then is read later, and rescanned once more
		if n, err := unix.Read(g.fd, g.buf); err != nil && !errors.Is(err, unix.EINTR) || n == 0 {
			return
		}
	}
}

// readQueue reads and handles the events in the queue for at most so long. It returns whether the queue
// is empty, and false if it cannot be read.
func (g *fsGroup) readQueue(atMost time.Duration) (empty, ok bool) {
	end := clock.Wall.Now().Add(atMost)
	b := &eventBatch{group: g, dropAfter: end.Add(atMost)}
	defer b.closeRoots()
	for clock.Wall.Now().Before(end) {
		n, err := unix.Read(g.fd, g.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return true, true
		case err != nil || n <= 0:
			g.requireRescan("the queue of changes cannot be read")
			return false, false
		}
		b.handleEvents(g.buf[:n])
	}
	return false, true
}

func (g *fsGroup) requireRescan(why string) {
	for _, f := range g.watches {
		f.requireRescan(why)
	}
}

// The layout of fanotify events.
const (
	eventVersionOffset   = 4
	eventHeaderLenOffset = 6 // length of the header
	eventMaskOffset      = 8
	eventHeaderSize      = 24

	infoLengthOffset = 2
	infoHandleOffset = 12 // after the kind, the length and the id of the file system
	handleHeaderSize = 8  // number of bytes and kind, then the bytes
	fanotifyVersion  = 3
)

// eventBatch is one reading of the queue. It opens the roots when the first directory has to
// be resolved, and closes them at its end.
type eventBatch struct {
	group        *fsGroup
	dropAfter    time.Time       // a directory that is just being removed may take long to look up
	checkedFiles map[string]bool // files whose links changed
	roots        []openedRoot
	rootsOpened  bool
}

// openedRoot is a root during a batch. Handles are resolved on its mount.
type openedRoot struct {
	watch *fanotifyWatch
	fd    int
	path  string
}

// handleEvents parses a buffer of events.
func (b *eventBatch) handleEvents(buf []byte) {
	for len(buf) >= eventHeaderSize {
		if clock.Wall.Now().After(b.dropAfter) {
			b.group.requireRescan(tooManyChanges)
			return
		}
		size := int(binary.NativeEndian.Uint32(buf))
		head := int(binary.NativeEndian.Uint16(buf[eventHeaderLenOffset:]))
		if size < eventHeaderSize || size > len(buf) || head < eventHeaderSize || head > size || buf[eventVersionOffset] != fanotifyVersion {
			b.group.requireRescan("the kernel reports changes in an unexpected way")
			return
		}
		b.handleEvent(binary.NativeEndian.Uint64(buf[eventMaskOffset:]), buf[head:size])
		buf = buf[size:]
	}
}

// handleEvent handles one event, whose info records may name a directory with a name in it,
// and the file itself.
func (b *eventBatch) handleEvent(mask uint64, info []byte) {
	if mask&unix.FAN_Q_OVERFLOW != 0 {
		b.group.requireRescan("more changes at once than the kernel keeps")
		return
	}
	named := false
	file := eventFileHandle(info)
	for len(info) >= infoHandleOffset+handleHeaderSize {
		size := int(binary.NativeEndian.Uint16(info[infoLengthOffset:]))
		if size < infoHandleOffset+handleHeaderSize || size > len(info) {
			break
		}
		if kind := info[0]; kind == unix.FAN_EVENT_INFO_TYPE_DFID_NAME || kind == unix.FAN_EVENT_INFO_TYPE_DFID {
			b.handleRecord(mask, info[infoHandleOffset:size], file)
			named = true
		}
		info = info[size:]
	}
	switch {
	case named:
	case mask&^(unix.FAN_ATTRIB|unix.FAN_ONDIR) != 0:
		b.group.requireRescan("a file was changed by its handle, without a name")
	case file != nil && mask&unix.FAN_ONDIR == 0:
		b.handleLinkChange(file)
	}
}

// handleLinkChange handles a file whose link count changed: it may have got a name outside the
// root, by which it can be changed without an event for us, or lost one by which it was
// changed.
func (b *eventBatch) handleLinkChange(file []byte) {
	if b.checkedFiles[string(file)] {
		return
	}
	if b.checkedFiles == nil {
		b.checkedFiles = map[string]bool{}
	}
	b.checkedFiles[string(file)] = true
	b.openRoots()
	if len(b.roots) == 0 {
		return // there is no watch, or the roots are gone, which requires a rescan anyway
	}
	path, ino, err := locateFile(b.roots[0].fd, string(file))
	if errors.Is(err, errGone) {
		return
	}
	alone, there := verifyFilePath(string(file), path)
	for _, f := range b.group.watches {
		switch rel, inside := relativePath(f.root.path, path); {
		case err != nil:
			f.requireRescan("a file with another name cannot be found")
		case !there || !alone:
			f.noteLinkChange(ino)
		case inside:
			f.watch.notifier.recordEvent()
			f.relinkedPaths[rel] |= MarkName
		}
	}
}

// eventFileHandle returns the handle of the file itself, if the event has one.
func eventFileHandle(info []byte) []byte {
	for len(info) >= infoHandleOffset+handleHeaderSize {
		size := int(binary.NativeEndian.Uint16(info[infoLengthOffset:]))
		if size < infoHandleOffset+handleHeaderSize || size > len(info) {
			return nil
		}
		if info[0] == unix.FAN_EVENT_INFO_TYPE_FID {
			rec := info[infoHandleOffset:size]
			if end := handleHeaderSize + int(binary.NativeEndian.Uint32(rec)); end <= len(rec) {
				return rec[:end]
			}
			return nil
		}
		info = info[size:]
	}
	return nil
}

// handleRecord handles a directory and a name in it. The name "." means the directory itself.
func (b *eventBatch) handleRecord(mask uint64, rec, file []byte) {
	end := handleHeaderSize + int(binary.NativeEndian.Uint32(rec))
	if end > len(rec) {
		b.group.requireRescan("the kernel reports changes in an unexpected way")
		return
	}
	handle, name := rec[:end], rec[end:]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if string(name) == "." {
		name = nil
	}
	const moves, appears = unix.FAN_MOVED_FROM | unix.FAN_MOVED_TO, unix.FAN_CREATE | unix.FAN_MOVED_TO
	onDir := mask&unix.FAN_ONDIR != 0
	if onDir && mask&moves != 0 {
		clear(b.group.ownersByDir) // everything below it may be in another root now
	}
	if onDir && mask&(moves|appears|unix.FAN_DELETE) != 0 && b.group.rootPathNames[string(name)] {
		b.checkRootMoved(handle, string(name))
	}
	m := MarkName
	if onDir && mask&appears != 0 {
		m |= MarkTree
	}
	for _, f := range b.rootsContaining(handle) {
		f.dirMoved = f.dirMoved || onDir && mask&moves != 0
		f.noteChange(handle, string(name), m)
		f.trackFile(mask, handle, file, string(name))
	}
}

// rootsContaining returns the roots that a directory is in. The result is cached until a
// directory is moved: most events are from outside the roots.
func (b *eventBatch) rootsContaining(handle []byte) []*fanotifyWatch {
	if known, ok := b.group.ownersByDir[string(handle)]; ok {
		return known
	}
	var in []*fanotifyWatch
	sure := b.resolveForRoots(handle, func(v *openedRoot, path string) {
		if _, ok := relativePath(v.path, path); ok {
			in = append(in, v.watch)
		}
	})
	if sure {
		if len(b.group.ownersByDir) >= maxCachedOwners {
			clear(b.group.ownersByDir)
		}
		b.group.ownersByDir[string(handle)] = in
	}
	return in
}

// checkRootMoved asks for a rescan of the roots that were moved, created or removed by a
// change of this name, themselves or with a directory above them. Paths compared meanwhile are
// worthless.
func (b *eventBatch) checkRootMoved(handle []byte, name string) {
	b.resolveForRoots(handle, func(v *openedRoot, path string) {
		if _, ok := relativePath(strings.TrimSuffix(path, "/")+"/"+name, v.watch.root.path); ok {
			v.watch.requireRescan("the root or a directory above it was moved")
		}
	})
}

// resolveForRoots calls do with the path of a directory for every root. It returns false if
// the result must not be cached: a root is not available, or the directory is gone.
func (b *eventBatch) resolveForRoots(handle []byte, do func(*openedRoot, string)) (sure bool) {
	b.openRoots()
	sure = len(b.roots) == len(b.group.watches)
	var mount uint64
	var path string
	var err error
	for i := range b.roots {
		v := &b.roots[i]
		if i == 0 || v.watch.root.mount != mount {
			mount = v.watch.root.mount
			path, _, err = resolveHandleKey(v.fd, string(handle))
		}
		switch {
		case err == nil:
			do(v, path)
		case errors.Is(err, errGone):
			sure = false
		default:
			v.watch.requireRescan("a changed directory cannot be found")
			sure = false
		}
	}
	return sure
}

// openRoots opens the roots once per batch. A root that is not the expected directory requires
// a rescan.
func (b *eventBatch) openRoots() {
	if b.rootsOpened {
		return
	}
	b.rootsOpened = true
	for _, f := range b.group.watches {
		fd, who, err := openRoot(f.watch.root)
		if err != nil {
			f.requireRescan("the root was away")
			continue
		}
		real, err := fdPath(fd)
		if err != nil || who != f.root.dirIdentity {
			closeFD(fd)
			f.requireRescan("the root is another directory")
			continue
		}
		b.roots = append(b.roots, openedRoot{watch: f, fd: fd, path: real})
	}
}

// closeRoots verifies that the roots are still where they were when the batch began.
func (b *eventBatch) closeRoots() {
	for _, v := range b.roots {
		if real, err := fdPath(v.fd); err != nil || real != v.path {
			v.watch.requireRescan("the root or a directory above it was moved")
			clear(b.group.ownersByDir)
		}
		closeFD(v.fd)
	}
}
