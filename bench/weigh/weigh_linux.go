package main

import "syscall"

// bound lets the program end with us: nobody writes where the benchmark cleans up.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// peak is the most memory that a process had, in bytes; 0 when nobody can tell.
func peak(usage any) int64 {
	u, ok := usage.(*syscall.Rusage)
	if !ok {
		return 0
	}
	return u.Maxrss * 1024
}
