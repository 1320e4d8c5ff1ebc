//go:build !linux

package main

import "syscall"

func bound() *syscall.SysProcAttr { return nil }

// peak is known on Linux only.
func peak(any) int64 { return 0 }
