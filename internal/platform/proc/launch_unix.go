//go:build unix

package proc

import (
	"fmt"
	"os/exec"
	"syscall"
)

// SpawnNoWait starts a detached process without a starter pipe, and does not wait for it.
func SpawnNoWait(d Detached) error {
	if err := markDescriptorsCloseOnExec(); err != nil {
		return fmt.Errorf("keep descriptors: %w", err)
	}
	cmd := exec.Command(d.Path, d.Args...)
	cmd.Dir = "/"
	cmd.Env = append([]string{}, d.Env...) // nil would mean ours
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", d.Path, err)
	}
	go func() { _ = cmd.Wait() }() // so that a starter that lives on leaves no zombie
	return nil
}
