package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// neverWait is empty: a named pipe has no name in a directory here.
const neverWait = 0

// fillNative has nothing to add: change time and file number need a handle.
func fillNative(*Info, fs.FileInfo) {}

func freeBytes(path string) (free, total int64, err error) {
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

// renameBetween goes by path between two directories, as the Go library has no other way; both paths
// must still stand for the open directories.
func renameBetween(from *portableDir, name string, to *portableDir, newName string) error {
	if from == to {
		return from.root.Rename(name, newName)
	}
	for _, d := range []*portableDir{from, to} {
		open, err := d.root.Stat(".")
		if err != nil {
			return err
		}
		named, err := os.Lstat(d.path)
		if err != nil {
			return err
		}
		if !os.SameFile(open, named) {
			return fs.ErrNotExist
		}
	}
	return os.Rename(filepath.Join(from.path, name), filepath.Join(to.path, newName))
}

// syncNames has nothing to do: Windows gives no flush for a directory, and NTFS
// journals names itself.
func syncNames(*os.File) error { return nil }

// syncAll needs the rights of an administrator here.
func syncAll() error { return errors.ErrUnsupported }
