package fsx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/windows"
)

// NewLocks returns locks between processes, by LockFileEx on files in dir.
func NewLocks(dir string) Locks { return fileLocks{dir} }

type fileLocks struct{ dir string }

// IsReadOnly reports whether a path is on a read-only file system, which is not asked here.
func IsReadOnly(string) bool { return false }

func (l fileLocks) Lock(ctx context.Context, name string, exclusive bool) (func(), error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err = pollUntil(ctx, func() (bool, error) {
		err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{})
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
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
