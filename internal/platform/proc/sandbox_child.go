package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// PipedProcess is a child process that shares nothing with us but two pipes: no environment
// variable and no stream of the terminal. It ends when it is closed, or by itself.
type PipedProcess struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       io.ReadCloser
	stderr    *stderrHead
	closeOnce sync.Once
	exitErr   error
}

// pipedWaitDelay is how long descendants of an ended process may keep its streams open.
const pipedWaitDelay = time.Second

// StartPiped starts the program at an absolute path. The context applies only to the start.
func StartPiped(ctx context.Context, path string, args ...string) (*PipedProcess, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	p := &PipedProcess{cmd: exec.Command(path, args...), stderr: &stderrHead{}}
	p.cmd.Env = []string{"GOTRACEBACK=none"}
	p.cmd.Dir = filepath.Dir(path)
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = pipedWaitDelay
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// Read reads from its standard output.
func (p *PipedProcess) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to its standard input.
func (p *PipedProcess) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close kills the process, wakes its readers, and returns how it ended if that was not our
// doing: ErrOutOfMemory if it exceeded its memory limit. A second call returns the same.
func (p *PipedProcess) Close() error {
	p.closeOnce.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill() // it may have ended already
		err := p.cmd.Wait()
		var exit *exec.ExitError
		switch {
		case p.stderr.contains("out of memory"), p.stderr.contains("cannot allocate memory"), p.stderr.contains("failed to allocate"): // the texts of the runtime and of its sanitizers
			p.exitErr = ErrOutOfMemory
		case errors.As(err, &exit) && exit.ExitCode() < 0: // by a signal, normally ours
		case err != nil:
			p.exitErr = fmt.Errorf("wait for %s: %w", p.cmd.Path, err)
		}
	})
	return p.exitErr
}

// stderrHead keeps the beginning of the standard error of a process.
type stderrHead struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

const maxStderrHead = 4 << 10

func (l *stderrHead) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(b[:min(len(b), maxStderrHead-l.buf.Len())])
	return len(b), nil
}

func (l *stderrHead) contains(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.buf.Bytes(), []byte(text))
}
