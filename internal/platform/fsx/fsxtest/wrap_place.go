package fsxtest

import (
	"io/fs"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func (d *wrapDir) RenameNoReplace(name string, to fsx.Dir, newName string) error {
	return callErrWithHook(d.hook, "Dir.Place", func() error { return d.inner.RenameNoReplace(name, fsx.UnwrapDir(to), newName) })
}

func (d *wrapDir) Exchange(name string, to fsx.Dir, newName string) error {
	return callErrWithHook(d.hook, "Dir.Exchange", func() error { return d.inner.Exchange(name, fsx.UnwrapDir(to), newName) })
}

func (d *wrapDir) Link(name string, to fsx.Dir, newName string) error {
	return callErrWithHook(d.hook, "Dir.Link", func() error { return d.inner.Link(name, fsx.UnwrapDir(to), newName) })
}

func (d *wrapDir) Symlink(text, name string) error {
	return callErrWithHook(d.hook, "Dir.Symlink", func() error { return d.inner.Symlink(text, name) })
}

func (d *wrapDir) Mknod(name string, typ fsx.Type, mode fs.FileMode) error {
	return callErrWithHook(d.hook, "Dir.Special", func() error { return d.inner.Mknod(name, typ, mode) })
}

func (d *wrapDir) RemoveDir(name string) error {
	return callErrWithHook(d.hook, "Dir.RemoveDir", func() error { return d.inner.RemoveDir(name) })
}

func (d *wrapDir) SetMetadata(name string, ino uint64, dr fsx.Metadata) error {
	return callErrWithHook(d.hook, "Dir.Dress", func() error { return d.inner.SetMetadata(name, ino, dr) })
}

func (d *wrapDir) SetOwnMetadata(dr fsx.Metadata) error {
	return callErrWithHook(d.hook, "Dir.DressSelf", func() error { return d.inner.SetOwnMetadata(dr) })
}

func (f *wrapFile) WriteAt(p []byte, off int64) (int, error) {
	return f.transferBytes("File.WriteAt", p, func(p []byte) (int, error) { return f.inner.WriteAt(p, off) })
}

func (f *wrapFile) Truncate(size int64) error {
	return callErrWithHook(f.hook, "File.Truncate", func() error { return f.inner.Truncate(size) })
}

func (f *wrapFile) CloneFrom(src fsx.File) error {
	return callErrWithHook(f.hook, "File.CloneFrom", func() error { return f.inner.CloneFrom(unwrapFile(src)) })
}

func (f *wrapFile) SetMetadata(dr fsx.Metadata) error {
	return callErrWithHook(f.hook, "File.Dress", func() error { return f.inner.SetMetadata(dr) })
}

// unwrapFile returns the file below all wrappers.
func unwrapFile(f fsx.File) fsx.File {
	for {
		w, ok := f.(*wrapFile)
		if !ok {
			return f
		}
		f = w.inner
	}
}
