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

// PipedProcess is a process of ours that sees nothing of ours but two pipes: no variable, and no
// stream of the terminal. It ends when it is closed, or by itself.
type PipedProcess struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       io.ReadCloser
	stderr    *stderrHead
	closeOnce sync.Once
	exitErr   error
}

// pipedDelay is how long what a process left behind may keep its streams open.
const pipedWaitDelay = time.Second

// StartPiped starts the program at an absolute path. The context bounds the start alone.
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

// Read reads what it says.
func (p *PipedProcess) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write tells it something.
func (p *PipedProcess) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends it at once, wakes who waits for it, and tells how it ended if it was not by
// us: ErrMemory when it had asked for too much. A second call answers the same.
func (p *PipedProcess) Close() error {
	p.closeOnce.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill() // it may be gone
		err := p.cmd.Wait()
		var exit *exec.ExitError
		switch {
		case p.stderr.contains("out of memory"), p.stderr.contains("cannot allocate memory"), p.stderr.contains("failed to allocate"): // as the runtime and its checkers say it
			p.exitErr = ErrOutOfMemory
		case errors.As(err, &exit) && exit.ExitCode() < 0: // by a signal, as a rule ours
		case err != nil:
			p.exitErr = fmt.Errorf("wait for %s: %w", p.cmd.Path, err)
		}
	})
	return p.exitErr
}

// stderrHead keeps the beginning of what a process complains of.
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
