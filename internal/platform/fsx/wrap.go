package fsx

import "io/fs"

// gate sees every operation before it is done. An error stands in for the
// operation; a *cutError lets half of a read or write happen first.
type gate interface {
	pass(op string) error
}

type cutError struct{ err error }

func (e *cutError) Error() string { return e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

func guard[T any](g gate, op string, call func() (T, error)) (T, error) {
	if err := g.pass(op); err != nil {
		var none T
		return none, fail(op, "", err)
	}
	return call()
}

func guardErr(g gate, op string, call func() error) error {
	if err := g.pass(op); err != nil {
		return fail(op, "", err)
	}
	return call()
}

// wrapFS sends every operation of a file system and of its handles through one gate.
type wrapFS struct {
	inner FS
	gate  gate
}

func (w *wrapFS) OpenRoot(path string) (Dir, error) {
	return guard(w.gate, "FS.OpenRoot", func() (Dir, error) {
		return wrapDirOf(w.gate)(w.inner.OpenRoot(path))
	})
}

func (w *wrapFS) Fine(path string) bool { return w.inner.Fine(path) }

func (w *wrapFS) Free(path string) (free, total int64, err error) {
	err = guardErr(w.gate, "FS.Free", func() (err error) {
		free, total, err = w.inner.Free(path)
		return err
	})
	return free, total, err
}

func wrapDirOf(g gate) func(Dir, error) (Dir, error) {
	return func(d Dir, err error) (Dir, error) {
		if err != nil {
			return nil, err
		}
		return &wrapDir{inner: d, gate: g}, nil
	}
}

func wrapFileOf(g gate) func(File, error) (File, error) {
	return func(f File, err error) (File, error) {
		if err != nil {
			return nil, err
		}
		return &wrapFile{inner: f, gate: g}, nil
	}
}

type wrapDir struct {
	inner Dir
	gate  gate
}

// bare answers the directory below all wrappers: only it knows its own kind.
func bare(d Dir) Dir {
	for {
		w, ok := d.(*wrapDir)
		if !ok {
			return d
		}
		d = w.inner
	}
}

func (d *wrapDir) Stat() (Info, error) { return guard(d.gate, "Dir.Stat", d.inner.Stat) }

func (d *wrapDir) Lstat(name string) (Info, error) {
	return guard(d.gate, "Dir.Lstat", func() (Info, error) { return d.inner.Lstat(name) })
}

func (d *wrapDir) Names() ([]string, error) { return guard(d.gate, "Dir.Names", d.inner.Names) }

func (d *wrapDir) OpenDir(name string) (Dir, error) {
	return guard(d.gate, "Dir.OpenDir", func() (Dir, error) {
		return wrapDirOf(d.gate)(d.inner.OpenDir(name))
	})
}

func (d *wrapDir) OpenFile(name string) (File, error) {
	return guard(d.gate, "Dir.OpenFile", func() (File, error) {
		return wrapFileOf(d.gate)(d.inner.OpenFile(name))
	})
}

func (d *wrapDir) Readlink(name string) (string, error) {
	return guard(d.gate, "Dir.Readlink", func() (string, error) { return d.inner.Readlink(name) })
}

func (d *wrapDir) Create(name string, mode fs.FileMode) (File, error) {
	return guard(d.gate, "Dir.Create", func() (File, error) {
		return wrapFileOf(d.gate)(d.inner.Create(name, mode))
	})
}

func (d *wrapDir) Append(name string, mode fs.FileMode) (File, error) {
	return guard(d.gate, "Dir.Append", func() (File, error) {
		return wrapFileOf(d.gate)(d.inner.Append(name, mode))
	})
}

func (d *wrapDir) Mkdir(name string, mode fs.FileMode) error {
	return guardErr(d.gate, "Dir.Mkdir", func() error { return d.inner.Mkdir(name, mode) })
}

func (d *wrapDir) Rename(name string, to Dir, newName string) error {
	return guardErr(d.gate, "Dir.Rename", func() error { return d.inner.Rename(name, bare(to), newName) })
}

func (d *wrapDir) Remove(name string) error {
	return guardErr(d.gate, "Dir.Remove", func() error { return d.inner.Remove(name) })
}

func (d *wrapDir) Xattrs() (map[string][]byte, error) {
	return guard(d.gate, "Dir.Xattrs", d.inner.Xattrs)
}

func (d *wrapDir) SetXattr(name string, value []byte) error {
	return guardErr(d.gate, "Dir.SetXattr", func() error { return d.inner.SetXattr(name, value) })
}

func (d *wrapDir) RemoveXattr(name string) error {
	return guardErr(d.gate, "Dir.RemoveXattr", func() error { return d.inner.RemoveXattr(name) })
}

func (d *wrapDir) SetMtime(ns int64) error {
	return guardErr(d.gate, "Dir.SetMtime", func() error { return d.inner.SetMtime(ns) })
}

func (d *wrapDir) Sync() error { return guardErr(d.gate, opDirSync, d.inner.Sync) }

func (d *wrapDir) SyncFS() error { return guardErr(d.gate, opSyncFS, d.inner.SyncFS) }

// Close closes what is below even when it answers an error: a descriptor would
// be lost otherwise.
func (d *wrapDir) Close() error { return guardClose(d.gate, "Dir.Close", d.inner.Close) }

func guardClose(g gate, op string, call func() error) error {
	if err := g.pass(op); err != nil {
		_ = call()
		return fail(op, "", err)
	}
	return call()
}
