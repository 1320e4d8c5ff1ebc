//go:build unix

package fsx

import "syscall"

// nativeErrorKind has nothing to add: errorKind knows all errnos of this system.
func nativeErrorKind(syscall.Errno) error { return nil }
