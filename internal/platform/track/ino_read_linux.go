package track

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// The layout of inotify events.
const (
	inotifyMaskOffset   = 4
	inotifyCookieOffset = 8
	inotifySizeOffset   = 12
	inotifyHeaderSize   = 16
)

// readQueue reads and handles all events in the queue. New directories are watched meanwhile,
// which may add events. root is the open root, or -1 to open it when it is needed.
func (i *inotifyWatch) readQueue(root int) {
	borrowed := root >= 0
	defer func() {
		if !borrowed && root >= 0 {
			closeFD(root)
		}
	}()
	for !i.closed {
		n, err := unix.Read(i.fd, i.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n <= 0:
			i.markBroken("the queue of changes cannot be read")
			return
		}
		i.handleEvents(i.buf[:n], &root)
	}
}

func (i *inotifyWatch) handleEvents(buf []byte, root *int) {
	for len(buf) >= inotifyHeaderSize && !i.closed {
		wd := int32(binary.NativeEndian.Uint32(buf))
		mask := binary.NativeEndian.Uint32(buf[inotifyMaskOffset:])
		end := inotifyHeaderSize + int(binary.NativeEndian.Uint32(buf[inotifySizeOffset:]))
		if end > len(buf) {
			i.markBroken("the kernel reports changes in an unexpected way")
			return
		}
		name, _, _ := bytes.Cut(buf[inotifyHeaderSize:end], []byte{0})
		i.handleEvent(wd, mask, binary.NativeEndian.Uint32(buf[inotifyCookieOffset:]), string(name), root)
		buf = buf[end:]
	}
}

// handleEvent handles one event: of the whole instance, of a watch, of a file or of a
// directory.
func (i *inotifyWatch) handleEvent(wd int32, mask, cookie uint32, name string, root *int) {
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		i.markBroken("more changes at once than the kernel keeps")
		return
	case mask&unix.IN_UNMOUNT != 0:
		i.markBroken("the file system was unmounted")
		return
	}
	d := i.dirsByWD[wd]
	if d == nil {
		return // it was moved or removed, and that was reported
	}
	if mask&unix.IN_IGNORED != 0 {
		i.handleRemovedWatch(d)
		return
	}
	path := joinPath(d.path(), name)
	if mask&unix.IN_ISDIR == 0 || name == "" {
		i.noteChange(path, MarkName)
		i.trackName(mask, cookie, path)
		return
	}
	i.trackMovedDir(mask, cookie, path)
	i.handleDirEvent(d, path, mask, name, root)
}

// handleDirEvent handles a directory that appeared, disappeared or changed in d.
func (i *inotifyWatch) handleDirEvent(d *watchedDir, path string, mask uint32, name string, root *int) {
	kid := d.children[name]
	switch {
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		i.noteChange(path, MarkName|MarkTree)
		if kid != nil {
			i.dropTree(kid)
		}
		i.watchNewDir(d, name, root)
	case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		i.noteChange(path, MarkName)
		if kid != nil {
			i.dropTree(kid)
		}
	case kid == nil || kid.wd < 0: // its permissions may have changed
		i.noteChange(path, MarkName|MarkTree)
		if kid != nil {
			i.dropTree(kid)
		}
		i.watchNewDir(d, name, root)
	default:
		i.noteChange(path, MarkName)
	}
}

// handleRemovedWatch handles a watch that the kernel removed because its directory is gone.
func (i *inotifyWatch) handleRemovedWatch(d *watchedDir) {
	if d == i.root {
		i.markBroken("the root is another directory")
		return
	}
	i.noteChange(d.path(), MarkName|MarkTree)
	i.dropTree(d)
}

// watchNewDir watches a directory that appeared, and everything below it.
func (i *inotifyWatch) watchNewDir(up *watchedDir, name string, root *int) {
	if *root < 0 {
		fd, who, err := openRoot(i.watch.root)
		if err != nil {
			i.markBroken("the root was away")
			return
		}
		*root = fd
		if who != i.rootIdentity {
			i.markBroken("the root is another directory")
			return
		}
	}
	if err := i.watchTree(*root, &watchedDir{parent: up, name: name, wd: -1}); err != nil {
		i.handleWatchError(err)
	}
}
