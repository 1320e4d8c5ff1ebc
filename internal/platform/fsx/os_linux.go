//go:build linux && !portable

package fsx

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// resolve holds the kernel to one name on this mount: bind mounts of the
	// same device are refused too, which a device number cannot tell.
	resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS |
		unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS

	flagsDir    = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	flagsRead   = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	flagsCreate = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	flagsAppend = unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_NOFOLLOW |
		unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
)

// OS answers the file system of the machine.
func OS() FS { return &osFS{} }

type osFS struct {
	probe   sync.Once
	plain   atomic.Bool // openat2 is not to be had: openat and a look afterwards
	touches atomic.Bool // O_NOATIME was refused once: a second try per file costs
}

func (s *osFS) OpenRoot(path string) (Dir, error) {
	if path == "" {
		return nil, fail("open root", path, ErrBadName)
	}
	// A trailing slash or dot makes the kernel follow a link in the last element.
	path = filepath.Clean(path)
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, failDir("open root", path, err)
	}
	s.probe.Do(func() { s.probeOpenat2(fd) })
	return &osDir{handle: handle{fd: fd}, fs: s}, nil
}

func (s *osFS) Free(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Statfs(path, &st) }); err != nil {
		return 0, 0, fail("stat file system", path, err)
	}
	size := int64(st.Frsize)
	if size == 0 {
		size = int64(st.Bsize)
	}
	return int64(st.Bavail) * size, int64(st.Blocks) * size, nil
}

// probeOpenat2 asks once: an old kernel says ENOSYS, some sandboxes say EPERM.
func (s *osFS) probeOpenat2(dir int) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: resolve}
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Openat2(dir, ".", &how)
		return err
	})
	switch {
	case err == nil:
		_ = unix.Close(fd)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		s.plain.Store(true)
	}
}

// open opens one name below dir. Reading leaves the access time alone where
// the kernel lets us.
func (s *osFS) open(dir int, name string, flags int, mode fs.FileMode) (int, error) {
	quiet := flags&(unix.O_WRONLY|unix.O_CREAT) == 0 && !s.touches.Load()
	if !quiet {
		return s.openOnce(dir, name, flags, mode)
	}
	fd, err := s.openOnce(dir, name, flags|unix.O_NOATIME, mode)
	if !errors.Is(err, unix.EPERM) {
		return fd, err
	}
	fd, err = s.openOnce(dir, name, flags, mode)
	if err == nil {
		s.touches.Store(true)
	}
	return fd, err
}

func (s *osFS) openOnce(dir int, name string, flags int, mode fs.FileMode) (fd int, err error) {
	if s.plain.Load() {
		return s.openPlain(dir, name, flags, mode)
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolve}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(mode.Perm())
	}
	// A name that is renamed away meanwhile may be answered like one on another mount.
	for range openTries {
		err = again(func() (err error) {
			fd, err = unix.Openat2(dir, name, &how)
			return err
		})
		if !errors.Is(err, unix.EXDEV) {
			break
		}
	}
	if errors.Is(err, unix.ENOSYS) {
		s.plain.Store(true)
		return s.openPlain(dir, name, flags, mode)
	}
	return fd, err
}

// openTries is how often another mount must be answered to be believed.
const openTries = 8

// openPlain is for kernels without openat2: one name and O_NOFOLLOW keep links
// out, and the mount is compared after the open.
func (s *osFS) openPlain(dir int, name string, flags int, mode fs.FileMode) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Openat(dir, name, flags, uint32(mode.Perm()))
		return err
	})
	if err != nil {
		return -1, err
	}
	same, err := sameMount(dir, fd)
	if err == nil && !same {
		err = unix.EXDEV
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sameMount compares mount ids where the kernel tells them, else devices.
func sameMount(a, b int) (bool, error) {
	ida, oka := mountID(a)
	idb, okb := mountID(b)
	if oka && okb {
		return ida == idb, nil
	}
	sta, err := fstat(a)
	if err != nil {
		return false, err
	}
	stb, err := fstat(b)
	if err != nil {
		return false, err
	}
	return sta.Dev == stb.Dev, nil
}

func mountID(fd int) (id uint64, known bool) {
	var st unix.Statx_t
	err := again(func() error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st)
	})
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0
}

func fstat(fd int) (Info, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func infoOf(st *unix.Stat_t) Info {
	return Info{
		Type: typeOf(uint32(st.Mode)), Mode: uint32(st.Mode) & 0o7777,
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Nlink: uint64(st.Nlink),
		UID: st.Uid, GID: st.Gid, Size: st.Size, Blocks: int64(st.Blocks),
		Mtime: nanos(st.Mtim.Unix()), Ctime: nanos(st.Ctim.Unix()),
	}
}

func typeOf(mode uint32) Type {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return Symlink
	case unix.S_IFIFO:
		return FIFO
	case unix.S_IFSOCK:
		return Socket
	}
	return Device
}

// again repeats a call that a signal cut short.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func failDir(op, name string, err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return failAs(op, name, ErrNotDir, err)
	}
	return fail(op, name, err)
}

// failFile takes what the kernel answers for a link, a socket, a FIFO without
// a reader, a device without a driver or a directory as "not a regular file".
func failFile(op, name string, err error) error {
	for _, errno := range []unix.Errno{unix.ELOOP, unix.ENXIO, unix.ENODEV, unix.EISDIR} {
		if errors.Is(err, errno) {
			return failAs(op, name, ErrNotRegular, err)
		}
	}
	return fail(op, name, err)
}
