package proc

import (
	"os"
	"syscall"
	"time"
)

// newSessionAttr has nothing to ask for.
func newSessionAttr() *syscall.SysProcAttr { return nil }

// lowerGroupPriority cannot.
func lowerGroupPriority(int, int) {}

// terminateGroup ends the first process: nobody can be asked here.
func terminateGroup(p *os.Process) error { return p.Kill() }

// stopGroup knows nobody else.
func stopGroup(int, time.Duration) {}

func terminatingSignal(*os.ProcessState) int { return 0 }
