package fsxtest

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// refusedOps are the operations that this file system refuses.
type refusedOps struct{ chown, exchange bool }

// RefuseChown makes a change of owner fail with fs.ErrPermission, as without root.
func (m *Memory) RefuseChown(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused.chown = on
}

// RefuseExchange makes Exchange fail with errors.ErrUnsupported, as on some file systems.
func (m *Memory) RefuseExchange(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused.exchange = on
}

// withDestination is withChild for operations with a destination directory, which must be on
// the same device.
func (d *memDir) withDestination(op, name string, to fsx.Dir, newName string, call func(n, other *memNode) error) error {
	if err := errors.Join(fsx.CheckName(name), fsx.CheckName(newName)); err != nil {
		return fsx.WrapError(op, name, err)
	}
	return d.withChild(op, name, func(n *memNode) error {
		if err := checkMemoryName(newName); err != nil {
			return err
		}
		other, ok := to.(*memDir)
		switch {
		case !ok || other.fs != d.fs || other.node.dev != d.node.dev:
			return syscall.EXDEV
		case other.closed:
			return fs.ErrClosed
		case other.node.nlink == 0:
			return syscall.ENOENT
		}
		return call(n, other.node)
	})
}

func (d *memDir) RenameNoReplace(name string, to fsx.Dir, newName string) error {
	return d.withDestination("place", name, to, newName, func(n, other *memNode) error {
		switch {
		case other.live.names[newName] != nil:
			return syscall.EEXIST
		case containsNode(n, other):
			return syscall.EINVAL
		}
		d.fs.moveName(d.node, name, other, newName, n)
		return nil
	})
}

func (d *memDir) Exchange(name string, to fsx.Dir, newName string) error {
	return d.withDestination("exchange", name, to, newName, func(n, other *memNode) error {
		old := other.live.names[newName]
		switch {
		case d.fs.refused.exchange:
			return errors.ErrUnsupported
		case old == nil:
			return syscall.ENOENT
		case old == n:
			return nil
		case containsNode(n, other) || containsNode(old, d.node):
			return syscall.EINVAL
		}
		d.fs.exchangeNames(d.node, name, other, newName)
		return nil
	})
}

// exchangeNames is two changes between two directories, as a rename is (M3). It counts as an
// open handle, so that neither inode releases its bytes while it has no name.
func (m *Memory) exchangeNames(from *memNode, name string, to *memNode, newName string) {
	n, old := from.live.names[name], to.live.names[newName]
	n.openCount, old.openCount = n.openCount+1, old.openCount+1
	if from == to {
		m.updateNames(from, nameChange{name: newName, node: n}, nameChange{name: name, node: old})
	} else {
		m.updateNames(to, nameChange{name: newName, node: n})
		m.updateNames(from, nameChange{name: name, node: old})
	}
	n.openCount, old.openCount = n.openCount-1, old.openCount-1
}

func (d *memDir) Link(name string, to fsx.Dir, newName string) error {
	return d.withDestination("link file", name, to, newName, func(n, other *memNode) error {
		switch {
		case other.live.names[newName] != nil:
			return syscall.EEXIST
		case n.typ == fsx.Directory:
			return syscall.EPERM
		}
		d.fs.updateNames(other, nameChange{name: newName, node: n})
		return nil
	})
}

// maxLinkTarget is the longest link target on Linux.
const maxLinkTarget = 4095

func (d *memDir) Symlink(text, name string) error {
	return d.withLock("make link", name, func() error {
		if err := fsx.CheckName(name); err != nil {
			return err
		}
		switch {
		case text == "":
			return syscall.ENOENT
		case len(text) > maxLinkTarget:
			return syscall.ENAMETOOLONG
		case strings.IndexByte(text, 0) >= 0:
			return syscall.EINVAL
		}
		n, err := d.fs.addNode(d.node, name, fsx.Symlink, 0o777)
		if err == nil {
			n.target = text
		}
		return err
	})
}

func (d *memDir) Mknod(name string, typ fsx.Type, mode fs.FileMode) error {
	return d.withLock("make special file", name, func() error {
		if err := fsx.CheckName(name); err != nil {
			return err
		}
		if typ != fsx.FIFO && typ != fsx.Socket {
			return errors.ErrUnsupported
		}
		_, err := d.fs.addNode(d.node, name, typ, mode.Perm())
		return err
	})
}

func (d *memDir) RemoveDir(name string) error {
	return d.withChild("remove directory", name, func(n *memNode) error {
		switch {
		case n.typ != fsx.Directory:
			return syscall.ENOTDIR
		case len(n.live.names) > 0:
			return syscall.ENOTEMPTY
		}
		d.fs.updateNames(d.node, nameChange{name: name})
		return nil
	})
}
