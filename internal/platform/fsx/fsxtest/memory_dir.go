package fsxtest

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// memDir is a handle of a directory, guarded by fs.mu.
type memDir struct {
	fs     *Memory
	node   *memNode
	closed bool
}

func (m *Memory) openDirHandle(n *memNode) *memDir {
	n.openCount++
	return &memDir{fs: m, node: n}
}

// withLock runs call under the lock of the file system.
func (d *memDir) withLock(op, name string, call func() error) error {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.closed {
		return fsx.WrapError(op, name, fs.ErrClosed)
	}
	return fsx.WrapError(op, name, call())
}

// withChild is withLock for a name that must exist.
func (d *memDir) withChild(op, name string, call func(*memNode) error) error {
	return d.withLock(op, name, func() error {
		if err := checkMemoryName(name); err != nil {
			return err
		}
		n := d.node.live.names[name]
		if n == nil {
			return syscall.ENOENT
		}
		return call(n)
	})
}

func (d *memDir) Stat() (info fsx.Info, err error) {
	err = d.withLock("stat handle", "", func() error {
		info = d.node.stat()
		return nil
	})
	return info, err
}

func (d *memDir) Lstat(name string) (info fsx.Info, err error) {
	err = d.withChild("stat", name, func(n *memNode) error {
		info = n.stat()
		return nil
	})
	return info, err
}

func (d *memDir) Names() (names []string, err error) {
	err = d.withLock("list directory", "", func() error {
		names = slices.Sorted(maps.Keys(d.node.live.names))
		return nil
	})
	return names, err
}

func (d *memDir) OpenDir(name string) (dir fsx.Dir, err error) {
	err = d.withChild("open directory", name, func(n *memNode) error {
		switch {
		case n.typ != fsx.Directory:
			return syscall.ENOTDIR
		case n.dev != d.node.dev:
			return syscall.EXDEV
		case n.live.mode&0o400 == 0:
			return syscall.EACCES
		}
		dir = d.fs.openDirHandle(n)
		return nil
	})
	return dir, err
}

func (d *memDir) OpenFile(name string) (file fsx.File, err error) {
	err = d.withChild("open file", name, func(n *memNode) error {
		switch {
		case n.typ != fsx.Regular:
			return fsx.ErrNotRegular
		case n.live.mode&0o400 == 0:
			return syscall.EACCES
		}
		file = d.fs.openFileHandle(n, memRead)
		return nil
	})
	return file, err
}

func (d *memDir) Readlink(name string) (target string, err error) {
	err = d.withChild("read link", name, func(n *memNode) error {
		if n.typ != fsx.Symlink {
			return syscall.EINVAL
		}
		target = n.target
		return nil
	})
	return target, err
}

// addNode creates an inode with a name in dir. The lock must be held.
func (m *Memory) addNode(dir *memNode, name string, typ fsx.Type, mode fs.FileMode) (*memNode, error) {
	if err := checkMemoryName(name); err != nil {
		return nil, err
	}
	if dir.nlink == 0 { // removed while a handle was open
		return nil, syscall.ENOENT
	}
	if dir.live.names[name] != nil {
		return nil, syscall.EEXIST
	}
	n := m.newNode(typ, mode, dir.dev)
	m.updateNames(dir, nameChange{name: name, node: n})
	return n, nil
}

func (d *memDir) Create(name string, mode fs.FileMode) (file fsx.File, err error) {
	err = d.withLock("create file", name, func() error {
		n, err := d.fs.addNode(d.node, name, fsx.Regular, mode.Perm())
		if err == nil {
			file = d.fs.openFileHandle(n, memWrite)
		}
		return err
	})
	return file, err
}

func (d *memDir) Append(name string, mode fs.FileMode) (file fsx.File, err error) {
	err = d.withLock("append to file", name, func() error {
		n := d.node.live.names[name]
		switch {
		case n == nil:
			if n, err = d.fs.addNode(d.node, name, fsx.Regular, mode.Perm()); err != nil {
				return err
			}
		case n.typ != fsx.Regular:
			return fsx.ErrNotRegular
		case n.live.mode&0o200 == 0:
			return syscall.EACCES
		}
		file = d.fs.openFileHandle(n, memAppend)
		return nil
	})
	return file, err
}

