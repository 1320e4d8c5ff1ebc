//go:build !linux || portable

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// OS returns the file system of the machine, using only what the Go library offers everywhere.
// os.Root keeps every name below its directory but follows links that stay inside, so each
// open is compared with an earlier Lstat.
func OS() FS { return portableFS{} }

type portableFS struct{}

func (portableFS) OpenRoot(path string) (Dir, error) {
	const op = "open root"
	if path == "" {
		return nil, WrapError(op, path, ErrBadName)
	}
	path = filepath.Clean(path)
	before, err := os.Lstat(path)
	if err != nil {
		return nil, WrapError(op, path, unwrapOSError(err))
	}
	if !before.IsDir() {
		return nil, WrapError(op, path, ErrNotDir)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, WrapError(op, path, unwrapOSError(err))
	}
	return newPortableDir(op, path, path, root, before)
}

// HasFineTimestamps returns false: nothing is known about the file system.
func (portableFS) HasFineTimestamps(string) bool { return false }

func (portableFS) FreeSpace(path string) (free, total int64, err error) {
	free, total, err = diskSpace(path)
	return free, total, WrapError("stat file system", path, unwrapOSError(err))
}

// newPortableDir takes ownership of root. It closes root and returns ErrNotDir unless it is
// the directory that was seen before.
func newPortableDir(op, name, path string, root *os.Root, before fs.FileInfo) (Dir, error) {
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(before, now) {
		err = ErrNotDir
	}
	if err != nil {
		_ = root.Close()
		return nil, WrapError(op, name, unwrapOSError(err))
	}
	return &portableDir{root: root, path: path}, nil
}

// checkLocalName refuses more than CheckName on systems with a second separator or with
// reserved names.
func checkLocalName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if strings.ContainsRune(name, filepath.Separator) || !filepath.IsLocal(name) {
		return ErrBadName
	}
	return nil
}

// unwrapOSError removes the wrapping of package os, which would repeat the operation and the
// name.
func unwrapOSError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &call):
		return call.Err
	}
	return err
}

// wrapOpenError wraps an error of opening a name that may have changed its type since the
// Lstat. os.Root returns no errno for a link that leads out of the directory.
func wrapOpenError(op, name string, kind, err error) error {
	err = unwrapOSError(err)
	var errno syscall.Errno
	known := errors.As(err, &errno)
	switch {
	case !known && !errors.Is(err, errClosed):
		return wrapErrorAs(op, name, kind, err)
	case errno == syscall.ELOOP || errno == syscall.ENXIO || errno == syscall.ENODEV || errno == syscall.ENOTDIR:
		return wrapErrorAs(op, name, kind, err)
	}
	return WrapError(op, name, err)
}

func infoFromFileInfo(st fs.FileInfo) Info {
	info := Info{
		Type: typeFromFileMode(st.Mode()), Mode: uint32(st.Mode().Perm()),
		Size: st.Size(), Mtime: unixNanos(st.ModTime().Unix(), int64(st.ModTime().Nanosecond())), Nlink: 1,
	}
	if st.Mode()&fs.ModeSetuid != 0 {
		info.Mode |= 0o4000
	}
	if st.Mode()&fs.ModeSetgid != 0 {
		info.Mode |= 0o2000
	}
	if st.Mode()&fs.ModeSticky != 0 {
		info.Mode |= 0o1000
	}
	fillNativeInfo(&info, st)
	return info
}

func typeFromFileMode(mode fs.FileMode) Type {
	switch mode.Type() {
	case 0:
		return Regular
	case fs.ModeDir:
		return Directory
	case fs.ModeSymlink:
		return Symlink
	case fs.ModeNamedPipe:
		return FIFO
	case fs.ModeSocket:
		return Socket
	}
	return Device
}
