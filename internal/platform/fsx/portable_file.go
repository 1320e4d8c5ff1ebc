//go:build !linux || portable

package fsx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

type portableFile struct {
	f    *os.File
	dir  *portableDir
	name string
}

func (f *portableFile) Read(p []byte) (int, error) {
	n, err := f.f.Read(p)
	return n, failRead(err)
}

func (f *portableFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(p, off)
	return n, failRead(err)
}

// failRead leaves io.EOF bare: readers compare it.
func failRead(err error) error {
	if err == io.EOF {
		return err
	}
	return fail("read file", "", cause(err))
}

func (f *portableFile) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	return n, fail("write file", "", cause(err))
}

func (f *portableFile) Stat() (Info, error) {
	st, err := f.f.Stat()
	if err != nil {
		return Info{}, fail("stat handle", "", cause(err))
	}
	return infoFrom(st), nil
}

// Xattrs: the Go library cannot tell.
func (f *portableFile) Xattrs() (map[string][]byte, error) { return nil, nil }

// Holes: the Go library cannot tell.
func (f *portableFile) Holes() ([]Hole, error) { return nil, nil }

// SetMtime goes by name, as the Go library has no other way; so the directory
// must be open and the name must still stand for this file.
func (f *portableFile) SetMtime(ns int64) error {
	const op = "set time"
	mine, err := f.f.Stat()
	if err != nil {
		return fail(op, f.name, cause(err))
	}
	named, err := f.dir.root.Lstat(f.name)
	if err != nil {
		return fail(op, f.name, cause(err))
	}
	if !os.SameFile(mine, named) {
		return fail(op, f.name, fs.ErrNotExist)
	}
	return fail(op, f.name, cause(f.dir.root.Chtimes(f.name, time.Time{}, time.Unix(0, ns))))
}

func (f *portableFile) Sync() error { return fail("sync handle", "", cause(f.f.Sync())) }

func (f *portableFile) Close() error {
	err := cause(f.f.Close())
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return fail("close handle", "", err)
}
