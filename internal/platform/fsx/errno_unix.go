//go:build unix

package fsx

import "syscall"

// nativeKind: the errno table of kindOf is complete here.
func nativeKind(syscall.Errno) error { return nil }
