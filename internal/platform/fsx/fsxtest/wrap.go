package fsxtest

import (
	"io/fs"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// opHook is called before every operation. If it returns an error, the operation is not done
// and fails with that error; after a *partialIOError half of a read or write is done first.
type opHook interface {
	beforeOp(op string) error
}

// partialIOError makes a read or write fail half way.
type partialIOError struct{ err error }

func (e *partialIOError) Error() string { return e.err.Error() }
func (e *partialIOError) Unwrap() error { return e.err }

// callWithHook runs call unless the hook refuses the operation.
func callWithHook[T any](g opHook, op string, call func() (T, error)) (T, error) {
	if err := g.beforeOp(op); err != nil {
		var none T
		return none, fsx.WrapError(op, "", err)
	}
	return call()
}

// callErrWithHook is callWithHook for calls that return only an error.
func callErrWithHook(g opHook, op string, call func() error) error {
	if err := g.beforeOp(op); err != nil {
		return fsx.WrapError(op, "", err)
	}
	return call()
}

// wrapFS passes every operation of a file system and of its handles through one hook.
type wrapFS struct {
	inner fsx.FS
	hook  opHook
}

func (w *wrapFS) OpenRoot(path string) (fsx.Dir, error) {
	return callWithHook(w.hook, "FS.OpenRoot", func() (fsx.Dir, error) {
		return dirWrapper(w.hook)(w.inner.OpenRoot(path))
	})
}

func (w *wrapFS) HasFineTimestamps(path string) bool { return w.inner.HasFineTimestamps(path) }

func (w *wrapFS) FreeSpace(path string) (free, total int64, err error) {
	err = callErrWithHook(w.hook, "FS.Free", func() (err error) {
		free, total, err = w.inner.FreeSpace(path)
		return err
	})
	return free, total, err
}

func dirWrapper(g opHook) func(fsx.Dir, error) (fsx.Dir, error) {
	return func(d fsx.Dir, err error) (fsx.Dir, error) {
		if err != nil {
			return nil, err
		}
		return &wrapDir{inner: d, hook: g}, nil
	}
}

func fileWrapper(g opHook) func(fsx.File, error) (fsx.File, error) {
	return func(f fsx.File, err error) (fsx.File, error) {
		if err != nil {
			return nil, err
		}
		return &wrapFile{inner: f, hook: g}, nil
	}
}

type wrapDir struct {
	inner fsx.Dir
	hook  opHook
}

func (d *wrapDir) Unwrap() fsx.Dir { return d.inner }

func (d *wrapDir) Stat() (fsx.Info, error) { return callWithHook(d.hook, "Dir.Stat", d.inner.Stat) }

func (d *wrapDir) Lstat(name string) (fsx.Info, error) {
	return callWithHook(d.hook, "Dir.Lstat", func() (fsx.Info, error) { return d.inner.Lstat(name) })
}

func (d *wrapDir) Names() ([]string, error) { return callWithHook(d.hook, "Dir.Names", d.inner.Names) }

func (d *wrapDir) OpenDir(name string) (fsx.Dir, error) {
	return callWithHook(d.hook, "Dir.OpenDir", func() (fsx.Dir, error) {
		return dirWrapper(d.hook)(d.inner.OpenDir(name))
	})
}

func (d *wrapDir) OpenFile(name string) (fsx.File, error) {
	return callWithHook(d.hook, "Dir.OpenFile", func() (fsx.File, error) {
		return fileWrapper(d.hook)(d.inner.OpenFile(name))
	})
}

func (d *wrapDir) Readlink(name string) (string, error) {
	return callWithHook(d.hook, "Dir.Readlink", func() (string, error) { return d.inner.Readlink(name) })
}

func (d *wrapDir) Create(name string, mode fs.FileMode) (fsx.File, error) {
	return callWithHook(d.hook, "Dir.Create", func() (fsx.File, error) {
		return fileWrapper(d.hook)(d.inner.Create(name, mode))
	})
}

func (d *wrapDir) Append(name string, mode fs.FileMode) (fsx.File, error) {
	return callWithHook(d.hook, "Dir.Append", func() (fsx.File, error) {
		return fileWrapper(d.hook)(d.inner.Append(name, mode))
	})
}

func (d *wrapDir) Mkdir(name string, mode fs.FileMode) error {
	return callErrWithHook(d.hook, "Dir.Mkdir", func() error { return d.inner.Mkdir(name, mode) })
}

func (d *wrapDir) Rename(name string, to fsx.Dir, newName string) error {
	return callErrWithHook(d.hook, "Dir.Rename", func() error { return d.inner.Rename(name, fsx.UnwrapDir(to), newName) })
}

func (d *wrapDir) Remove(name string) error {
	return callErrWithHook(d.hook, "Dir.Remove", func() error { return d.inner.Remove(name) })
}

func (d *wrapDir) Xattrs() (map[string][]byte, error) {
	return callWithHook(d.hook, "Dir.Xattrs", d.inner.Xattrs)
}

func (d *wrapDir) SetXattr(name string, value []byte) error {
	return callErrWithHook(d.hook, "Dir.SetXattr", func() error { return d.inner.SetXattr(name, value) })
}

func (d *wrapDir) RemoveXattr(name string) error {
	return callErrWithHook(d.hook, "Dir.RemoveXattr", func() error { return d.inner.RemoveXattr(name) })
}

func (d *wrapDir) SetMtime(ns int64) error {
	return callErrWithHook(d.hook, "Dir.SetMtime", func() error { return d.inner.SetMtime(ns) })
}

func (d *wrapDir) Sync() error { return callErrWithHook(d.hook, opDirSync, d.inner.Sync) }

func (d *wrapDir) SyncFS() error { return callErrWithHook(d.hook, opSyncFS, d.inner.SyncFS) }

// Close closes the inner directory even if it returns an error, so that no descriptor leaks.
func (d *wrapDir) Close() error { return closeWithHook(d.hook, "Dir.Close", d.inner.Close) }

func closeWithHook(g opHook, op string, call func() error) error {
	if err := g.beforeOp(op); err != nil {
		_ = call()
		return fsx.WrapError(op, "", err)
	}
	return call()
}
