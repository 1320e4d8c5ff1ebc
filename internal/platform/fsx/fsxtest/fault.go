package fsxtest

import (
	"io"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/fsx"
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

// FaultPlan says which operations fail. Operations are counted from 1 over all handles, in the
// order of their calls. If At is 0, none fails.
type FaultPlan struct {
	At     int64
	Kind   FaultKind
	Repeat int64 // number of operations after At that fail as well; negative: all of them
}

// FaultyFS is a file system whose operations fail according to a plan.
type FaultyFS struct {
	wrapFS
	hook *faultHook
}

// NewFaultyFS returns inner with the faults of plan.
func NewFaultyFS(inner fsx.FS, plan FaultPlan) *FaultyFS {
	g := &faultHook{plan: plan}
	return &FaultyFS{wrapFS: wrapFS{inner: inner, hook: g}, hook: g}
}

// OpCount returns the number of operations so far.
func (f *FaultyFS) OpCount() int64 { return f.hook.opCount.Load() }

// FailedCount returns the number of operations that were made to fail.
func (f *FaultyFS) FailedCount() int64 { return f.hook.failedCount.Load() }

// FailNext makes the next operation of that name, such as "File.Sync", fail once with ENOSPC.
func (f *FaultyFS) FailNext(op string) { f.hook.failNext.Store(&op) }

// faultHook injects the faults of a plan.
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
