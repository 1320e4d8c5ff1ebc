package track

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	// errLoop cannot happen in a tree that does not change.
	errLoop = errors.New("directories move too fast to be followed")
	errDeep = errors.New("directories are nested too deep to be watched")
)

// watchTree watches a directory and everything below it. Each directory is watched before it
// is listed: what appears later has an event, and what existed before is in the list.
//
// Directories are opened by their path from the root, without following links or crossing
// mounts. A directory that was moved meanwhile has an event.
func (i *inotifyWatch) watchTree(root int, first *watchedDir) error {
	todo := []*watchedDir{first}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		names, err := i.watchDir(root, d)
		if err != nil {
			return err
		}
		for _, name := range names {
			todo = append(todo, &watchedDir{parent: i.attachedDir(d), name: name, wd: -1})
		}
	}
	return nil
}

// attachedDir returns the directory that is attached at the place of d. It differs from d if
// the kernel knew the watch under another path: then the existing one was moved here.
func (i *inotifyWatch) attachedDir(d *watchedDir) *watchedDir {
	if d.parent == nil {
		return d
	}
	return d.parent.children[d.name]
}

// watchDir watches one directory and returns the names of its subdirectories.
func (i *inotifyWatch) watchDir(root int, d *watchedDir) ([]string, error) {
	path := d.path()
	if len(path) > maxTreePath {
		return nil, errDeep
	}
	fd, err := openDirBelow(root, path)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return nil, i.attachDir(d)
	case isNotDirHere(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open directory: %w", err)
	}
	defer closeFD(fd)
	wd, err := unix.InotifyAddWatch(i.fd, procFDPath(fd), i.mask)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return nil, errTooFewWatches
	case errors.Is(err, unix.EACCES):
		return nil, i.attachDir(d)
	case err != nil:
		return nil, fmt.Errorf("watch directory: %w", err)
	}
	d.wd = int32(wd)
	if err := i.attachDir(d); err != nil {
		return nil, err
	}
	return i.listSubdirs(fd)
}

// isNotDirHere reports whether err means that the name is not a directory on this mount any
// more.
func isNotDirHere(err error) bool {
	for _, errno := range []unix.Errno{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// attachDir adds a directory to the tree. If the kernel already had a watch for it, events for
// the old place may still be in the queue; they find nothing there.
func (i *inotifyWatch) attachDir(d *watchedDir) error {
	if !i.isAttached(d.parent) {
		return errLoop
	}
	if d.wd >= 0 {
		if old := i.dirsByWD[d.wd]; old != nil {
			return i.moveDir(old, d)
		}
		i.dirsByWD[d.wd] = d
	} else {
		i.unwatchable[d] = true
	}
	i.linkToParent(d)
	return nil
}

// isAttached reports whether d is connected to the root. It is not if a directory on the way
// was dropped during the walk.
func (i *inotifyWatch) isAttached(d *watchedDir) bool {
	if d == nil {
		return true
	}
	for ; d.parent != nil; d = d.parent {
		if d.parent.children[d.name] != d {
			return false
		}
	}
	return d == i.root
}

// moveDir moves a known directory to the place of to.
func (i *inotifyWatch) moveDir(old, to *watchedDir) error {
	for up := to.parent; up != nil; up = up.parent {
		if up == old {
			return errLoop
		}
	}
	if to.parent == nil || old.parent == nil {
		return errLoop
	}
	if old.parent.children[old.name] == old {
		delete(old.parent.children, old.name)
	}
	old.parent, old.name = to.parent, to.name
	i.linkToParent(old)
	return nil
}

// linkToParent enters d into its parent and drops what had its name before.
func (i *inotifyWatch) linkToParent(d *watchedDir) {
	if d.parent == nil {
		return
	}
	if d.parent.children == nil {
		d.parent.children = map[string]*watchedDir{}
	}
	if before := d.parent.children[d.name]; before != nil && before != d {
		i.dropTree(before)
	}
	d.parent.children[d.name] = d
}

// dropTree removes a directory and everything below it, with the watches.
func (i *inotifyWatch) dropTree(d *watchedDir) {
	if d.parent != nil && d.parent.children[d.name] == d {
		delete(d.parent.children, d.name)
	}
	todo := []*watchedDir{d}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, kid := range d.children {
			todo = append(todo, kid)
		}
		delete(i.unwatchable, d)
		if d.wd >= 0 {
			delete(i.dirsByWD, d.wd)
			_, _ = unix.InotifyRmWatch(i.fd, uint32(d.wd)) // the kernel has removed it if the directory is gone
		}
	}
}

const (
	openDirFlags = openRootFlags | unix.O_NOATIME
	// maxOpenPath is the longest path that is opened in one call; the kernel accepts one page.
	maxOpenPath = 4000
	// maxTreePath bounds the work that a hostile tree can cause.
	maxTreePath = 64 << 10

	resolveFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS |
		unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS
)

// openDirBelow opens a directory by its path from the root, in several steps if the path is
// long.
func openDirBelow(root int, path string) (int, error) {
	at := root
	for len(path) > maxOpenPath {
		cut := strings.LastIndexByte(path[:maxOpenPath], '/')
		fd, err := openDirAt(at, path[:cut])
		if at != root {
			closeFD(at)
		}
		if err != nil {
			return -1, err
		}
		at, path = fd, path[cut+1:]
	}
	if path == "" {
		path = "."
	}
	fd, err := openDirAt(at, path)
	if at != root {
		closeFD(at)
	}
	return fd, err
}

// openDirAt preserves the access time if we have the permission.
func openDirAt(at int, path string) (int, error) {
	fd, err := openat2Dir(at, path, openDirFlags)
	if errors.Is(err, unix.EPERM) {
		return openat2Dir(at, path, openRootFlags)
	}
	return fd, err
}

func openat2Dir(at int, path string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags, Resolve: resolveFlags}
	err = retryEINTR(func() (err error) {
		fd, err = unix.Openat2(at, path, &how)
		return err
	})
	return fd, err
}

// listSubdirs returns the names in an open directory that may be directories.
func (i *inotifyWatch) listSubdirs(fd int) (names []string, err error) {
	err = readDirents(fd, i.listBuf[:], func(kind byte, name []byte) {
		if kind == unix.DT_DIR || kind == unix.DT_UNKNOWN {
			names = append(names, string(name))
		}
	})
	if errors.Is(err, unix.ENOENT) { // it was removed
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("list directory: %w", err)
	}
	return names, err
}
