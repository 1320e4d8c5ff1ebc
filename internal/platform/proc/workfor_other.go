//go:build !linux

package proc

import "fmt"

// WorkFor is only there on Linux.
func WorkFor(uid, _ int, _ []int, _, _ int) error {
	return fmt.Errorf("work for user %d: %w", uid, ErrUnsupported)
}
