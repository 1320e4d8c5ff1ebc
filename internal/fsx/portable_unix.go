//go:build darwin || (linux && portable)

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// neverWait keeps an open from waiting for the other end of a FIFO that took
// the place of a file.
const neverWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

func fillNative(info *Info, st fs.FileInfo) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info.Dev, info.Ino, info.Nlink = uint64(sys.Dev), sys.Ino, uint64(sys.Nlink)
	info.UID, info.GID, info.Blocks = sys.Uid, sys.Gid, sys.Blocks
	info.Ctime = changeTime(sys)
}

func freeBytes(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}

// renameBetween uses the descriptors: os.Root renames below one directory only,
// and refuses to replace an empty directory.
func renameBetween(from *portableDir, name string, to *portableDir, newName string) error {
	a, err := from.root.Open(".")
	if err != nil {
		return err
	}
	b, err := to.root.Open(".")
	if err != nil {
		return errors.Join(err, a.Close())
	}
	err = unix.Renameat(int(a.Fd()), name, int(b.Fd()), newName)
	return errors.Join(err, a.Close(), b.Close())
}

func syncNames(f *os.File) error { return f.Sync() }

// syncAll writes back every file system: there is no call for just one.
func syncAll() error {
	unix.Sync()
	return nil
}
