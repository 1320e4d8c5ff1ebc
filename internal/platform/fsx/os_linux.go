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
	// resolveFlags restrict the kernel to one name on this mount. Bind mounts of the same
	// device are refused too, which a comparison of device numbers could not do.
	resolveFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS |
		unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS

	openDirFlags  = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	openReadFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	createFlags   = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	appendFlags   = unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_NOFOLLOW |
		unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
)

// OS returns the file system of the machine.
func OS() FS { return &osFS{} }

type osFS struct {
	probeOnce      sync.Once
	noOpenat2      atomic.Bool // openat2 is not available: use openat, then compare the mounts
	noatimeRefused atomic.Bool // O_NOATIME was refused once: do not try it for every file
}

func (s *osFS) OpenRoot(path string) (Dir, error) {
	if path == "" {
		return nil, WrapError("open root", path, ErrBadName)
	}
	// A trailing slash or dot makes the kernel follow a link in the last element.
	path = filepath.Clean(path)
	var fd int
	err := retryEINTR(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, wrapDirError("open root", path, err)
	}
	s.probeOnce.Do(func() { s.probeOpenat2(fd) })
	return &osDir{fdHandle: fdHandle{fd: fd}, fs: s}, nil
}

func (s *osFS) FreeSpace(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := retryEINTR(func() error { return unix.Statfs(path, &st) }); err != nil {
		return 0, 0, WrapError("stat file system", path, err)
	}
	size := int64(st.Frsize)
	if size == 0 {
		size = int64(st.Bsize)
	}
	return int64(st.Bavail) * size, int64(st.Blocks) * size, nil
}

// probeOpenat2 tests once whether openat2 works: an old kernel returns ENOSYS, some sandboxes
// EPERM.
func (s *osFS) probeOpenat2(dir int) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: resolveFlags}
	var fd int
	err := retryEINTR(func() (err error) {
		fd, err = unix.Openat2(dir, ".", &how)
		return err
	})
	switch {
	case err == nil:
		_ = unix.Close(fd)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		s.noOpenat2.Store(true)
	}
}

// openName opens one name below dir. Opening for reading preserves the access time if the
// kernel allows it.
func (s *osFS) openName(dir int, name string, flags int, mode fs.FileMode) (int, error) {
	quiet := flags&(unix.O_WRONLY|unix.O_CREAT) == 0 && !s.noatimeRefused.Load()
	if !quiet {
		return s.openBeneath(dir, name, flags, mode)
	}
	fd, err := s.openBeneath(dir, name, flags|unix.O_NOATIME, mode)
	if !errors.Is(err, unix.EPERM) {
		return fd, err
	}
	fd, err = s.openBeneath(dir, name, flags, mode)
	if err == nil {
		s.noatimeRefused.Store(true)
	}
	return fd, err
}

// openBeneath opens one name below dir by openat2, or without it on kernels that lack it.
func (s *osFS) openBeneath(dir int, name string, flags int, mode fs.FileMode) (fd int, err error) {
	if s.noOpenat2.Load() {
		return s.openWithoutOpenat2(dir, name, flags, mode)
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolveFlags}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(mode.Perm())
	}
	// The kernel may report EXDEV also for a name that is renamed away meanwhile.
	for range maxOpenTries {
		err = retryEINTR(func() (err error) {
			fd, err = unix.Openat2(dir, name, &how)
			return err
		})
		if !errors.Is(err, unix.EXDEV) {
			break
		}
	}
	if errors.Is(err, unix.ENOSYS) {
		s.noOpenat2.Store(true)
		return s.openWithoutOpenat2(dir, name, flags, mode)
	}
	return fd, err
}

// maxOpenTries is how often the kernel must report another mount before we believe it.
const maxOpenTries = 8

// openWithoutOpenat2 is for kernels without openat2. A single name and O_NOFOLLOW keep links
// out; the mount is compared after the open.
func (s *osFS) openWithoutOpenat2(dir int, name string, flags int, mode fs.FileMode) (fd int, err error) {
	err = retryEINTR(func() (err error) {
		fd, err = unix.Openat(dir, name, flags, uint32(mode.Perm()))
		return err
	})
	if err != nil {
		return -1, err
	}
	same, err := isSameMount(dir, fd)
	if err == nil && !same {
		err = unix.EXDEV
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// isSameMount compares mount ids if the kernel reports them, and device numbers otherwise.
func isSameMount(a, b int) (bool, error) {
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
	err := retryEINTR(func() error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st)
	})
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0
}

func fstat(fd int) (Info, error) {
	var st unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoFromStat(&st), nil
}

func infoFromStat(st *unix.Stat_t) Info {
	return Info{
		Type: typeFromStatMode(uint32(st.Mode)), Mode: uint32(st.Mode) & 0o7777,
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Nlink: uint64(st.Nlink),
		UID: st.Uid, GID: st.Gid, Size: st.Size, Blocks: int64(st.Blocks),
		Mtime: unixNanos(st.Mtim.Unix()), Ctime: unixNanos(st.Ctim.Unix()),
	}
}

func typeFromStatMode(mode uint32) Type {
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

// retryEINTR repeats a call that was interrupted by a signal.
func retryEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// wrapDirError wraps an error of opening a directory. A link and any other type is ErrNotDir.
func wrapDirError(op, name string, err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return wrapErrorAs(op, name, ErrNotDir, err)
	}
	return WrapError(op, name, err)
}

// wrapFileError wraps an error of opening a file. The errors for a link, a socket, a FIFO
// without a reader, a device without a driver and a directory become ErrNotRegular.
func wrapFileError(op, name string, err error) error {
	for _, errno := range []unix.Errno{unix.ELOOP, unix.ENXIO, unix.ENODEV, unix.EISDIR} {
		if errors.Is(err, errno) {
			return wrapErrorAs(op, name, ErrNotRegular, err)
		}
	}
	return WrapError(op, name, err)
}
