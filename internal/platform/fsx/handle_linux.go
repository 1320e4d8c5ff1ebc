//go:build linux && !portable

package fsx

import (
	"sync"

	"golang.org/x/sys/unix"
)

// handle is an open descriptor. Calls hold it for reading and Close for
// writing, so that no call reaches a descriptor number that was closed and
// given to another file.
type handle struct {
	mu sync.RWMutex
	fd int // -1 once closed
}

// do runs one call on the descriptor.
func (h *handle) do(op, name string, call func(fd int) error) error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.fd < 0 {
		return fail(op, name, errClosed)
	}
	return fail(op, name, again(func() error { return call(h.fd) }))
}

func (h *handle) Stat() (info Info, err error) {
	err = h.do("stat handle", "", func(fd int) (err error) {
		info, err = fstat(fd)
		return err
	})
	return info, err
}

func (h *handle) Sync() error { return h.do("sync handle", "", unix.Fsync) }

func (h *handle) SetMtime(ns int64) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(ns)}
	return h.do("set time", "", func(fd int) error { return utimens(fd, &times) })
}

// Close may be called twice. It is not repeated after EINTR: the descriptor is
// gone by then.
func (h *handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fd < 0 {
		return nil
	}
	err := unix.Close(h.fd)
	h.fd = -1
	if err == unix.EINTR {
		return nil
	}
	return fail("close handle", "", err)
}
