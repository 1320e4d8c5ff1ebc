//go:build linux && !portable

package fsx

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// RenameNoReplace lets the kernel check that the new name is free. On a file system that does
// not support that, the name is checked first; what takes it in between is replaced.
func (d *osDir) RenameNoReplace(name string, to Dir, newName string) error {
	return d.withDirPair("place", name, to, newName, func(from, to int) error {
		err := unix.Renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
		var st unix.Stat_t
		switch err := unix.Fstatat(to, newName, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case err == nil:
			return unix.EEXIST
		case !errors.Is(err, unix.ENOENT):
			return err
		}
		return unix.Renameat(from, name, to, newName)
	})
}

// Exchange is not supported on EINVAL. The kernel also returns that for a directory and
// something below it.
func (d *osDir) Exchange(name string, to Dir, newName string) error {
	const op = "exchange"
	err := d.withDirPair(op, name, to, newName, func(from, to int) error {
		return unix.Renameat2(from, name, to, newName, unix.RENAME_EXCHANGE)
	})
	return asUnsupported(op, name, err, unix.EINVAL, unix.ENOSYS)
}

// asUnsupported turns the given errnos into errors.ErrUnsupported.
func asUnsupported(op, name string, err error, answers ...unix.Errno) error {
	for _, errno := range answers {
		if errors.Is(err, errno) {
			return wrapErrorAs(op, name, errors.ErrUnsupported, errno)
		}
	}
	return err
}

func (d *osDir) Link(name string, to Dir, newName string) error {
	return d.withDirPair("link file", name, to, newName, func(from, to int) error {
		return unix.Linkat(from, name, to, newName, 0)
	})
}

func (d *osDir) Symlink(text, name string) error {
	if err := CheckName(name); err != nil {
		return WrapError("make link", name, err)
	}
	return d.withFD("make link", name, func(fd int) error { return unix.Symlinkat(text, fd, name) })
}

func (d *osDir) Mknod(name string, typ Type, mode fs.FileMode) error {
	const op = "make special file"
	if err := CheckName(name); err != nil {
		return WrapError(op, name, err)
	}
	bits := uint32(mode.Perm())
	switch typ {
	case FIFO:
		bits |= unix.S_IFIFO
	case Socket:
		bits |= unix.S_IFSOCK
	default:
		return WrapError(op, name, errors.ErrUnsupported)
	}
	return d.withFD(op, name, func(fd int) error { return unix.Mknodat(fd, name, bits, 0) })
}

// WriteAt refuses a file opened for appending: Linux would ignore the offset and append.
func (f *osFile) WriteAt(p []byte, off int64) (done int, err error) {
	const op = "write file"
	if f.appendMode {
		return 0, WrapError(op, "", unix.EINVAL)
	}
	for done < len(p) {
		n := 0
		err := f.withFD(op, "", func(fd int) (err error) {
			n, err = unix.Pwrite(fd, p[done:], off+int64(done))
			return err
		})
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, WrapError(op, "", io.ErrShortWrite)
		}
		done += n
	}
	return done, nil
}

func (f *osFile) Truncate(size int64) error {
	return f.withFD("truncate file", "", func(fd int) error { return unix.Ftruncate(fd, size) })
}

// CloneFrom returns errors.ErrUnsupported for file systems without shared extents, and for
// files of two file systems.
func (f *osFile) CloneFrom(src File) error {
	const op = "clone file"
	from, ok := src.(*osFile)
	if !ok || from == f {
		return WrapError(op, "", errors.ErrUnsupported)
	}
	from.mu.RLock()
	defer from.mu.RUnlock()
	if from.fd < 0 {
		return WrapError(op, "", errClosed)
	}
	err := f.withFD(op, "", func(fd int) error { return unix.IoctlFileClone(fd, from.fd) })
	return asUnsupported(op, "", err, unix.EINVAL, unix.ENOTTY, unix.ENOSYS, unix.EOPNOTSUPP, unix.EXDEV)
}