func (d *memDir) Mkdir(name string, mode fs.FileMode) error {
	return d.withLock("make directory", name, func() error {
		_, err := d.fs.addNode(d.node, name, fsx.Directory, mode.Perm())
		return err
	})
}

func (d *memDir) Rename(name string, to fsx.Dir, newName string) error {
	return d.withDestination("rename", name, to, newName, func(n, other *memNode) error {
		if containsNode(n, other) {
			return syscall.EINVAL
		}
		old := other.live.names[newName]
		if old == n { // two names of one file: POSIX says to do nothing
			return nil
		}
		if err := checkReplace(old, n); err != nil {
			return err
		}
		d.fs.moveName(d.node, name, other, newName, n)
		return nil
	})
}

// moveName adds the new name before it removes the old one, so that the link count never
// reaches zero.
func (m *Memory) moveName(from *memNode, name string, to *memNode, newName string, n *memNode) {
	if from == to {
		m.updateNames(from, nameChange{name: newName, node: n}, nameChange{name: name})
		return
	}
	m.updateNames(to, nameChange{name: newName, node: n})
	m.updateNames(from, nameChange{name: name})
}

// containsNode reports whether what is n or below it: a directory must not be moved into
// itself.
func containsNode(n, what *memNode) bool {
	if n.typ != fsx.Directory {
		return false
	}
	if n == what {
		return true
	}
	for _, child := range n.live.names {
		if containsNode(child, what) {
			return true
		}
	}
	return false
}

// checkReplace returns the error of renaming by over old, if any.
func checkReplace(old, by *memNode) error {
	switch {
	case old == nil:
		return nil
	case old.typ == fsx.Directory && by.typ != fsx.Directory:
		return syscall.EISDIR
	case old.typ != fsx.Directory && by.typ == fsx.Directory:
		return syscall.ENOTDIR
	case len(old.live.names) > 0:
		return syscall.ENOTEMPTY
	}
	return nil
}

func (d *memDir) Remove(name string) error {
	return d.withChild("remove", name, func(n *memNode) error {
		if len(n.live.names) > 0 {
			return syscall.ENOTEMPTY
		}
		d.fs.updateNames(d.node, nameChange{name: name})
		return nil
	})
}

func (d *memDir) Xattrs() (all map[string][]byte, err error) {
	err = d.withLock("list attributes", "", func() error {
		all = d.node.copyXattrs()
		return nil
	})
	return all, err
}

func (d *memDir) SetXattr(name string, value []byte) error {
	return d.withLock("set attribute", name, func() error {
		if err := fsx.CheckXattrName(name); err != nil {
			return err
		}
		d.fs.setXattr(d.node, name, append([]byte{}, value...))
		return nil
	})
}

func (d *memDir) RemoveXattr(name string) error {
	return d.withLock("remove attribute", name, func() error {
		if err := fsx.CheckXattrName(name); err != nil {
			return err
		}
		if _, ok := d.node.live.xattrs[name]; !ok {
			return fs.ErrNotExist
		}
		d.fs.setXattr(d.node, name, nil)
		return nil
	})
}

func (d *memDir) SetMtime(ns int64) error {
	return d.withLock("set time", "", func() error {
		d.fs.setMtime(d.node, ns)
		return nil
	})
}

func (d *memDir) Sync() error {
	return d.withLock("sync handle", "", func() error {
		d.fs.syncNode(d.node)
		return nil
	})
}

func (d *memDir) SyncFS() error {
	return d.withLock("sync file system", "", func() error {
		d.fs.syncAllNodes()
		return nil
	})
}

func (d *memDir) Close() error {
	err := d.withLock("close handle", "", func() error {
		d.closed = true
		d.node.openCount--
		return nil
	})
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
