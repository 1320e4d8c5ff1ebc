package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// nonBlockFlags is empty: named pipes are not in directories here.
const nonBlockFlags = 0

// fillNativeInfo adds nothing: change time and file number need a handle.
func fillNativeInfo(*Info, fs.FileInfo) {}

func diskSpace(path string) (free, total int64, err error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	var mine, all uint64
	if err := windows.GetDiskFreeSpaceEx(p, &mine, &all, nil); err != nil {
		return 0, 0, err
	}
	return int64(mine), int64(all), nil
}

// renameBetween goes by path between two directories because the Go library offers nothing
// else.
func renameBetween(from *portableDir, name string, to *portableDir, newName string) error {
	if from == to {
		return from.root.Rename(name, newName)
	}
	if err := errors.Join(from.checkPathUnchanged(), to.checkPathUnchanged()); err != nil {
		return err
	}
	return os.Rename(filepath.Join(from.path, name), filepath.Join(to.path, newName))
}

// linkBetween goes by path, as renameBetween does.
func linkBetween(from *portableDir, name string, to *portableDir, newName string) error {
	if from == to {
		return from.root.Link(name, newName)
	}
	if err := errors.Join(from.checkPathUnchanged(), to.checkPathUnchanged()); err != nil {
		return err
	}
	return os.Link(filepath.Join(from.path, name), filepath.Join(to.path, newName))
}

// removeEmptyDir relies on its caller, which saw a directory; the Go library has no call for
// directories only.
func removeEmptyDir(d *portableDir, name string) error { return d.root.Remove(name) }

// setMtimeByName refuses a link: the Go library would follow it.
func setMtimeByName(d *portableDir, name string, ns int64) error {
	st, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if st.Mode().Type() == fs.ModeSymlink {
		return errors.ErrUnsupported
	}
	return d.root.Chtimes(name, time.Time{}, time.Unix(0, ns))
}

// mknodAt always fails: there are no such files here.
func mknodAt(*portableDir, string, Type, uint32) error { return errors.ErrUnsupported }

// syncDirNames does nothing: Windows cannot flush a directory, and NTFS journals names itself.
func syncDirNames(*os.File) error { return nil }

// syncAllFileSystems always fails: it would need administrator rights here.
func syncAllFileSystems() error { return errors.ErrUnsupported }
