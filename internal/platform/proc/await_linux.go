package proc

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// WaitForExit waits until a process has ended, which need not be a child. An error means that
// it may still be running. It uses a pidfd, and polls on kernels without.
func WaitForExit(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return pollForExit(ctx, pid) // ended already, or a kernel without pidfds
	}
	f := os.NewFile(uintptr(fd), "process")
	defer f.Close() //nolint:errcheck // it was only watched
	defer context.AfterFunc(ctx, func() { _ = f.Close() })()
	raw, err := f.SyscallConn()
	if err != nil {
		return pollForExit(ctx, pid)
	}
	ended := false
	err = raw.Read(func(fd uintptr) bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) //nolint:gosec // a descriptor is small
		ended = n > 0
		return ended
	})
	switch {
	case ended:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("wait for process %d: %w", pid, ctx.Err())
	case err != nil:
		return pollForExit(ctx, pid)
	}
	return nil
}
