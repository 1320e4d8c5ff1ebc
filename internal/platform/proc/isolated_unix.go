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

// newSessionAttr: a new session is also a new group, with the number of its first process.
func newSessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// lowerGroupPriority makes a group less urgent, if it can.
func lowerGroupPriority(pid, nice int) {
	if nice > 0 {
		_ = unix.Setpriority(unix.PRIO_PGRP, pid, reducedPriority(nice)) // it only takes longer for others
	}
}

// reducedPriority is that much below our own urgency.
func reducedPriority(nice int) int {
	const lowest = 19
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		own = 0
	} else if runtime.GOOS == "linux" {
		own = 20 - own // the kernel answers no negative numbers
	}
	return min(lowest, own+nice)
}

// terminateGroup asks all of a group to end.
func terminateGroup(p *os.Process) error {
	err := unix.Kill(-p.Pid, unix.SIGTERM)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// stopGroup ends what is left of a group: it is asked, and after the grace ended.
func stopGroup(pid int, grace time.Duration) {
	if unix.Kill(-pid, unix.SIGTERM) != nil {
		return // nobody is left
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
