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

	"golang.org/x/sys/unix"
)

// NewLocks returns locks between processes, by flock on files in dir. The files are never
// removed; a lock ends with the process that holds it.
func NewLocks(dir string) Locks { return fileLocks{dir} }

type fileLocks struct{ dir string }

// IsReadOnly reports whether a path is on a read-only file system.
func IsReadOnly(path string) bool { return errors.Is(unix.Access(path, unix.W_OK), unix.EROFS) }

// errNoLockNeeded: the file does not exist on a read-only file system, so nobody else has it.
var errNoLockNeeded = errors.New("no lock is needed")

// openLock opens the file of a lock and creates it if it does not exist. On a read-only file system
// it opens what is there: the same files may be writable in another mount.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if !errors.Is(err, syscall.EROFS) {
		return f, err
	}
	f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoLockNeeded
	}
	return f, err
}

func (l fileLocks) Lock(ctx context.Context, name string, exclusive bool) (func(), error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	f, err := openLock(filepath.Join(l.dir, name))
	if errors.Is(err, errNoLockNeeded) {
		return func() {}, nil
	}
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
