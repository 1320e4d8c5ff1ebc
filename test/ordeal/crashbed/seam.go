package crashbed

import (
	"io/fs"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// LyingFS takes a protection away, for controls: syncs that do nothing, or writes
// that answer success and keep less. Without a lie it only watches.
type LyingFS struct {
	fsx.FS
	noSync bool
	Write  func(f fsx.File, p []byte) (int, error) // nil: honest
	change func()                                  // called before whatever changes or syncs something
}

func (l *LyingFS) changes() {
	if l.change != nil {
		l.change()
	}
}

type lyingDir struct {
	fsx.Dir
	l *LyingFS
}

type lyingFile struct {
	fsx.File
	l *LyingFS
}

func (l *LyingFS) dir(d fsx.Dir, err error) (fsx.Dir, error) {
	if err != nil {
		return nil, err
	}
	return &lyingDir{d, l}, nil
}

func (l *LyingFS) file(f fsx.File, err error) (fsx.File, error) {
	if err != nil {
		return nil, err
	}
	return &lyingFile{f, l}, nil
}

func (l *LyingFS) OpenRoot(path string) (fsx.Dir, error) { return l.dir(l.FS.OpenRoot(path)) }

func (d *lyingDir) OpenDir(name string) (fsx.Dir, error) { return d.l.dir(d.Dir.OpenDir(name)) }

func (d *lyingDir) Create(name string, mode fs.FileMode) (fsx.File, error) {
	d.l.changes()
	return d.l.file(d.Dir.Create(name, mode))
}

func (d *lyingDir) Append(name string, mode fs.FileMode) (fsx.File, error) {
	d.l.changes()
	return d.l.file(d.Dir.Append(name, mode))
}

func (d *lyingDir) Rename(name string, to fsx.Dir, newName string) error {
	d.l.changes()
	if t, ok := to.(*lyingDir); ok {
		to = t.Dir
	}
	return d.Dir.Rename(name, to, newName)
}

func (d *lyingDir) Mkdir(name string, mode fs.FileMode) error {
	d.l.changes()
	return d.Dir.Mkdir(name, mode)
}

func (d *lyingDir) Remove(name string) error {
	d.l.changes()
	return d.Dir.Remove(name)
}

func (d *lyingDir) Sync() error {
	d.l.changes()
	if d.l.noSync {
		return nil
	}
	return d.Dir.Sync()
}

func (d *lyingDir) SyncFS() error {
	if d.l.noSync {
		return nil
	}
	return d.Dir.SyncFS()
}

func (f *lyingFile) SetMtime(ns int64) error {
	f.l.changes()
	return f.File.SetMtime(ns)
}

func (f *lyingFile) Sync() error {
	f.l.changes()
	if f.l.noSync {
		return nil
	}
	return f.File.Sync()
}

func (f *lyingFile) Write(p []byte) (int, error) {
	f.l.changes()
	if f.l.Write == nil {
		return f.File.Write(p)
	}
	return f.l.Write(f.File, p)
}
