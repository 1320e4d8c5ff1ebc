//go:build linux && !portable

package fsx

import (
	"sync"

	"golang.org/x/sys/unix"
)

// fdHandle is an open descriptor. Calls hold the lock for reading and Close holds it for
// writing, so that no call uses a descriptor number that was closed and reused for another
// file.
type fdHandle struct {
	mu sync.RWMutex
	fd int // -1 once closed
}

// withFD runs call with the descriptor, and repeats it after EINTR.
func (h *fdHandle) withFD(op, name string, call func(fd int) error) error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.fd < 0 {
		return WrapError(op, name, errClosed)
	}
	return WrapError(op, name, retryEINTR(func() error { return call(h.fd) }))
}

func (h *fdHandle) Stat() (info Info, err error) {
	err = h.withFD("stat handle", "", func(fd int) (err error) {
		info, err = fstat(fd)
		return err
	})
	return info, err
}

func (h *fdHandle) Sync() error { return h.withFD("sync handle", "", unix.Fsync) }

func (h *fdHandle) SetMtime(ns int64) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(ns)}
	return h.withFD("set time", "", func(fd int) error { return futimens(fd, &times) })
}

// Close may be called twice. It is not repeated after EINTR: the descriptor is closed by then.
func (h *fdHandle) Close() error {
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
	return WrapError("close handle", "", err)
}
