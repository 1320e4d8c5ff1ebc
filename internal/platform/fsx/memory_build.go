package fsx

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"
)

// Build says how the methods that build a tree by path leave it.
type Build uint8

// Synced makes what was built durable: the inode and the names that lead to it
// in its own directory.
const Synced Build = 1

// MkdirAll makes the directory at path and those above it.
func (m *Memory) MkdirAll(path string, mode fs.FileMode, opts ...Build) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	names, err := split(path)
	if err != nil {
		return fail("make directory", path, err)
	}
	dir := m.root
	for _, name := range names {
		next := dir.now.names[name]
		if next == nil {
			if next, err = m.add(dir, name, Directory, mode); err != nil {
				return fail("make directory", path, err)
			}
		}
		if next.typ != Directory {
			return fail("make directory", path, syscall.ENOTDIR)
		}
		if slices.Contains(opts, Synced) {
			m.sync(next)
			m.sync(dir)
		}
		dir = next
	}
	return nil
}

// build runs call on the directory and the last name of path.
func (m *Memory) build(op, path string, opts []Build, call func(dir *node, name string) (*node, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	names, err := split(path)
	if err == nil && len(names) == 0 {
		err = ErrBadName
	}
	if err != nil {
		return fail(op, path, err)
	}
	dir := m.root
	for _, name := range names[:len(names)-1] {
		if dir = dir.now.names[name]; dir == nil {
			return fail(op, path, syscall.ENOENT)
		}
		if dir.typ != Directory {
			return fail(op, path, syscall.ENOTDIR)
		}
	}
	n, err := call(dir, names[len(names)-1])
	if err == nil && slices.Contains(opts, Synced) {
		m.sync(n)
		m.sync(dir)
	}
	return fail(op, path, err)
}

// WriteFile makes the file at path, or replaces the data of the one that is there.
func (m *Memory) WriteFile(path string, data []byte, mode fs.FileMode, opts ...Build) error {
	return m.build("write file", path, opts, func(dir *node, name string) (*node, error) {
		return m.replace(dir, name, mode, &content{data: slices.Clone(data)})
	})
}

// WriteSparse is WriteFile for data with holes; what lies in them must be zero.
func (m *Memory) WriteSparse(path string, data []byte, holes []Hole, mode fs.FileMode, opts ...Build) error {
	return m.build("write file", path, opts, func(dir *node, name string) (*node, error) {
		return m.replace(dir, name, mode, &content{data: slices.Clone(data), holes: slices.Clone(holes)})
	})
}

func (m *Memory) replace(dir *node, name string, mode fs.FileMode, with *content) (n *node, err error) {
	if n = dir.now.names[name]; n == nil {
		if n, err = m.add(dir, name, Regular, mode); err != nil {
			return nil, err
		}
	}
	if n.typ != Regular {
		return nil, ErrNotRegular
	}
	grow := int64(len(with.data) - len(n.now.content.data))
	if grow > m.capacity-m.used {
		return nil, syscall.ENOSPC
	}
	m.used += grow
	n.now.content = with
	n.now.mtime = m.time()
	n.now.ctime = n.now.mtime
	m.log(n, change{content: with, length: int64(len(with.data)), whole: true})
	return n, nil
}

// Symlink makes a link at path that says target.
func (m *Memory) Symlink(target, path string, opts ...Build) error {
	return m.build("make link", path, opts, func(dir *node, name string) (*node, error) {
		n, err := m.add(dir, name, Symlink, 0o777)
		if err == nil {
			n.target = target
		}
		return n, err
	})
}

// Mkfifo makes a FIFO.
func (m *Memory) Mkfifo(path string, mode fs.FileMode, opts ...Build) error {
	return m.special("make fifo", path, FIFO, mode, opts)
}

// Mksock makes a socket.
func (m *Memory) Mksock(path string, mode fs.FileMode, opts ...Build) error {
	return m.special("make socket", path, Socket, mode, opts)
}

// Mkdev makes a device.
func (m *Memory) Mkdev(path string, mode fs.FileMode, opts ...Build) error {
	return m.special("make device", path, Device, mode, opts)
}

func (m *Memory) special(op, path string, typ Type, mode fs.FileMode, opts []Build) error {
	return m.build(op, path, opts, func(dir *node, name string) (*node, error) {
		return m.add(dir, name, typ, mode)
	})
}

// Link gives the file at path a second name.
func (m *Memory) Link(path, newPath string, opts ...Build) error {
	return m.build("link file", newPath, opts, func(dir *node, name string) (*node, error) {
		n, err := m.find(path)
		switch {
		case err != nil:
			return nil, err
		case n.typ == Directory:
			return nil, syscall.EPERM
		case n.dev != dir.dev:
			return nil, syscall.EXDEV
		case dir.now.names[name] != nil:
			return nil, syscall.EEXIST
		}
		m.setNames(dir, naming{name: name, node: n})
		return n, nil
	})
}

// change runs call on the inode at path.
func (m *Memory) change(op, path string, opts []Build, call func(*node) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(path)
	if err == nil {
		err = call(n)
	}
	if err == nil && slices.Contains(opts, Synced) {
		m.sync(n)
	}
	return fail(op, path, err)
}

// SetXattr sets one user attribute of what is at path.
func (m *Memory) SetXattr(path, name string, value []byte, opts ...Build) error {
	return m.change("set attribute", path, opts, func(n *node) error {
		if err := checkAttr(name); err != nil {
			return err
		}
		m.setXattr(n, name, append([]byte{}, value...))
		return nil
	})
}

// SetMtime sets the modification time of what is at path.
func (m *Memory) SetMtime(path string, ns int64, opts ...Build) error {
	return m.change("set time", path, opts, func(n *node) error {
		m.setMtime(n, ns)
		return nil
	})
}

// Chmod sets the mode. Without the owner's read bit an open is fs.ErrPermission.
func (m *Memory) Chmod(path string, mode fs.FileMode, opts ...Build) error {
	return m.change("set mode", path, opts, func(n *node) error {
		n.now.mode, n.now.ctime = unixMode(mode), m.time()
		m.log(n, change{})
		return nil
	})
}

// Chown sets the owner.
func (m *Memory) Chown(path string, uid, gid uint32, opts ...Build) error {
	return m.change("set owner", path, opts, func(n *node) error {
		n.now.uid, n.now.gid, n.now.ctime = uid, gid, m.time()
		m.log(n, change{})
		return nil
	})
}

// Mount makes the empty directory at path the root of another device.
func (m *Memory) Mount(path string) error {
	return m.change("mount", path, nil, func(n *node) error {
		switch {
		case n.typ != Directory:
			return syscall.ENOTDIR
		case len(n.now.names) > 0:
			return syscall.ENOTEMPTY
		}
		n.dev = m.nextDev
		m.nextDev++
		return nil
	})
}

// ReadFile answers the data of the file at path.
func (m *Memory) ReadFile(path string) (data []byte, err error) {
	err = m.change("read file", path, nil, func(n *node) error {
		if n.typ != Regular {
			return ErrNotRegular
		}
		data = append([]byte{}, n.now.content.data...)
		return nil
	})
	return data, err
}

// Paths answers the path of everything below the root, sorted by name within
// each directory, a directory before what is in it.
func (m *Memory) Paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var paths []string
	var walk func(prefix string, n *node)
	walk = func(prefix string, n *node) {
		for _, name := range slices.Sorted(maps.Keys(n.now.names)) {
			paths = append(paths, prefix+name)
			walk(prefix+name+"/", n.now.names[name])
		}
	}
	walk("/", m.root)
	return paths
}
