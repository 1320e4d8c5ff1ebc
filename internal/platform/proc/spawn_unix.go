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

// Spawn starts a detached process and waits for the line it says first. A
// process that ends without a word is an error. When ctx ends it goes on alone.
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
	_ = w.Close() // theirs now
	if err != nil {
		return "", fmt.Errorf("start %s: %w", d.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // a starter that lives on leaves no zombie
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

// OpenStarterPipe gives the pipe behind fd; nil when it is not one.
func OpenStarterPipe(fd int) *StarterPipe {
	var st unix.Stat_t
	if fd < StarterFD || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil
	}
	unix.CloseOnExec(fd)
	return &StarterPipe{os.NewFile(uintptr(fd), "starter")}
}

// ResetUmask makes a new process independent of what its starter had set.
func ResetUmask() { syscall.Umask(0o022) }

// IsAlive reports whether there is such a process. One that ended and was not
// collected yet is not.
func IsAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	return !isZombie(pid)
}

// Terminate asks a process to end.
func Terminate(pid int) error {
	if pid <= 0 { // those are groups
		return fmt.Errorf("end process %d: %w", pid, unix.ESRCH)
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		return fmt.Errorf("end process %d: %w", pid, err)
	}
	return nil
}
