package fsx

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// lacks is what this file system cannot do for us.
type lacks struct{ chown, exchange bool }

// RefuseChown makes a change of owner fs.ErrPermission, as for one who is not root.
func (m *Memory) RefuseChown(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lacks.chown = on
}

// RefuseExchange makes Exchange errors.ErrUnsupported, as some file systems do.
func (m *Memory) RefuseExchange(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lacks.exchange = on
}

// into is with, for a name of another directory of this file system too.
func (d *memDir) into(op, name string, to Dir, newName string, call func(n, other *node) error) error {
	if err := errors.Join(CheckName(name), CheckName(newName)); err != nil {
		return fail(op, name, err)
	}
	return d.with(op, name, func(n *node) error {
		if err := checkMemory(newName); err != nil {
			return err
		}
		other, ok := to.(*memDir)
		switch {
		case !ok || other.m != d.m || other.n.dev != d.n.dev:
			return syscall.EXDEV
		case other.closed:
			return errClosed
		case other.n.nlink == 0:
			return syscall.ENOENT
		}
		return call(n, other.n)
	})
}

func (d *memDir) Place(name string, to Dir, newName string) error {
	return d.into("place", name, to, newName, func(n, other *node) error {
		switch {
		case other.now.names[newName] != nil:
			return syscall.EEXIST
		case holds(n, other):
			return syscall.EINVAL
		}
		d.m.rename(d.n, name, other, newName, n)
		return nil
	})
}

func (d *memDir) Exchange(name string, to Dir, newName string) error {
	return d.into("exchange", name, to, newName, func(n, other *node) error {
		old := other.now.names[newName]
		switch {
		case d.m.lacks.exchange:
			return errors.ErrUnsupported
		case old == nil:
			return syscall.ENOENT
		case old == n:
			return nil
		case holds(n, other) || holds(old, d.n):
			return syscall.EINVAL
		}
		d.m.exchange(d.n, name, other, newName)
		return nil
	})
}

// exchange is two changes between two directories, as a rename is (M3). Held
// open, neither inode gives its bytes back while it has no name.
func (m *Memory) exchange(from *node, name string, to *node, newName string) {
	n, old := from.now.names[name], to.now.names[newName]
	n.opens, old.opens = n.opens+1, old.opens+1
	if from == to {
		m.setNames(from, naming{name: newName, node: n}, naming{name: name, node: old})
	} else {
		m.setNames(to, naming{name: newName, node: n})
		m.setNames(from, naming{name: name, node: old})
	}
	n.opens, old.opens = n.opens-1, old.opens-1
}

func (d *memDir) Link(name string, to Dir, newName string) error {
	return d.into("link file", name, to, newName, func(n, other *node) error {
		switch {
		case other.now.names[newName] != nil:
			return syscall.EEXIST
		case n.typ == Directory:
			return syscall.EPERM
		}
		d.m.setNames(other, naming{name: newName, node: n})
		return nil
	})
}

// maxTarget is the longest text of a link on Linux.
const maxTarget = 4095

func (d *memDir) Symlink(text, name string) error {
	return d.do("make link", name, func() error {
		if err := CheckName(name); err != nil {
			return err
		}
		switch {
		case text == "":
			return syscall.ENOENT
		case len(text) > maxTarget:
			return syscall.ENAMETOOLONG
		case strings.IndexByte(text, 0) >= 0:
			return syscall.EINVAL
		}
		n, err := d.m.add(d.n, name, Symlink, 0o777)
		if err == nil {
			n.target = text
		}
		return err
	})
}

func (d *memDir) Special(name string, typ Type, mode fs.FileMode) error {
	return d.do("make special file", name, func() error {
		if err := CheckName(name); err != nil {
			return err
		}
		if typ != FIFO && typ != Socket {
			return errors.ErrUnsupported
		}
		_, err := d.m.add(d.n, name, typ, mode.Perm())
		return err
	})
}

func (d *memDir) RemoveDir(name string) error {
	return d.with("remove directory", name, func(n *node) error {
		switch {
		case n.typ != Directory:
			return syscall.ENOTDIR
		case len(n.now.names) > 0:
			return syscall.ENOTEMPTY
		}
		d.m.setNames(d.n, naming{name: name})
		return nil
	})
}
