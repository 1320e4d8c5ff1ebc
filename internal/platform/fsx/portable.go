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

// OS answers the file system of the machine, by what the Go library offers
// everywhere. os.Root keeps every name below its directory, but follows a link
// that stays inside; so each open is compared with what Lstat told.
func OS() FS { return portableFS{} }

type portableFS struct{}

func (portableFS) OpenRoot(path string) (Dir, error) {
	const op = "open root"
	if path == "" {
		return nil, fail(op, path, ErrBadName)
	}
	path = filepath.Clean(path)
	before, err := os.Lstat(path)
	if err != nil {
		return nil, fail(op, path, cause(err))
	}
	if !before.IsDir() {
		return nil, fail(op, path, ErrNotDir)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fail(op, path, cause(err))
	}
	return newPortableDir(op, path, path, root, before)
}

// Fine: nothing is known of the file system.
func (portableFS) Fine(string) bool { return false }

func (portableFS) Free(path string) (free, total int64, err error) {
	free, total, err = freeBytes(path)
	return free, total, fail("stat file system", path, cause(err))
}

// newPortableDir takes root over only when it is the directory seen before.
func newPortableDir(op, name, path string, root *os.Root, before fs.FileInfo) (Dir, error) {
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(before, now) {
		err = ErrNotDir
	}
	if err != nil {
		_ = root.Close()
		return nil, fail(op, name, cause(err))
	}
	return &portableDir{root: root, path: path}, nil
}

// checkLocal refuses more than CheckName where the system knows more than one
// separator or names with a meaning.
func checkLocal(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if strings.ContainsRune(name, filepath.Separator) || !filepath.IsLocal(name) {
		return ErrBadName
	}
	return nil
}

// cause drops the wrapping of package os: it would name things twice.
func cause(err error) error {
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

// failOpen is for a name that changed its type after the first look. os.Root
// has no errno for a link that leads out.
func failOpen(op, name string, kind, err error) error {
	err = cause(err)
	var errno syscall.Errno
	known := errors.As(err, &errno)
	switch {
	case !known && !errors.Is(err, errClosed):
		return failAs(op, name, kind, err)
	case errno == syscall.ELOOP || errno == syscall.ENXIO || errno == syscall.ENODEV || errno == syscall.ENOTDIR:
		return failAs(op, name, kind, err)
	}
	return fail(op, name, err)
}

func infoFrom(st fs.FileInfo) Info {
	info := Info{
		Type: typeFrom(st.Mode()), Mode: uint32(st.Mode().Perm()),
		Size: st.Size(), Mtime: nanos(st.ModTime().Unix(), int64(st.ModTime().Nanosecond())), Nlink: 1,
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
	fillNative(&info, st)
	return info
}

func typeFrom(mode fs.FileMode) Type {
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
