package proc

import (
	"os"
	"syscall"
	"time"
)

// newSessionAttr needs nothing here.
func newSessionAttr() *syscall.SysProcAttr { return nil }

// lowerGroupPriority is not supported here.
func lowerGroupPriority(int, int) {}

// terminateGroup kills the first process: there is no SIGTERM here.
func terminateGroup(p *os.Process) error { return p.Kill() }

// stopGroup does nothing: other processes are not known here.
func stopGroup(int, time.Duration) {}

func terminatingSignal(*os.ProcessState) int { return 0 }
