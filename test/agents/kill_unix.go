//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// together puts a process and all that it starts into one group.
func together(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the whole group at once, as a crash of the machine would.
func kill(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
