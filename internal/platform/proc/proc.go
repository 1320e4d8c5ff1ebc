// Package proc starts other processes and asks the kernel about them. It is the
// only package that runs a program.
//
// It may start processes, send signals, write to control groups, and mount where
// only its own child sees it. It reads no environment: the caller says what the
// new process may see. It opens no file that another process uses.
//
//	P1  A detached process shares nothing with its starter but one pipe: no
//	    session, terminal, working directory, variable or descriptor.
//	P2  That pipe carries one line, and closes with it.
//	P3  A program runs once: where it cannot run at another's path, nothing of it
//	    has run and none of its input is read before it is run at its own.
//	P4  When an isolated program ends, everything that it started ends too.
//	P5  A process that works for a user and keeps files from him starts nothing of his
//	    itself: what it starts has no right that he has not.
package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// ErrUnsupported means that this system does not support the operation.
var ErrUnsupported = errors.New("not supported on this system")

// Detached is a process that outlives its starter.
type Detached struct {
	Path string   // absolute
	Args []string // after the name
	Env  []string // the whole environment
}

// UnitPrefix begins the names of our units and control groups.
const UnitPrefix = "retake"

// StarterFD is the descriptor of the pipe from a detached process to its starter.
const StarterFD = 3

// maxReplyLength is far above the length of any real line.
const maxReplyLength = 64 << 10

// readFirstLine reads the first line that the new process sends.
func readFirstLine(ctx context.Context, r *os.File) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) }) // wakes the read
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(r, maxReplyLength)).ReadString('\n')
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("wait for its word: %w", ctx.Err())
	}
	if err != nil {
		return "", fmt.Errorf("wait for its word: %w", err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// StarterPipe is the pipe of a detached process to the process that started it.
type StarterPipe struct{ file *os.File }

// SendLine sends one line and closes the pipe. The starter may be gone already, which is an
// error.
func (s *StarterPipe) SendLine(line string) error {
	if s == nil || s.file == nil {
		return nil
	}
	_, err := s.file.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n")
	err = errors.Join(err, s.file.Close())
	s.file = nil
	if err != nil {
		return fmt.Errorf("tell the starter: %w", err)
	}
	return nil
}

// fastPollInterval is the time between two checks of a process that is expected to end soon.
const fastPollInterval = 5 * time.Millisecond

// WaitGone waits until there is no such process.
func WaitGone(ctx context.Context, pid int) error {
	t := time.NewTicker(fastPollInterval)
	defer t.Stop()
	for IsAlive(pid) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for process %d: %w", pid, ctx.Err())
		case <-t.C:
		}
	}
	return nil
}
