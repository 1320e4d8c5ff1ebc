//go:build !linux

package proc

import "context"

// WaitForExit waits until a process of anybody has ended. An error means that it may still
// be there.
func WaitForExit(ctx context.Context, pid int) error { return pollForExit(ctx, pid) }
