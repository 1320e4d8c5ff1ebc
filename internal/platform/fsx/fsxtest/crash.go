package fsxtest

import (
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// CrashAt returns inner with a crash at operation k, counted from 1 over all handles: crash is
// called before that operation. If crash returns, that operation and every later one fails
// with ErrCrashed, and nothing reaches inner any more except the closing of handles.
func CrashAt(inner fsx.FS, k int64, crash func()) fsx.FS {
	return &wrapFS{inner: inner, hook: &crashHook{crashAt: k, crash: crash}}
}

// BeforeEach returns inner with a call of look before each operation: a test sees every state that
// a crash could find.
func BeforeEach(inner fsx.FS, look func()) fsx.FS {
	return &wrapFS{inner: inner, hook: lookHook(look)}
}

type lookHook func()

func (g lookHook) beforeOp(string) error {
	g()
	return nil
}

type crashHook struct {
	crashAt int64
	crash   func()
	opCount atomic.Int64
	once    sync.Once
}

// beforeOp blocks operations after the crash point until crash has returned.
func (g *crashHook) beforeOp(string) error {
	if n := g.opCount.Add(1); g.crashAt <= 0 || n < g.crashAt {
		return nil
	}
	g.once.Do(func() {
		if g.crash != nil {
			g.crash()
		}
	})
	return fsx.ErrCrashed
}
