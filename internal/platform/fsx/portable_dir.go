//go:build !linux || portable

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

type portableDir struct {
	root *os.Root
	path string // as it was opened; used only where a call needs a path
}

func (d *portableDir) Stat() (Info, error) {
	st, err := d.root.Stat(".")
	if err != nil {
		return Info{}, WrapError("stat handle", "", unwrapOSError(err))
	}
	return infoFromFileInfo(st), nil
}

// lstat checks the name and returns its state for the operation op.
func (d *portableDir) lstat(op, name string) (fs.FileInfo, error) {
	if err := checkLocalName(name); err != nil {
		return nil, WrapError(op, name, err)
	}
	st, err := d.root.Lstat(name)
	return st, WrapError(op, name, unwrapOSError(err))
}

func (d *portableDir) Lstat(name string) (Info, error) {
	st, err := d.lstat("stat", name)
	if err != nil {
		return Info{}, err
	}
	return infoFromFileInfo(st), nil
}

// Names opens the directory again, so that concurrent calls do not share an offset.
func (d *portableDir) Names() (names []string, err error) {
	err = d.withOpenDir("list directory", func(f *os.File) (err error) {
		names, err = f.Readdirnames(-1)
		return err
	})
	return names, err
}

// withOpenDir runs call with a new handle of the directory.
func (d *portableDir) withOpenDir(op string, call func(*os.File) error) error {
	f, err := d.root.Open(".")
	if err != nil {
		return WrapError(op, "", unwrapOSError(err))
	}
	err = call(f)
	return WrapError(op, "", unwrapOSError(errors.Join(err, f.Close())))
}

func (d *portableDir) OpenDir(name string) (Dir, error) {
	const op = "open directory"
	before, err := d.lstat(op, name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, WrapError(op, name, ErrNotDir)
	}
	self, err := d.Stat()
	if err != nil {
		return nil, err
	}
	if infoFromFileInfo(before).Dev != self.Dev {
		return nil, WrapError(op, name, ErrOtherMount)
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, wrapOpenError(op, name, ErrNotDir, err)
	}
	return newPortableDir(op, name, filepath.Join(d.path, name), root, before)
}

func (d *portableDir) OpenFile(name string) (File, error) {
	return d.openRegular("open file", name, os.O_RDONLY, 0)
}

func (d *portableDir) Create(name string, mode fs.FileMode) (File, error) {
	return d.openRegular("create file", name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (d *portableDir) Append(name string, mode fs.FileMode) (File, error) {
	return d.openRegular("append to file", name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, mode)
}

// openRegular checks the name before and after the open: what was opened must be a regular
// file that the name itself referred to, not the target of a link.
func (d *portableDir) openRegular(op, name string, flags int, mode fs.FileMode) (File, error) {
	before, err := d.lstat(op, name)
	switch {
	case flags&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case flags&os.O_EXCL != 0:
		return nil, WrapError(op, name, syscall.EEXIST)
	case !before.Mode().IsRegular():
		return nil, WrapError(op, name, ErrNotRegular)
	}
	f, err := d.root.OpenFile(name, flags|nonBlockFlags, mode.Perm())
	if err != nil {
		return nil, wrapOpenError(op, name, ErrNotRegular, err)
	}
	opened, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, WrapError(op, name, unwrapOSError(err))
	}
	same := before != nil && os.SameFile(before, opened)
	if !same {
		after, err := d.root.Lstat(name)
		same = err == nil && os.SameFile(after, opened)
	}
	if !same || !opened.Mode().IsRegular() {
		_ = f.Close()
		return nil, WrapError(op, name, ErrNotRegular)
	}
	return &portableFile{file: f, dir: d, name: name}, nil
}

func (d *portableDir) Readlink(name string) (string, error) {
	if err := checkLocalName(name); err != nil {
		return "", WrapError("read link", name, err)
	}
	target, err := d.root.Readlink(name)
	return target, WrapError("read link", name, unwrapOSError(err))
}

func (d *portableDir) Mkdir(name string, mode fs.FileMode) error {
	if err := checkLocalName(name); err != nil {
		return WrapError("make directory", name, err)
	}
	return WrapError("make directory", name, unwrapOSError(d.root.Mkdir(name, mode.Perm())))
}

func (d *portableDir) Rename(name string, to Dir, newName string) error {
	return d.withDirPair("rename", name, to, newName, func(other *portableDir) error {
		return renameBetween(d, name, other, newName)
	})
}

func (d *portableDir) Remove(name string) error {
	if err := checkLocalName(name); err != nil {
		return WrapError("remove", name, err)
	}
	return WrapError("remove", name, unwrapOSError(d.root.Remove(name)))
}

// Xattrs returns none: the Go library cannot read attributes.
func (d *portableDir) Xattrs() (map[string][]byte, error) { return nil, nil }

func (d *portableDir) SetXattr(name string, _ []byte) error {
	return xattrUnsupported("set attribute", name)
}

func (d *portableDir) RemoveXattr(name string) error {
	return xattrUnsupported("remove attribute", name)
}

// xattrUnsupported returns ErrBadName for a bad name and errors.ErrUnsupported otherwise.
func xattrUnsupported(op, name string) error {
	if err := CheckXattrName(name); err != nil {
		return WrapError(op, name, err)
	}
	return WrapError(op, name, errors.ErrUnsupported)
}

func (d *portableDir) SetMtime(ns int64) error {
	return WrapError("set time", "", unwrapOSError(d.root.Chtimes(".", time.Time{}, time.Unix(0, ns))))
}

func (d *portableDir) Sync() error { return d.withOpenDir("sync handle", syncDirNames) }

func (d *portableDir) SyncFS() error { return WrapError("sync file system", "", syncAllFileSystems()) }

func (d *portableDir) Close() error {
	err := unwrapOSError(d.root.Close())
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return WrapError("close handle", "", err)
}
