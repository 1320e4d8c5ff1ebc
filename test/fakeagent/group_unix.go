//go:build unix

package fakeagent

import (
	"os/exec"
	"syscall"
)

// inGroup makes a kill reach everything that a hook started.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
