//go:build unix

package proc

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// newSessionAttr starts a new session, which is also a new process group with the id of its
// first process.
func newSessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// lowerGroupPriority lowers the priority of a process group, if possible.
func lowerGroupPriority(pid, nice int) {
	if nice > 0 {
		_ = unix.Setpriority(unix.PRIO_PGRP, pid, reducedPriority(nice)) // best effort
	}
}

// reducedPriority returns our own nice value plus nice, at most the lowest priority.
func reducedPriority(nice int) int {
	const lowest = 19
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		own = 0
	} else if runtime.GOOS == "linux" {
		own = 20 - own // the raw system call returns 20-nice, to avoid negative numbers
	}
	return min(lowest, own+nice)
}

// terminateGroup sends SIGTERM to a process group.
func terminateGroup(p *os.Process) error {
	err := unix.Kill(-p.Pid, unix.SIGTERM)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// stopGroup ends what is left of a process group: SIGTERM, and SIGKILL after the grace period.
func stopGroup(pid int, grace time.Duration) {
	if unix.Kill(-pid, unix.SIGTERM) != nil {
		return // no process is left
	}
	t := time.NewTicker(fastPollInterval)
	defer t.Stop()
	over := time.After(grace)
	for unix.Kill(-pid, 0) == nil {
		select {
		case <-t.C:
		case <-over:
			_ = unix.Kill(-pid, unix.SIGKILL) // or they ended by themselves
			return
		}
	}
}

func terminatingSignal(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return int(ws.Signal())
	}
	return 0
}
