//go:build !linux

package proc

// CallerPID returns 0: it cannot be determined here.
func CallerPID() int { return 0 }

// Ancestors returns the process itself: its ancestors cannot be determined here.
func Ancestors(pid int) []int { return []int{pid} }
