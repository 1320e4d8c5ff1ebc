package proc

import (
	"os"
	"syscall"
	"time"
)

// ownSession has nothing to ask for.
func ownSession() *syscall.SysProcAttr { return nil }

// slowGroup cannot.
func slowGroup(int, int) {}

// askGroup ends the first process: nobody can be asked here.
func askGroup(p *os.Process) error { return p.Kill() }

// endGroup knows nobody else.
func endGroup(int, time.Duration) {}

func signalOf(*os.ProcessState) int { return 0 }
