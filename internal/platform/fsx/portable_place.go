//go:build !linux || portable

package fsx

import (
	"errors"
	"io/fs"
	"syscall"
)

// Place looks first: the Go library has no rename that keeps what is there, so
// what takes the name in between is replaced.
func (d *portableDir) Place(name string, to Dir, newName string) error {
	const op = "place"
	return d.between(op, name, to, newName, func(other *portableDir) error {
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

// Exchange: the Go library cannot.
func (d *portableDir) Exchange(name string, to Dir, newName string) error {
	return d.between("exchange", name, to, newName, func(other *portableDir) error {
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
	return d.between("link file", name, to, newName, func(other *portableDir) error {
		return linkBetween(d, name, other, newName)
	})
}

// between runs one call on two directories of the machine.
func (d *portableDir) between(op, name string, to Dir, newName string, call func(*portableDir) error) error {
	if err := errors.Join(checkLocal(name), checkLocal(newName)); err != nil {
		return fail(op, name, err)
	}
	other, ok := to.(*portableDir)
	if !ok {
		return fail(op, name, syscall.EXDEV)
	}
	return fail(op, name, cause(call(other)))
}

func (d *portableDir) Symlink(text, name string) error {
	if err := checkLocal(name); err != nil {
		return fail("make link", name, err)
	}
	return fail("make link", name, cause(d.root.Symlink(text, name)))
}

func (d *portableDir) Special(name string, typ Type, mode fs.FileMode) error {
	const op = "make special file"
	if err := checkLocal(name); err != nil {
		return fail(op, name, err)
	}
	if typ != FIFO && typ != Socket {
		return fail(op, name, errors.ErrUnsupported)
	}
	return fail(op, name, cause(makeSpecial(d, name, typ, uint32(mode.Perm()))))
}

func (d *portableDir) RemoveDir(name string) error {
	const op = "remove directory"
	st, err := d.lstat(op, name)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fail(op, name, ErrNotDir)
	}
	return fail(op, name, cause(removeDir(d, name)))
}

func (f *portableFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(p, off)
	return n, fail("write file", "", cause(err))
}

func (f *portableFile) Truncate(size int64) error {
	return fail("truncate file", "", cause(f.f.Truncate(size)))
}

// CloneFrom: the Go library cannot.
func (f *portableFile) CloneFrom(File) error {
	return fail("clone file", "", errors.ErrUnsupported)
}
