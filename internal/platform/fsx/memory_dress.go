package fsx

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"syscall"
)

func (d *memDir) Dress(name string, ino uint64, dr Dressing) error {
	return d.with("dress", name, func(n *node) error {
		switch {
		case n.dev != d.n.dev:
			return syscall.EXDEV
		case n.ino != ino:
			return ErrMovedOn
		}
		return d.m.dress(n, dr)
	})
}

func (d *memDir) DressSelf(dr Dressing) error {
	return d.do("dress", "", func() error { return d.m.dress(d.n, dr) })
}

func (f *memFile) Dress(dr Dressing) error {
	return f.do("dress", func() error { return f.m.dress(f.n, dr) })
}

// dress makes one change for each call that the machine would make, in its
// order: a crash may come between any two.
func (m *Memory) dress(n *node, d Dressing) error {
	if err := d.check(n.info()); err != nil {
		return err
	}
	if d.changesOwner(n.info()) {
		if m.lacks.chown {
			return syscall.EPERM
		}
		m.chown(n, d.UID, d.GID)
	}
	if d.changesMode(n.info()) {
		n.now.mode, n.now.ctime = d.Mode, m.time()
		m.log(n, change{})
	}
	if err := m.dressXattrs(n, d.Xattrs); err != nil {
		return err
	}
	if n.now.mtime != d.Mtime {
		m.setMtime(n, d.Mtime)
	}
	return nil
}

// chown clears what would give the rights of another owner away.
func (m *Memory) chown(n *node, uid, gid uint32) {
	if n.typ != Directory {
		n.now.mode &^= 0o4000
		if n.now.mode&0o010 != 0 {
			n.now.mode &^= 0o2000
		}
	}
	n.now.uid, n.now.gid, n.now.ctime = uid, gid, m.time()
	m.log(n, change{})
}

func (m *Memory) dressXattrs(n *node, want map[string][]byte) error {
	if want == nil {
		return nil
	}
	if !bears(n.typ) && len(want) > 0 {
		return errors.ErrUnsupported
	}
	for _, name := range slices.Sorted(maps.Keys(n.now.xattrs)) {
		if _, keep := want[name]; !keep {
			m.setXattr(n, name, nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if old, ok := n.now.xattrs[name]; !ok || !bytes.Equal(old, want[name]) {
			m.setXattr(n, name, append([]byte{}, want[name]...))
		}
	}
	return nil
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write file", func() (err error) {
		switch {
		case f.access == memRead:
			return syscall.EBADF
		case f.access == memAppend || off < 0:
			return syscall.EINVAL
		}
		n, err = f.m.write(f.n, off, p)
		return err
	})
	return n, err
}

func (f *memFile) Truncate(size int64) error {
	return f.do("truncate file", func() error {
		if f.access == memRead || size < 0 {
			return syscall.EINVAL
		}
		old := f.n.now.content
		have := int64(len(old.data))
		next := old.share(min(size, have))
		if more := size - have; more > 0 {
			if more > f.m.capacity-f.m.used {
				return syscall.ENOSPC
			}
			next.lengthen(size)
		}
		f.m.setContent(f.n, next)
		return nil
	})
}

// CloneFrom copies: bytes that are there are never changed in place, so the
// copy is a shared one until a write.
func (f *memFile) CloneFrom(src File) error {
	from, ok := src.(*memFile)
	if !ok || from.m != f.m || from == f {
		return fail("clone file", "", errors.ErrUnsupported)
	}
	return f.do("clone file", func() error {
		data := from.n.now.content.data
		switch {
		case from.closed:
			return errClosed
		case from.access != memRead || f.access == memRead:
			return syscall.EBADF
		case from.n.dev != f.n.dev || from.n == f.n:
			return errors.ErrUnsupported
		}
		if have := f.n.now.content.data; len(have) > len(data) {
			_, err := f.m.write(f.n, 0, data)
			return err
		} else if int64(len(data)-len(have)) > f.m.capacity-f.m.used {
			return syscall.ENOSPC
		}
		f.m.setContent(f.n, from.n.now.content.share(int64(len(data))))
		return nil
	})
}

// setContent gives a file other data as one change.
func (m *Memory) setContent(n *node, with *content) {
	m.used += int64(len(with.data) - len(n.now.content.data))
	n.now.content = with
	n.now.mtime = m.time()
	n.now.ctime = n.now.mtime
	m.log(n, change{content: with, length: int64(len(with.data)), whole: true})
}
