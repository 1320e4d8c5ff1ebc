package fsx

import "io/fs"

func (d *wrapDir) Place(name string, to Dir, newName string) error {
	return guardErr(d.gate, "Dir.Place", func() error { return d.inner.Place(name, bare(to), newName) })
}

func (d *wrapDir) Exchange(name string, to Dir, newName string) error {
	return guardErr(d.gate, "Dir.Exchange", func() error { return d.inner.Exchange(name, bare(to), newName) })
}

func (d *wrapDir) Link(name string, to Dir, newName string) error {
	return guardErr(d.gate, "Dir.Link", func() error { return d.inner.Link(name, bare(to), newName) })
}

func (d *wrapDir) Symlink(text, name string) error {
	return guardErr(d.gate, "Dir.Symlink", func() error { return d.inner.Symlink(text, name) })
}

func (d *wrapDir) Special(name string, typ Type, mode fs.FileMode) error {
	return guardErr(d.gate, "Dir.Special", func() error { return d.inner.Special(name, typ, mode) })
}

func (d *wrapDir) RemoveDir(name string) error {
	return guardErr(d.gate, "Dir.RemoveDir", func() error { return d.inner.RemoveDir(name) })
}

func (d *wrapDir) Dress(name string, ino uint64, dr Dressing) error {
	return guardErr(d.gate, "Dir.Dress", func() error { return d.inner.Dress(name, ino, dr) })
}

func (d *wrapDir) DressSelf(dr Dressing) error {
	return guardErr(d.gate, "Dir.DressSelf", func() error { return d.inner.DressSelf(dr) })
}

func (f *wrapFile) WriteAt(p []byte, off int64) (int, error) {
	return f.transfer("File.WriteAt", p, func(p []byte) (int, error) { return f.inner.WriteAt(p, off) })
}

func (f *wrapFile) Truncate(size int64) error {
	return guardErr(f.gate, "File.Truncate", func() error { return f.inner.Truncate(size) })
}

func (f *wrapFile) CloneFrom(src File) error {
	return guardErr(f.gate, "File.CloneFrom", func() error { return f.inner.CloneFrom(bareFile(src)) })
}

func (f *wrapFile) Dress(dr Dressing) error {
	return guardErr(f.gate, "File.Dress", func() error { return f.inner.Dress(dr) })
}

// bareFile answers the file below all wrappers.
func bareFile(f File) File {
	for {
		w, ok := f.(*wrapFile)
		if !ok {
			return f
		}
		f = w.inner
	}
}
