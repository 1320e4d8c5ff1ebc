//go:build !linux

package proc

// CallerPID cannot be told here.
func CallerPID() int { return 0 }

// Ancestors cannot be told here, but for the process itself.
func Ancestors(pid int) []int { return []int{pid} }
