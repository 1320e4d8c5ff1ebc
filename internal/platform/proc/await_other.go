//go:build !linux

package proc

import "context"

// AwaitEnd waits until a process of anybody has ended. An error means that it may still
// be there.
func AwaitEnd(ctx context.Context, pid int) error { return lookForEnd(ctx, pid) }
