package fsx

import (
	"errors"
	"io"
	"slices"
	"syscall"
)

type memAccess uint8

const (
	memRead memAccess = iota + 1
	memWrite
	memAppend
)

// memFile is a handle on a regular file; m.mu guards all of it.
type memFile struct {
	m      *Memory
	n      *node
	access memAccess
	off    int64
	closed bool
}

func (m *Memory) open(n *node, access memAccess) *memFile {
	n.opens++
	return &memFile{m: m, n: n, access: access}
}

func (f *memFile) do(op string, call func() error) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return fail(op, "", errClosed)
	}
	err := call()
	if errors.Is(err, io.EOF) { // readers compare it
		return io.EOF
	}
	return fail(op, "", err)
}

func (f *memFile) Read(p []byte) (n int, err error) {
	err = f.do("read file", func() (err error) {
		n, err = f.copyAt(p, f.off)
		f.off += int64(n)
		return err
	})
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read file", func() (err error) {
		n, err = f.copyAt(p, off)
		return err
	})
	return n, err
}

func (f *memFile) copyAt(p []byte, off int64) (n int, err error) {
	data := f.n.now.content.data
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
	err = f.do("write file", func() (err error) {
		if f.access == memRead {
			return syscall.EBADF
		}
		if f.access == memAppend {
			f.off = int64(len(f.n.now.content.data))
		}
		n, err = f.m.write(f.n, f.off, p)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *memFile) Stat() (info Info, err error) {
	err = f.do("stat handle", func() error {
		info = f.n.info()
		return nil
	})
	return info, err
}

func (f *memFile) Xattrs() (all map[string][]byte, err error) {
	err = f.do("list attributes", func() error {
		all = f.n.copyXattrs()
		return nil
	})
	return all, err
}

func (f *memFile) Holes() (holes []Hole, err error) {
	err = f.do("find holes", func() error {
		holes = slices.Clone(f.n.now.content.holes)
		return nil
	})
	return holes, err
}

func (f *memFile) SetMtime(ns int64) error {
	return f.do("set time", func() error {
		f.m.setMtime(f.n, ns)
		return nil
	})
}

func (f *memFile) Sync() error {
	return f.do("sync handle", func() error {
		f.m.sync(f.n)
		if f.m.journal {
			f.m.syncNames(f.n)
		}
		return nil
	})
}

func (f *memFile) Close() error {
	err := f.do("close handle", func() error {
		f.closed = true
		f.n.opens--
		f.m.release(f.n)
		return nil
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}
