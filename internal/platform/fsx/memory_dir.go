package fsx

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"syscall"
)

// memDir is a handle on a directory; m.mu guards all of it.
type memDir struct {
	m      *Memory
	n      *node
	closed bool
}

func (m *Memory) handle(n *node) *memDir {
	n.opens++
	return &memDir{m: m, n: n}
}

// do runs one call under the lock.
func (d *memDir) do(op, name string, call func() error) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if d.closed {
		return fail(op, name, errClosed)
	}
	return fail(op, name, call())
}

// with is do for a name that must be there.
func (d *memDir) with(op, name string, call func(*node) error) error {
	return d.do(op, name, func() error {
		if err := checkMemory(name); err != nil {
			return err
		}
		n := d.n.now.names[name]
		if n == nil {
			return syscall.ENOENT
		}
		return call(n)
	})
}

func (d *memDir) Stat() (info Info, err error) {
	err = d.do("stat handle", "", func() error {
		info = d.n.info()
		return nil
	})
	return info, err
}

func (d *memDir) Lstat(name string) (info Info, err error) {
	err = d.with("stat", name, func(n *node) error {
		info = n.info()
		return nil
	})
	return info, err
}

func (d *memDir) Names() (names []string, err error) {
	err = d.do("list directory", "", func() error {
		names = slices.Sorted(maps.Keys(d.n.now.names))
		return nil
	})
	return names, err
}

func (d *memDir) OpenDir(name string) (dir Dir, err error) {
	err = d.with("open directory", name, func(n *node) error {
		switch {
		case n.typ != Directory:
			return syscall.ENOTDIR
		case n.dev != d.n.dev:
			return syscall.EXDEV
		case n.now.mode&0o400 == 0:
			return syscall.EACCES
		}
		dir = d.m.handle(n)
		return nil
	})
	return dir, err
}

func (d *memDir) OpenFile(name string) (file File, err error) {
	err = d.with("open file", name, func(n *node) error {
		switch {
		case n.typ != Regular:
			return ErrNotRegular
		case n.now.mode&0o400 == 0:
			return syscall.EACCES
		}
		file = d.m.open(n, memRead)
		return nil
	})
	return file, err
}

func (d *memDir) Readlink(name string) (target string, err error) {
	err = d.with("read link", name, func(n *node) error {
		if n.typ != Symlink {
			return syscall.EINVAL
		}
		target = n.target
		return nil
	})
	return target, err
}

// add names a new inode. The lock is held.
func (m *Memory) add(dir *node, name string, typ Type, mode fs.FileMode) (*node, error) {
	if err := checkMemory(name); err != nil {
		return nil, err
	}
	if dir.nlink == 0 { // removed while a handle was on it
		return nil, syscall.ENOENT
	}
	if dir.now.names[name] != nil {
		return nil, syscall.EEXIST
	}
	n := m.newNode(typ, mode, dir.dev)
	m.setNames(dir, naming{name: name, node: n})
	return n, nil
}

func (d *memDir) Create(name string, mode fs.FileMode) (file File, err error) {
	err = d.do("create file", name, func() error {
		n, err := d.m.add(d.n, name, Regular, mode.Perm())
		if err == nil {
			file = d.m.open(n, memWrite)
		}
		return err
	})
	return file, err
}

func (d *memDir) Append(name string, mode fs.FileMode) (file File, err error) {
	err = d.do("append to file", name, func() error {
		n := d.n.now.names[name]
		switch {
		case n == nil:
			if n, err = d.m.add(d.n, name, Regular, mode.Perm()); err != nil {
				return err
			}
		case n.typ != Regular:
			return ErrNotRegular
		case n.now.mode&0o200 == 0:
			return syscall.EACCES
		}
		file = d.m.open(n, memAppend)
		return nil
	})
	return file, err
}

func (d *memDir) Mkdir(name string, mode fs.FileMode) error {
	return d.do("make directory", name, func() error {
		_, err := d.m.add(d.n, name, Directory, mode.Perm())
		return err
	})
}

func (d *memDir) Rename(name string, to Dir, newName string) error {
	return d.into("rename", name, to, newName, func(n, other *node) error {
		if holds(n, other) {
			return syscall.EINVAL
		}
		old := other.now.names[newName]
		if old == n { // two names of one file: nothing happens, says POSIX
			return nil
		}
		if err := replaceable(old, n); err != nil {
			return err
		}
		d.m.rename(d.n, name, other, newName, n)
		return nil
	})
}

// rename gives the new name before it takes the old one: the link count never
// touches zero.
func (m *Memory) rename(from *node, name string, to *node, newName string, n *node) {
	if from == to {
		m.setNames(from, naming{name: newName, node: n}, naming{name: name})
		return
	}
	m.setNames(to, naming{name: newName, node: n})
	m.setNames(from, naming{name: name})
}

// holds: a directory cannot move into itself.
func holds(n, what *node) bool {
	if n.typ != Directory {
		return false
	}
	if n == what {
		return true
	}
	for _, child := range n.now.names {
		if holds(child, what) {
			return true
		}
	}
	return false
}

func replaceable(old, by *node) error {
	switch {
	case old == nil:
		return nil
	case old.typ == Directory && by.typ != Directory:
		return syscall.EISDIR
	case old.typ != Directory && by.typ == Directory:
		return syscall.ENOTDIR
	case len(old.now.names) > 0:
		return syscall.ENOTEMPTY
	}
	return nil
}

func (d *memDir) Remove(name string) error {
	return d.with("remove", name, func(n *node) error {
		if len(n.now.names) > 0 {
			return syscall.ENOTEMPTY
		}
		d.m.setNames(d.n, naming{name: name})
		return nil
	})
}

func (d *memDir) Xattrs() (all map[string][]byte, err error) {
	err = d.do("list attributes", "", func() error {
		all = d.n.copyXattrs()
		return nil
	})
	return all, err
}

func (d *memDir) SetXattr(name string, value []byte) error {
	return d.do("set attribute", name, func() error {
		if err := checkAttr(name); err != nil {
			return err
		}
		d.m.setXattr(d.n, name, append([]byte{}, value...))
		return nil
	})
}

func (d *memDir) RemoveXattr(name string) error {
	return d.do("remove attribute", name, func() error {
		if err := checkAttr(name); err != nil {
			return err
		}
		if _, ok := d.n.now.xattrs[name]; !ok {
			return fs.ErrNotExist
		}
		d.m.setXattr(d.n, name, nil)
		return nil
	})
}

func (d *memDir) SetMtime(ns int64) error {
	return d.do("set time", "", func() error {
		d.m.setMtime(d.n, ns)
		return nil
	})
}

func (d *memDir) Sync() error {
	return d.do("sync handle", "", func() error {
		d.m.sync(d.n)
		return nil
	})
}

func (d *memDir) SyncFS() error {
	return d.do("sync file system", "", func() error {
		d.m.syncAll()
		return nil
	})
}

func (d *memDir) Close() error {
	err := d.do("close handle", "", func() error {
		d.closed = true
		d.n.opens--
		return nil
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}
