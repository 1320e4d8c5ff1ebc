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
	file *os.File
	dir  *portableDir
	name string
}

func (f *portableFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	return n, wrapReadError(err)
}

func (f *portableFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.file.ReadAt(p, off)
	return n, wrapReadError(err)
}

// wrapReadError does not wrap io.EOF, because readers compare it.
func wrapReadError(err error) error {
	if err == io.EOF {
		return err
	}
	return WrapError("read file", "", unwrapOSError(err))
}

func (f *portableFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	return n, WrapError("write file", "", unwrapOSError(err))
}

func (f *portableFile) Stat() (Info, error) {
	st, err := f.file.Stat()
	if err != nil {
		return Info{}, WrapError("stat handle", "", unwrapOSError(err))
	}
	return infoFromFileInfo(st), nil
}

// Xattrs returns none: the Go library cannot read attributes.
func (f *portableFile) Xattrs() (map[string][]byte, error) { return nil, nil }

// Holes returns none: the Go library cannot find holes.
func (f *portableFile) Holes() ([]Hole, error) { return nil, nil }

// SetMtime goes by name because the Go library offers nothing else, so the directory must be
// open and the name must still refer to this file.
func (f *portableFile) SetMtime(ns int64) error {
	const op = "set time"
	mine, err := f.file.Stat()
	if err != nil {
		return WrapError(op, f.name, unwrapOSError(err))
	}
	named, err := f.dir.root.Lstat(f.name)
	if err != nil {
		return WrapError(op, f.name, unwrapOSError(err))
	}
	if !os.SameFile(mine, named) {
		return WrapError(op, f.name, fs.ErrNotExist)
	}
	return WrapError(op, f.name, unwrapOSError(f.dir.root.Chtimes(f.name, time.Time{}, time.Unix(0, ns))))
}

func (f *portableFile) Sync() error {
	return WrapError("sync handle", "", unwrapOSError(f.file.Sync()))
}

func (f *portableFile) Close() error {
	err := unwrapOSError(f.file.Close())
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return WrapError("close handle", "", err)
}
