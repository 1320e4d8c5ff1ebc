package fsx

import (
	"sync"
	"sync/atomic"
)

// CrashAt calls crash before operation k, numbered from 1 over all handles, is
// done. If crash comes back, that operation and every later one is ErrCrashed:
// nothing more reaches inner but the closing of handles.
func CrashAt(inner FS, k int64, crash func()) FS {
	return &wrapFS{inner: inner, hook: &crashHook{crashAt: k, crash: crash}}
}

type crashHook struct {
	crashAt int64
	crash   func()
	opCount atomic.Int64
	once    sync.Once
}

// beforeOp holds those that come after k until crash is over.
func (g *crashHook) beforeOp(string) error {
	if n := g.opCount.Add(1); g.crashAt <= 0 || n < g.crashAt {
		return nil
	}
	g.once.Do(func() {
		if g.crash != nil {
			g.crash()
		}
	})
	return ErrCrashed
}
