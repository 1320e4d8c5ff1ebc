package fsxtest

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

type memAccess uint8

const (
	memRead memAccess = iota + 1
	memWrite
	memAppend
)

// memFile is a handle of a regular file, guarded by fs.mu.
type memFile struct {
	fs     *Memory
	node   *memNode
	access memAccess
	off    int64
	closed bool
}

func (m *Memory) openFileHandle(n *memNode, access memAccess) *memFile {
	n.openCount++
	return &memFile{fs: m, node: n, access: access}
}

func (f *memFile) withLock(op string, call func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return fsx.WrapError(op, "", fs.ErrClosed)
	}
	err := call()
	if errors.Is(err, io.EOF) { // readers compare it
		return io.EOF
	}
	return fsx.WrapError(op, "", err)
}

func (f *memFile) Read(p []byte) (n int, err error) {
	err = f.withLock("read file", func() (err error) {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		return err
	})
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.withLock("read file", func() (err error) {
		n, err = f.readAt(p, off)
		return err
	})
	return n, err
}

func (f *memFile) readAt(p []byte, off int64) (n int, err error) {
	data := f.node.live.content.data
	switch {
	case f.access != memRead:
		return 0, syscall.EBADF
	case off < 0:
		return 0, syscall.EINVAL
	case off < int64(len(data)):
		n = copy(p, data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (n int, err error) {
	err = f.withLock("write file", func() (err error) {
		if f.access == memRead {
			return syscall.EBADF
		}
		if f.access == memAppend {
			f.off = int64(len(f.node.live.content.data))
		}
		n, err = f.fs.writeAt(f.node, f.off, p)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *memFile) Stat() (info fsx.Info, err error) {
	err = f.withLock("stat handle", func() error {
		info = f.node.stat()
		return nil
	})
	return info, err
}

func (f *memFile) Xattrs() (all map[string][]byte, err error) {
	err = f.withLock("list attributes", func() error {
		all = f.node.copyXattrs()
		return nil
	})
	return all, err
}

func (f *memFile) Holes() (holes []fsx.Hole, err error) {
	err = f.withLock("find holes", func() error {
		holes = slices.Clone(f.node.live.content.holes)
		return nil
	})
	return holes, err
}

func (f *memFile) SetMtime(ns int64) error {
	return f.withLock("set time", func() error {
		f.fs.setMtime(f.node, ns)
		return nil
	})
}

func (f *memFile) Sync() error {
	return f.withLock("sync handle", func() error {
		f.fs.syncNode(f.node)
		if f.fs.fileSyncKeepsName {
			f.fs.syncNamesOf(f.node)
		}
		return nil
	})
}

func (f *memFile) Close() error {
	err := f.withLock("close handle", func() error {
		f.closed = true
		f.node.openCount--
		f.fs.releaseSpace(f.node)
		return nil
	})
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
