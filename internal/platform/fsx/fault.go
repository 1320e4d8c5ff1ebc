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

// Plan says which operations fail. They are numbered from 1 over all handles,
// in the order they are called. At 0 fails none.
type Plan struct {
	At   int64
	Kind FaultKind
	Then int64 // so many after At fail as well; below 0 all of them
}

// FaultyFS is a file system that fails by plan.
type FaultyFS struct {
	wrapFS
	gate *faultGate
}

// Faulty answers inner with the faults of plan.
func Faulty(inner FS, plan Plan) *FaultyFS {
	g := &faultGate{plan: plan}
	return &FaultyFS{wrapFS: wrapFS{inner: inner, gate: g}, gate: g}
}

// Seen answers how many operations there were.
func (f *FaultyFS) Seen() int64 { return f.gate.seen.Load() }

// Failed answers how many of them were made to fail.
func (f *FaultyFS) Failed() int64 { return f.gate.failed.Load() }

// RefuseNext makes the next operation of that name, such as "File.Sync", fail for want
// of space, once.
func (f *FaultyFS) RefuseNext(op string) { f.gate.next.Store(&op) }

type faultGate struct {
	plan   Plan
	next   atomic.Pointer[string]
	seen   atomic.Int64
	failed atomic.Int64
}

func (g *faultGate) pass(op string) error {
	n := g.seen.Add(1)
	if next := g.next.Load(); next != nil && *next == op && g.next.CompareAndSwap(next, nil) {
		g.failed.Add(1)
		return syscall.ENOSPC
	}
	p := g.plan
	if p.At <= 0 || n < p.At || p.Then >= 0 && n > p.At+p.Then {
		return nil
	}
	g.failed.Add(1)
	switch {
	case p.Kind == NoSpace:
		return syscall.ENOSPC
	case p.Kind == ShortWrite && strings.HasPrefix(op, "File.Write"):
		return &cutError{syscall.EIO}
	case p.Kind == ShortRead && strings.HasPrefix(op, "File.Read"):
		return &cutError{io.ErrUnexpectedEOF}
	}
	return syscall.EIO
}
