package track

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	// errLoop cannot happen in a tree that stands still.
	errLoop = errors.New("directories move too fast to be followed")
	errDeep = errors.New("directories are nested too deep to be watched")
)

// grow watches a directory and all below it. Each is watched before it is
// listed: what appears in it later has an event, what was there is in the list.
//
// Directories are opened by their path from the root: no link and no mount on
// the way is followed, and one that was moved since is found by its event.
func (i *inoWatch) grow(root int, first *dir) error {
	todo := []*dir{first}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		names, err := i.enter(root, d)
		if err != nil {
			return err
		}
		for _, name := range names {
			todo = append(todo, &dir{up: i.place(d), name: name, wd: -1})
		}
	}
	return nil
}

// place answers the dir that stands for d: the watch may have been known before
// under another path, and then its dir was moved here.
func (i *inoWatch) place(d *dir) *dir {
	if d.up == nil {
		return d
	}
	return d.up.kids[d.name]
}

// enter watches one directory and lists the directories in it.
func (i *inoWatch) enter(root int, d *dir) ([]string, error) {
	path := d.path()
	if len(path) > maxPath {
		return nil, errDeep
	}
	fd, err := openBelow(root, path)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return nil, i.attach(d)
	case isElsewhere(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open directory: %w", err)
	}
	defer closeFD(fd)
	wd, err := unix.InotifyAddWatch(i.fd, descriptor(fd), i.mask)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return nil, errWatches
	case errors.Is(err, unix.EACCES):
		return nil, i.attach(d)
	case err != nil:
		return nil, fmt.Errorf("watch directory: %w", err)
	}
	d.wd = int32(wd)
	if err := i.attach(d); err != nil {
		return nil, err
	}
	return i.directories(fd)
}

// isElsewhere is a name that is no directory of this mount any more.
func isElsewhere(err error) bool {
	for _, errno := range []unix.Errno{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// attach puts a directory into its place. When the kernel knew it, its events at
// the old place are still in the queue, and find nothing there.
func (i *inoWatch) attach(d *dir) error {
	if !i.reaches(d.up) {
		return errLoop
	}
	if d.wd >= 0 {
		if old := i.byWD[d.wd]; old != nil {
			return i.move(old, d)
		}
		i.byWD[d.wd] = d
	} else {
		i.blind[d] = true
	}
	i.hang(d)
	return nil
}

// reaches says whether the way up ends at the root. It does not when a directory
// on it was forgotten during the walk.
func (i *inoWatch) reaches(d *dir) bool {
	if d == nil {
		return true
	}
	for ; d.up != nil; d = d.up {
		if d.up.kids[d.name] != d {
			return false
		}
	}
	return d == i.root
}

func (i *inoWatch) move(old, to *dir) error {
	for up := to.up; up != nil; up = up.up {
		if up == old {
			return errLoop
		}
	}
	if to.up == nil || old.up == nil {
		return errLoop
	}
	if old.up.kids[old.name] == old {
		delete(old.up.kids, old.name)
	}
	old.up, old.name = to.up, to.name
	i.hang(old)
	return nil
}

func (i *inoWatch) hang(d *dir) {
	if d.up == nil {
		return
	}
	if d.up.kids == nil {
		d.up.kids = map[string]*dir{}
	}
	if before := d.up.kids[d.name]; before != nil && before != d {
		i.drop(before)
	}
	d.up.kids[d.name] = d
}

// drop forgets a directory and all below it.
func (i *inoWatch) drop(d *dir) {
	if d.up != nil && d.up.kids[d.name] == d {
		delete(d.up.kids, d.name)
	}
	todo := []*dir{d}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, kid := range d.kids {
			todo = append(todo, kid)
		}
		delete(i.blind, d)
		if d.wd >= 0 {
			delete(i.byWD, d.wd)
			_, _ = unix.InotifyRmWatch(i.fd, uint32(d.wd)) // gone already when the directory is
		}
	}
}

const (
	flagsDir = flagsRoot | unix.O_NOATIME
	// hop is the longest path that is opened at once; the kernel takes a page.
	hop = 4000
	// maxPath bounds the work that a hostile tree can make.
	maxPath = 64 << 10

	resolveBelow = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS |
		unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS
)

// openBelow opens a directory by its path from the root.
func openBelow(root int, path string) (int, error) {
	at := root
	for len(path) > hop {
		cut := strings.LastIndexByte(path[:hop], '/')
		fd, err := openDir(at, path[:cut])
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
	fd, err := openDir(at, path)
	if at != root {
		closeFD(at)
	}
	return fd, err
}

// openDir leaves the access time alone where we may.
func openDir(at int, path string) (int, error) {
	fd, err := openHow(at, path, flagsDir)
	if errors.Is(err, unix.EPERM) {
		return openHow(at, path, flagsRoot)
	}
	return fd, err
}

func openHow(at int, path string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags, Resolve: resolveBelow}
	err = again(func() (err error) {
		fd, err = unix.Openat2(at, path, &how)
		return err
	})
	return fd, err
}

// directories lists those names in an open directory that may be directories.
func (i *inoWatch) directories(fd int) (names []string, err error) {
	err = entries(fd, i.space[:], func(kind byte, name []byte) {
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
