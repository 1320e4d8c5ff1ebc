package fsxtest

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func (d *memDir) SetMetadata(name string, ino uint64, dr fsx.Metadata) error {
	return d.withChild("dress", name, func(n *memNode) error {
		switch {
		case n.dev != d.node.dev:
			return syscall.EXDEV
		case n.ino != ino:
			return fsx.ErrUnexpectedFile
		}
		return d.fs.applyMetadata(n, dr)
	})
}

func (d *memDir) SetOwnMetadata(dr fsx.Metadata) error {
	return d.withLock("dress", "", func() error { return d.fs.applyMetadata(d.node, dr) })
}

func (f *memFile) SetMetadata(dr fsx.Metadata) error {
	return f.withLock("dress", func() error { return f.fs.applyMetadata(f.node, dr) })
}

// applyMetadata makes one change for each system call of the real implementation, in the same
// order, because a crash may come between any two.
func (m *Memory) applyMetadata(n *memNode, d fsx.Metadata) error {
	if err := d.Validate(n.stat()); err != nil {
		return err
	}
	if d.ChangesOwner(n.stat()) {
		if m.refused.chown {
			return syscall.EPERM
		}
		m.chown(n, d.UID, d.GID)
	}
	if d.ChangesMode(n.stat()) {
		n.live.mode, n.live.ctime = d.Mode, m.currentTime()
		m.logChange(n, nodeChange{})
	}
	if err := m.applyXattrs(n, d.Xattrs); err != nil {
		return err
	}
	if n.live.mtime != d.Mtime {
		m.setMtime(n, d.Mtime)
	}
	return nil
}

// chown clears setuid and setgid as the kernel does: they would grant the rights of the new
// owner.
func (m *Memory) chown(n *memNode, uid, gid uint32) {
	if n.typ != fsx.Directory {
		n.live.mode &^= 0o4000
		if n.live.mode&0o010 != 0 {
			n.live.mode &^= 0o2000
		}
	}
	n.live.uid, n.live.gid, n.live.ctime = uid, gid, m.currentTime()
	m.logChange(n, nodeChange{})
}

// applyXattrs makes want the complete set of user.* attributes; nil leaves them as they are.
func (m *Memory) applyXattrs(n *memNode, want map[string][]byte) error {
	if want == nil {
		return nil
	}
	if !fsx.SupportsUserXattrs(n.typ) && len(want) > 0 {
		return errors.ErrUnsupported
	}
	for _, name := range slices.Sorted(maps.Keys(n.live.xattrs)) {
		if _, keep := want[name]; !keep {
			m.setXattr(n, name, nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if old, ok := n.live.xattrs[name]; !ok || !bytes.Equal(old, want[name]) {
			m.setXattr(n, name, append([]byte{}, want[name]...))
		}
	}
	return nil
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.withLock("write file", func() (err error) {
		switch {
		case f.access == memRead:
			return syscall.EBADF
		case f.access == memAppend || off < 0:
			return syscall.EINVAL
		}
		n, err = f.fs.writeAt(f.node, off, p)
		return err
	})
	return n, err
}

func (f *memFile) Truncate(size int64) error {
	return f.withLock("truncate file", func() error {
		if f.access == memRead || size < 0 {
			return syscall.EINVAL
		}
		old := f.node.live.content
		have := int64(len(old.data))
		next := old.sharePrefix(min(size, have))
		if more := size - have; more > 0 {
			if more > f.fs.capacity-f.fs.used {
				return syscall.ENOSPC
			}
			next.extend(size)
		}
		f.fs.setContent(f.node, next)
		return nil
	})
}

// CloneFrom shares the bytes. They are never changed in place, so a later write copies them.
func (f *memFile) CloneFrom(src fsx.File) error {
	from, ok := src.(*memFile)
	if !ok || from.fs != f.fs || from == f {
		return fsx.WrapError("clone file", "", errors.ErrUnsupported)
	}
	return f.withLock("clone file", func() error {
		data := from.node.live.content.data
		switch {
		case from.closed:
			return fs.ErrClosed
		case from.access != memRead || f.access == memRead:
			return syscall.EBADF
		case from.node.dev != f.node.dev || from.node == f.node:
			return errors.ErrUnsupported
		}
		if have := f.node.live.content.data; len(have) > len(data) {
			_, err := f.fs.writeAt(f.node, 0, data)
			return err
		} else if int64(len(data)-len(have)) > f.fs.capacity-f.fs.used {
			return syscall.ENOSPC
		}
		f.fs.setContent(f.node, from.node.live.content.sharePrefix(int64(len(data))))
		return nil
	})
}

// setContent replaces the data of a file as one change.
func (m *Memory) setContent(n *memNode, with *content) {
	m.used += int64(len(with.data) - len(n.live.content.data))
	n.live.content = with
	n.live.mtime = m.currentTime()
	n.live.ctime = n.live.mtime
	m.logChange(n, nodeChange{content: with, length: int64(len(with.data)), replacesAll: true})
}
