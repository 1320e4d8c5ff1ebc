package fsx

import (
	"io"
	"strings"
	"sync/atomic"
	"syscall"
)

// FaultKind is how an operation fails.
type FaultKind uint8

// The kinds. A short write or read that meets another operation is an IOError.
const (
	IOError    FaultKind = iota + 1 // EIO, and nothing is done
	NoSpace                         // ErrNoSpace, and nothing is done
	ShortWrite                      // half of the bytes are written, then EIO
	ShortRead                       // half of the bytes are read, then io.ErrUnexpectedEOF
)

// FaultPlan says which operations fail. They are numbered from 1 over all handles,
// in the order they are called. At 0 fails none.
type FaultPlan struct {
	At     int64
	Kind   FaultKind
	Repeat int64 // so many after At fail as well; below 0 all of them
}

// FaultyFS is a file system that fails by plan.
type FaultyFS struct {
	wrapFS
	hook *faultHook
}

// NewFaultyFS answers inner with the faults of plan.
func NewFaultyFS(inner FS, plan FaultPlan) *FaultyFS {
	g := &faultHook{plan: plan}
	return &FaultyFS{wrapFS: wrapFS{inner: inner, hook: g}, hook: g}
}

// OpCount answers how many operations there were.
func (f *FaultyFS) OpCount() int64 { return f.hook.opCount.Load() }

// FailedCount answers how many of them were made to fail.
func (f *FaultyFS) FailedCount() int64 { return f.hook.failedCount.Load() }

// FailNext makes the next operation of that name, such as "File.Sync", fail for want
// of space, once.
func (f *FaultyFS) FailNext(op string) { f.hook.failNext.Store(&op) }

type faultHook struct {
	plan        FaultPlan
	failNext    atomic.Pointer[string]
	opCount     atomic.Int64
	failedCount atomic.Int64
}

func (g *faultHook) beforeOp(op string) error {
	n := g.opCount.Add(1)
	if next := g.failNext.Load(); next != nil && *next == op && g.failNext.CompareAndSwap(next, nil) {
		g.failedCount.Add(1)
		return syscall.ENOSPC
	}
	p := g.plan
	if p.At <= 0 || n < p.At || p.Repeat >= 0 && n > p.At+p.Repeat {
		return nil
	}
	g.failedCount.Add(1)
	switch {
	case p.Kind == NoSpace:
		return syscall.ENOSPC
	case p.Kind == ShortWrite && strings.HasPrefix(op, "File.Write"):
		return &partialIOError{syscall.EIO}
	case p.Kind == ShortRead && strings.HasPrefix(op, "File.Read"):
		return &partialIOError{io.ErrUnexpectedEOF}
	}
	return syscall.EIO
}
