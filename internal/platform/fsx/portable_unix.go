//go:build darwin || (linux && portable)

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlockFlags keep an open from waiting for the other end of a FIFO that replaced a file.
const nonBlockFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

func fillNativeInfo(info *Info, st fs.FileInfo) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info.Dev, info.Ino, info.Nlink = uint64(sys.Dev), sys.Ino, uint64(sys.Nlink)
	info.UID, info.GID, info.Blocks = sys.Uid, sys.Gid, sys.Blocks
	info.Ctime = statChangeTime(sys)
}

func diskSpace(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}

// renameBetween uses descriptors: os.Root can rename below one directory only, and refuses to
// replace an empty directory.
func renameBetween(from *portableDir, name string, to *portableDir, newName string) error {
	return from.withFD(func(a int) error {
		return to.withFD(func(b int) error {
			err := unix.Renameat(a, name, b, newName)
			if errors.Is(err, unix.EEXIST) { // xfs returns it for a directory that is not empty
				return unix.ENOTEMPTY
			}
			return err
		})
	})
}

// linkBetween passes no flags, so that a symbolic link itself is linked and not its target.
func linkBetween(from *portableDir, name string, to *portableDir, newName string) error {
	return from.withFD(func(a int) error {
		return to.withFD(func(b int) error { return unix.Linkat(a, name, b, newName, 0) })
	})
}

func removeEmptyDir(d *portableDir, name string) error {
	return d.withFD(func(fd int) error { return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR) })
}

func setMtimeByName(d *portableDir, name string, ns int64) error {
	times := []unix.Timespec{{Nsec: utimeOmit}, unix.NsecToTimespec(ns)}
	return d.withFD(func(fd int) error {
		return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// withFD runs call with a descriptor of the directory.
func (d *portableDir) withFD(call func(fd int) error) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	err = call(int(f.Fd()))
	return errors.Join(err, f.Close())
}

func syncDirNames(f *os.File) error { return f.Sync() }

// syncAllFileSystems writes back every file system: there is no call for a single one.
func syncAllFileSystems() error {
	unix.Sync()
	return nil
}
