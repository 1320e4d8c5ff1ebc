package fsx

import (
	"io/fs"
	"syscall"
)

// EmptyDir returns a directory without files, on no file system, that nothing can be written
// to. It takes the place of a directory that is gone, where one to compare with is needed.
func EmptyDir() Dir { return emptyDir{} }

type emptyDir struct{}

// notFound is the answer to a name.
func (emptyDir) notFound(op, name string) error {
	if err := CheckName(name); err != nil {
		return WrapError(op, name, err)
	}
	return WrapError(op, name, syscall.ENOENT)
}

// refuse is the answer to a change.
func (emptyDir) refuse(op, name string) error { return WrapError(op, name, syscall.EROFS) }

func (emptyDir) Stat() (Info, error) { return Info{Type: Directory, Mode: 0o555, Nlink: 2}, nil }

func (d emptyDir) Lstat(name string) (Info, error) { return Info{}, d.notFound("stat", name) }

func (emptyDir) Names() ([]string, error) { return nil, nil }

func (d emptyDir) OpenDir(name string) (Dir, error) { return nil, d.notFound("open directory", name) }

func (d emptyDir) OpenFile(name string) (File, error) { return nil, d.notFound("open file", name) }

func (d emptyDir) Readlink(name string) (string, error) { return "", d.notFound("read link", name) }

func (d emptyDir) Create(name string, _ fs.FileMode) (File, error) {
	return nil, d.refuse("create file", name)
}

func (d emptyDir) Append(name string, _ fs.FileMode) (File, error) {
	return nil, d.refuse("append to file", name)
}

func (d emptyDir) Mkdir(name string, _ fs.FileMode) error { return d.refuse("make directory", name) }

func (d emptyDir) Rename(name string, _ Dir, _ string) error { return d.notFound("rename", name) }

func (d emptyDir) RenameNoReplace(name string, _ Dir, _ string) error {
	return d.notFound("place", name)
}

func (d emptyDir) Exchange(name string, _ Dir, _ string) error { return d.notFound("exchange", name) }

func (d emptyDir) Link(name string, _ Dir, _ string) error { return d.notFound("link file", name) }

func (d emptyDir) Symlink(_, name string) error { return d.refuse("make link", name) }

func (d emptyDir) Mknod(name string, _ Type, _ fs.FileMode) error {
	return d.refuse("make special file", name)
}

func (d emptyDir) Remove(name string) error { return d.notFound("remove", name) }

func (d emptyDir) RemoveDir(name string) error { return d.notFound("remove directory", name) }

func (d emptyDir) SetMetadata(name string, _ uint64, _ Metadata) error {
	return d.notFound("dress", name)
}

func (d emptyDir) SetOwnMetadata(Metadata) error { return d.refuse("dress", "") }

func (emptyDir) Xattrs() (map[string][]byte, error) { return nil, nil }

func (d emptyDir) SetXattr(name string, _ []byte) error { return d.refuse("set attribute", name) }

func (d emptyDir) RemoveXattr(name string) error { return d.refuse("remove attribute", name) }

func (d emptyDir) SetMtime(int64) error { return d.refuse("set time", "") }

// Sync, SyncFS and Close have nothing to do.
func (emptyDir) Sync() error   { return nil }
func (emptyDir) SyncFS() error { return nil }
func (emptyDir) Close() error  { return nil }
