package fsxtest

import (
	"errors"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Names of the operations that make something durable.
const (
	opDirSync  = "Dir.Sync"
	opFileSync = "File.Sync"
	opSyncFS   = "Dir.SyncFS"
)

type wrapFile struct {
	inner fsx.File
	hook  opHook
}

func (f *wrapFile) Read(p []byte) (int, error) {
	return f.transferBytes("File.Read", p, f.inner.Read)
}

func (f *wrapFile) ReadAt(p []byte, off int64) (int, error) {
	return f.transferBytes("File.ReadAt", p, func(p []byte) (int, error) { return f.inner.ReadAt(p, off) })
}

func (f *wrapFile) Write(p []byte) (int, error) {
	return f.transferBytes("File.Write", p, f.inner.Write)
}

// transferBytes transfers half of p if the hook returns a partialIOError.
func (f *wrapFile) transferBytes(op string, p []byte, call func([]byte) (int, error)) (int, error) {
	err := f.hook.beforeOp(op)
	if err == nil {
		return call(p)
	}
	n := 0
	var cut *partialIOError
	if errors.As(err, &cut) && len(p) > 1 {
		n, _ = call(p[:len(p)/2])
	}
	return n, fsx.WrapError(op, "", err)
}

func (f *wrapFile) Stat() (fsx.Info, error) { return callWithHook(f.hook, "File.Stat", f.inner.Stat) }

func (f *wrapFile) Xattrs() (map[string][]byte, error) {
	return callWithHook(f.hook, "File.Xattrs", f.inner.Xattrs)
}

func (f *wrapFile) Holes() ([]fsx.Hole, error) {
	return callWithHook(f.hook, "File.Holes", f.inner.Holes)
}

func (f *wrapFile) SetMtime(ns int64) error {
	return callErrWithHook(f.hook, "File.SetMtime", func() error { return f.inner.SetMtime(ns) })
}

func (f *wrapFile) Sync() error { return callErrWithHook(f.hook, opFileSync, f.inner.Sync) }

// Close closes the inner file even if it returns an error.
func (f *wrapFile) Close() error { return closeWithHook(f.hook, "File.Close", f.inner.Close) }
