//go:build !linux || portable

package fsx

import (
	"errors"
	"io/fs"
	"syscall"
)

// RenameNoReplace checks first: the Go library has no rename that fails for an existing name,
// so what takes the name in between is replaced.
func (d *portableDir) RenameNoReplace(name string, to Dir, newName string) error {
	const op = "place"
	return d.withDirPair(op, name, to, newName, func(other *portableDir) error {
		if _, err := d.root.Lstat(name); err != nil {
			return err
		}
		_, err := other.root.Lstat(newName)
		switch {
		case err == nil:
			return syscall.EEXIST
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return renameBetween(d, name, other, newName)
	})
}

// Exchange always fails: the Go library has no such call.
func (d *portableDir) Exchange(name string, to Dir, newName string) error {
	return d.withDirPair("exchange", name, to, newName, func(other *portableDir) error {
		_, from := d.root.Lstat(name)
		_, old := other.root.Lstat(newName)
		switch {
		case from != nil:
			return from
		case old != nil:
			return old
		}
		return errors.ErrUnsupported
	})
}

func (d *portableDir) Link(name string, to Dir, newName string) error {
	return d.withDirPair("link file", name, to, newName, func(other *portableDir) error {
		return linkBetween(d, name, other, newName)
	})
}

// withDirPair runs call with the other directory, if that is one of the machine too.
func (d *portableDir) withDirPair(op, name string, to Dir, newName string, call func(*portableDir) error) error {
	if err := errors.Join(checkLocalName(name), checkLocalName(newName)); err != nil {
		return WrapError(op, name, err)
	}
	other, ok := to.(*portableDir)
	if !ok {
		return WrapError(op, name, syscall.EXDEV)
	}
	return WrapError(op, name, unwrapOSError(call(other)))
}

func (d *portableDir) Symlink(text, name string) error {
	if err := checkLocalName(name); err != nil {
		return WrapError("make link", name, err)
	}
	return WrapError("make link", name, unwrapOSError(d.root.Symlink(text, name)))
}

func (d *portableDir) Mknod(name string, typ Type, mode fs.FileMode) error {
	const op = "make special file"
	if err := checkLocalName(name); err != nil {
		return WrapError(op, name, err)
	}
	if typ != FIFO && typ != Socket {
		return WrapError(op, name, errors.ErrUnsupported)
	}
	return WrapError(op, name, unwrapOSError(mknodAt(d, name, typ, uint32(mode.Perm()))))
}

func (d *portableDir) RemoveDir(name string) error {
	const op = "remove directory"
	st, err := d.lstat(op, name)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return WrapError(op, name, ErrNotDir)
	}
	return WrapError(op, name, unwrapOSError(removeEmptyDir(d, name)))
}

func (f *portableFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.file.WriteAt(p, off)
	return n, WrapError("write file", "", unwrapOSError(err))
}

func (f *portableFile) Truncate(size int64) error {
	return WrapError("truncate file", "", unwrapOSError(f.file.Truncate(size)))
}

// CloneFrom always fails: the Go library has no such call.
func (f *portableFile) CloneFrom(File) error {
	return WrapError("clone file", "", errors.ErrUnsupported)
}
