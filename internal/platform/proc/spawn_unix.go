//go:build unix

package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanDetach reports whether Spawn works here.
const CanDetach = true

// Spawn starts a detached process and returns the first line that it sends. A process that
// ends without one is an error. If ctx ends, the process goes on.
func Spawn(ctx context.Context, d Detached) (string, error) {
	if err := markDescriptorsCloseOnExec(); err != nil {
		return "", fmt.Errorf("keep descriptors: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close() //nolint:errcheck // only read
	cmd := exec.Command(d.Path, d.Args...)
	cmd.Dir = "/"
	cmd.Env = append([]string{}, d.Env...) // nil would mean ours
	cmd.ExtraFiles = []*os.File{w}         // StarterFD; the other three are the null device
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close() // the child has it
	if err != nil {
		return "", fmt.Errorf("start %s: %w", d.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // so that a starter that lives on leaves no zombie
	word, err := readFirstLine(ctx, r)
	if errors.Is(err, io.EOF) {
		return "", fmt.Errorf("start %s: it ended without a word: %w", d.Path, errOrEOF(<-ended))
	}
	return word, err
}

func errOrEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// OpenStarterPipe returns the pipe at fd, and nil if fd is not a pipe.
func OpenStarterPipe(fd int) *StarterPipe {
	var st unix.Stat_t
	if fd < StarterFD || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil
	}
	unix.CloseOnExec(fd)
	return &StarterPipe{os.NewFile(uintptr(fd), "starter")}
}

// ResetUmask makes a new process independent of the umask of its starter.
func ResetUmask() { syscall.Umask(0o022) }

// IsAlive reports whether there is such a process. A zombie is not alive.
func IsAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	return !isZombie(pid)
}

// Terminate sends SIGTERM to a process.
func Terminate(pid int) error {
	if pid <= 0 { // these would be process groups
		return fmt.Errorf("end process %d: %w", pid, unix.ESRCH)
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		return fmt.Errorf("end process %d: %w", pid, err)
	}
	return nil
}
