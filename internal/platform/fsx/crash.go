package fsx

import (
	"sync"
	"sync/atomic"
)

// CrashAt calls crash before operation k, numbered from 1 over all handles, is
// done. If crash comes back, that operation and every later one is ErrCrashed:
// nothing more reaches inner but the closing of handles.
func CrashAt(inner FS, k int64, crash func()) FS {
	return &wrapFS{inner: inner, gate: &crashGate{at: k, crash: crash}}
}

type crashGate struct {
	at    int64
	crash func()
	seen  atomic.Int64
	once  sync.Once
}

// pass holds those that come after k until crash is over.
func (g *crashGate) pass(string) error {
	if n := g.seen.Add(1); g.at <= 0 || n < g.at {
		return nil
	}
	g.once.Do(func() {
		if g.crash != nil {
			g.crash()
		}
	})
	return ErrCrashed
}
