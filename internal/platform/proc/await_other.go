//go:build !linux

package proc

import "context"

// WaitForExit waits until a process has ended, which need not be a child. An error means that
// it may still be running.
func WaitForExit(ctx context.Context, pid int) error { return pollForExit(ctx, pid) }
