//go:build unix

package fsx_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func osTestFS(t *testing.T, fs fsx.FS, native bool) testFS {
	t.Helper()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	p := testFS{
		fs: fs, root: root, holes: native,
		symlink: func(target, name string) error { return os.Symlink(target, at(name)) },
		mkfifo:  func(name string) error { return syscall.Mkfifo(at(name), 0o600) },
		mksock:  func(name string) error { return syscall.Mknod(at(name), syscall.S_IFSOCK|0o600, 0) },
		link:    func(name, newName string) error { return os.Link(at(name), at(newName)) },
		sparse: func(name string, data []byte, holes []fsx.Hole) error {
			return writeSparse(at(name), data, holes)
		},
	}
	if native && unix.Setxattr(root, "user.probe", []byte("1"), 0) == nil {
		must(t, unix.Removexattr(root, "user.probe"))
		p.xattr = func(name, attr string, value []byte) error {
			return unix.Setxattr(at(name), attr, value, 0)
		}
	}
	return p
}

func writeSparse(path string, data []byte, holes []fsx.Hole) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	from := int64(0)
	for _, h := range append(holes, fsx.Hole{Offset: int64(len(data))}) {
		if _, err := f.WriteAt(data[from:h.Offset], from); err != nil {
			return err
		}
		from = h.Offset + h.Length
	}
	return f.Sync()
}
