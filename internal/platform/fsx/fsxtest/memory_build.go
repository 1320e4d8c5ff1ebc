package fsxtest

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// BuildOption changes how the methods that build a tree by path work.
type BuildOption uint8

// Synced makes what was built durable: the inode, and its name in its directory.
const Synced BuildOption = 1

// MkdirAll creates the directory at path and its parents.
func (m *Memory) MkdirAll(path string, mode fs.FileMode, opts ...BuildOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	names, err := splitPath(path)
	if err != nil {
		return fsx.WrapError("make directory", path, err)
	}
	dir := m.root
	for _, name := range names {
		next := dir.live.names[name]
		if next == nil {
			if next, err = m.addNode(dir, name, fsx.Directory, mode); err != nil {
				return fsx.WrapError("make directory", path, err)
			}
		}
		if next.typ != fsx.Directory {
			return fsx.WrapError("make directory", path, syscall.ENOTDIR)
		}
		if slices.Contains(opts, Synced) {
			m.syncNode(next)
			m.syncNode(dir)
		}
		dir = next
	}
	return nil
}

// createAt runs call with the parent directory and the last name of path.
func (m *Memory) createAt(op, path string, opts []BuildOption, call func(dir *memNode, name string) (*memNode, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	names, err := splitPath(path)
	if err == nil && len(names) == 0 {
		err = fsx.ErrBadName
	}
	if err != nil {
		return fsx.WrapError(op, path, err)
	}
	dir := m.root
	for _, name := range names[:len(names)-1] {
		if dir = dir.live.names[name]; dir == nil {
			return fsx.WrapError(op, path, syscall.ENOENT)
		}
		if dir.typ != fsx.Directory {
			return fsx.WrapError(op, path, syscall.ENOTDIR)
		}
	}
	n, err := call(dir, names[len(names)-1])
	if err == nil && slices.Contains(opts, Synced) {
		m.syncNode(n)
		m.syncNode(dir)
	}
	return fsx.WrapError(op, path, err)
}

// WriteFile creates the file at path, or replaces its data.
func (m *Memory) WriteFile(path string, data []byte, mode fs.FileMode, opts ...BuildOption) error {
	return m.createAt("write file", path, opts, func(dir *memNode, name string) (*memNode, error) {
		return m.replaceContent(dir, name, mode, &content{data: slices.Clone(data)})
	})
}

// WriteSparse is WriteFile for data with holes. The bytes in the holes must be zero.
func (m *Memory) WriteSparse(path string, data []byte, holes []fsx.Hole, mode fs.FileMode, opts ...BuildOption) error {
	return m.createAt("write file", path, opts, func(dir *memNode, name string) (*memNode, error) {
		return m.replaceContent(dir, name, mode, &content{data: slices.Clone(data), holes: slices.Clone(holes)})
	})
}

func (m *Memory) replaceContent(dir *memNode, name string, mode fs.FileMode, with *content) (n *memNode, err error) {
	if n = dir.live.names[name]; n == nil {
		if n, err = m.addNode(dir, name, fsx.Regular, mode); err != nil {
			return nil, err
		}
	}
	if n.typ != fsx.Regular {
		return nil, fsx.ErrNotRegular
	}
	grow := int64(len(with.data) - len(n.live.content.data))
	if grow > m.capacity-m.used {
		return nil, syscall.ENOSPC
	}
	m.used += grow
	n.live.content = with
	n.live.mtime = m.currentTime()
	n.live.ctime = n.live.mtime
	m.logChange(n, nodeChange{content: with, length: int64(len(with.data)), replacesAll: true})
	return n, nil
}

// Symlink creates a symbolic link to target at path.
func (m *Memory) Symlink(target, path string, opts ...BuildOption) error {
	return m.createAt("make link", path, opts, func(dir *memNode, name string) (*memNode, error) {
		n, err := m.addNode(dir, name, fsx.Symlink, 0o777)
		if err == nil {
			n.target = target
		}
		return n, err
	})
}

// Mkfifo makes a FIFO.
func (m *Memory) Mkfifo(path string, mode fs.FileMode, opts ...BuildOption) error {
	return m.makeNodeAt("make fifo", path, fsx.FIFO, mode, opts)
}

// Mksock makes a socket.
func (m *Memory) Mksock(path string, mode fs.FileMode, opts ...BuildOption) error {
	return m.makeNodeAt("make socket", path, fsx.Socket, mode, opts)
}

// Mkdev makes a device.
func (m *Memory) Mkdev(path string, mode fs.FileMode, opts ...BuildOption) error {
	return m.makeNodeAt("make device", path, fsx.Device, mode, opts)
}

func (m *Memory) makeNodeAt(op, path string, typ fsx.Type, mode fs.FileMode, opts []BuildOption) error {
	return m.createAt(op, path, opts, func(dir *memNode, name string) (*memNode, error) {
		return m.addNode(dir, name, typ, mode)
	})
}

// Link gives the file at path a second name.
func (m *Memory) Link(path, newPath string, opts ...BuildOption) error {
	return m.createAt("link file", newPath, opts, func(dir *memNode, name string) (*memNode, error) {
		n, err := m.lookup(path)
		switch {
		case err != nil:
			return nil, err
		case n.typ == fsx.Directory:
			return nil, syscall.EPERM
		case n.dev != dir.dev:
			return nil, syscall.EXDEV
		case dir.live.names[name] != nil:
			return nil, syscall.EEXIST
		}
		m.updateNames(dir, nameChange{name: name, node: n})
		return n, nil
	})
}

// modifyAt runs call with the inode at path.
func (m *Memory) modifyAt(op, path string, opts []BuildOption, call func(*memNode) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(path)
	if err == nil {
		err = call(n)
	}
	if err == nil && slices.Contains(opts, Synced) {
		m.syncNode(n)
	}
	return fsx.WrapError(op, path, err)
}

// SetXattr sets one user attribute of what is at path.
func (m *Memory) SetXattr(path, name string, value []byte, opts ...BuildOption) error {
	return m.modifyAt("set attribute", path, opts, func(n *memNode) error {
		if err := fsx.CheckXattrName(name); err != nil {
			return err
		}
		m.setXattr(n, name, append([]byte{}, value...))
		return nil
	})
}

// SetMtime sets the modification time of what is at path.
func (m *Memory) SetMtime(path string, ns int64, opts ...BuildOption) error {
	return m.modifyAt("set time", path, opts, func(n *memNode) error {
		m.setMtime(n, ns)
		return nil
	})
}

// Chmod sets the mode. Without the owner's read bit an open is fs.ErrPermission.
func (m *Memory) Chmod(path string, mode fs.FileMode, opts ...BuildOption) error {
	return m.modifyAt("set mode", path, opts, func(n *memNode) error {
		n.live.mode, n.live.ctime = fsx.BitsFromFileMode(mode), m.currentTime()
		m.logChange(n, nodeChange{})
		return nil
	})
}

// Chown sets the owner.
func (m *Memory) Chown(path string, uid, gid uint32, opts ...BuildOption) error {
	return m.modifyAt("set owner", path, opts, func(n *memNode) error {
		n.live.uid, n.live.gid, n.live.ctime = uid, gid, m.currentTime()
		m.logChange(n, nodeChange{})
		return nil
	})
}

// Mount makes the empty directory at path the root of another device.
func (m *Memory) Mount(path string) error {
	return m.modifyAt("mount", path, nil, func(n *memNode) error {
		switch {
		case n.typ != fsx.Directory:
			return syscall.ENOTDIR
		case len(n.live.names) > 0:
			return syscall.ENOTEMPTY
		}
		n.dev = m.nextDev
		m.nextDev++
		return nil
	})
}

// ReadFile returns the data of the file at path.
func (m *Memory) ReadFile(path string) (data []byte, err error) {
	err = m.modifyAt("read file", path, nil, func(n *memNode) error {
		if n.typ != fsx.Regular {
			return fsx.ErrNotRegular
		}
		data = append([]byte{}, n.live.content.data...)
		return nil
	})
	return data, err
}

// Paths returns the path of everything below the root, sorted by name within each directory, a
// directory before its content.
func (m *Memory) Paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var paths []string
	var walk func(prefix string, n *memNode)
	walk = func(prefix string, n *memNode) {
		for _, name := range slices.Sorted(maps.Keys(n.live.names)) {
			paths = append(paths, prefix+name)
			walk(prefix+name+"/", n.live.names[name])
		}
	}
	walk("/", m.root)
	return paths
}
