//go:build unix

package fsx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// NewLocks returns locks between processes, by flock on files in dir. The files are never
// removed; a lock ends with the process that holds it.
func NewLocks(dir string) Locks { return fileLocks{dir} }

type fileLocks struct{ dir string }

func (l fileLocks) Lock(ctx context.Context, name string, exclusive bool) (func(), error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, name), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	how := syscall.LOCK_SH | syscall.LOCK_NB
	if exclusive {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	err = pollUntil(ctx, func() (bool, error) {
		err := syscall.Flock(int(f.Fd()), how)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		_ = f.Close() // the lock was never ours
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	return sync.OnceFunc(func() { _ = f.Close() }), nil // closing releases the lock
}
