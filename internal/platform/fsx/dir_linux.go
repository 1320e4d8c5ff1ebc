//go:build linux && !portable

package fsx

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

type osDir struct {
	fdHandle
	fs     *osFS
	readMu sync.Mutex // guards the read offset of the descriptor
}

func (d *osDir) Lstat(name string) (info Info, err error) {
	if err := CheckName(name); err != nil {
		return Info{}, WrapError("stat", name, err)
	}
	err = d.withFD("stat", name, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		info = infoFromStat(&st)
		return nil
	})
	return info, err
}

const bufferSize = 64 << 10

var bufferPool = sync.Pool{New: func() any { return new([bufferSize]byte) }}

func (d *osDir) Names() ([]string, error) {
	d.readMu.Lock()
	defer d.readMu.Unlock()
	buf := bufferPool.Get().(*[bufferSize]byte)
	defer bufferPool.Put(buf)

	err := d.withFD("list directory", "", func(fd int) error {
		_, err := unix.Seek(fd, 0, unix.SEEK_SET)
		return err
	})
	var names []string
	for err == nil {
		n := 0
		err = d.withFD("list directory", "", func(fd int) (err error) {
			n, err = unix.Getdents(fd, buf[:])
			return err
		})
		if err == nil && n <= 0 {
			return names, nil
		}
		if err == nil {
			names = appendDirentNames(names, buf[:n])
		}
	}
	return nil, err
}

// appendDirentNames parses the output of getdents64. An inode number of 0 does not mean a
// deleted entry: some FUSE file systems use it.
func appendDirentNames(names []string, buf []byte) []string {
	const lengthAt, nameAt = 16, 19
	for len(buf) >= nameAt {
		length := int(binary.NativeEndian.Uint16(buf[lengthAt:]))
		if length < nameAt || length > len(buf) {
			break
		}
		name := buf[nameAt:length]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		if s := string(name); s != "." && s != ".." {
			names = append(names, s)
		}
		buf = buf[length:]
	}
	return names
}

func (d *osDir) OpenDir(name string) (Dir, error) {
	fd, err := d.openat("open directory", name, openDirFlags, 0)
	if err != nil {
		return nil, err
	}
	return &osDir{fdHandle: fdHandle{fd: fd}, fs: d.fs}, nil
}

func (d *osDir) OpenFile(name string) (File, error) {
	return d.openRegular("open file", name, openReadFlags, 0)
}

func (d *osDir) Create(name string, mode fs.FileMode) (File, error) {
	return d.openRegular("create file", name, createFlags, mode)
}

func (d *osDir) Append(name string, mode fs.FileMode) (File, error) {
	return d.openRegular("append to file", name, appendFlags, mode)
}

// openRegular opens a name and refuses what is not a regular file. The type is checked on the
// descriptor, so it cannot change in between.
func (d *osDir) openRegular(op, name string, flags int, mode fs.FileMode) (File, error) {
	fd, err := d.openat(op, name, flags, mode)
	if err != nil {
		return nil, err
	}
	info, err := fstat(fd)
	if err == nil && info.Type != Regular {
		err = ErrNotRegular
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, WrapError(op, name, err)
	}
	return &osFile{fdHandle: fdHandle{fd: fd}, appendMode: flags&unix.O_APPEND != 0}, nil
}

func (d *osDir) openat(op, name string, flags int, mode fs.FileMode) (int, error) {
	if err := CheckName(name); err != nil {
		return -1, WrapError(op, name, err)
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.fd < 0 {
		return -1, WrapError(op, name, errClosed)
	}
	fd, err := d.fs.openName(d.fd, name, flags, mode)
	switch {
	case err == nil:
		return fd, nil
	case flags&unix.O_DIRECTORY != 0:
		return -1, wrapDirError(op, name, err)
	}
	return -1, wrapFileError(op, name, err)
}

func (d *osDir) Readlink(name string) (target string, err error) {
	if err := CheckName(name); err != nil {
		return "", WrapError("read link", name, err)
	}
	err = d.withFD("read link", name, func(fd int) error {
		for size := 256; ; size *= 2 {
			buf := make([]byte, size)
			n, err := unix.Readlinkat(fd, name, buf)
			if err != nil {
				return err
			}
			if n < size { // a full buffer may be truncated
				target = string(buf[:n])
				return nil
			}
		}
	})
	return target, err
}

func (d *osDir) Mkdir(name string, mode fs.FileMode) error {
	if err := CheckName(name); err != nil {
		return WrapError("make directory", name, err)
	}
	return d.withFD("make directory", name, func(fd int) error {
		return unix.Mkdirat(fd, name, uint32(mode.Perm()))
	})
}

func (d *osDir) Rename(name string, to Dir, newName string) error {
	return d.withDirPair("rename", name, to, newName, func(from, to int) error {
		err := unix.Renameat(from, name, to, newName)
		if errors.Is(err, unix.EEXIST) { // xfs returns it for a directory that is not empty
			return unix.ENOTEMPTY
		}
		return err
	})
}

// withDirPair runs call with the descriptors of d and of directory to, which must be open
// during the call.
func (d *osDir) withDirPair(op, name string, to Dir, newName string, call func(from, to int) error) error {
	if err := errors.Join(CheckName(name), CheckName(newName)); err != nil {
		return WrapError(op, name, err)
	}
	other, ok := to.(*osDir)
	if !ok {
		return WrapError(op, name, unix.EXDEV)
	}
	if other == d { // taking the read lock twice can deadlock with Close
		return d.withFD(op, name, func(fd int) error { return call(fd, fd) })
	}
	other.mu.RLock()
	defer other.mu.RUnlock()
	if other.fd < 0 {
		return WrapError(op, name, errClosed)
	}
	return d.withFD(op, name, func(fd int) error { return call(fd, other.fd) })
}

func (d *osDir) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return WrapError("remove", name, err)
	}
	return d.withFD("remove", name, func(fd int) error {
		err := unix.Unlinkat(fd, name, 0)
		if errors.Is(err, unix.EISDIR) {
			return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
		}
		return err
	})
}

func (d *osDir) RemoveDir(name string) error {
	if err := CheckName(name); err != nil {
		return WrapError("remove directory", name, err)
	}
	return d.withFD("remove directory", name, func(fd int) error {
		return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
	})
}

func (d *osDir) SyncFS() error {
	return d.withFD("sync file system", "", func(fd int) error {
		var st unix.Statfs_t
		if err := unix.Fstatfs(fd, &st); err == nil && (st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC) {
			return ErrNoWriteback
		}
		return unix.Syncfs(fd)
	})
}
