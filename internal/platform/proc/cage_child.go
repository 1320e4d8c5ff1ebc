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

// Piped is a process of ours that sees nothing of ours but two pipes: no variable, and no
// stream of the terminal. It ends when it is closed, or by itself.
type Piped struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	last *lastWords
	once sync.Once
	end  error
}

// pipedDelay is how long what a process left behind may keep its streams open.
const pipedDelay = time.Second

// StartPiped starts the program at an absolute path. The context bounds the start alone.
func StartPiped(ctx context.Context, path string, args ...string) (*Piped, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	p := &Piped{cmd: exec.Command(path, args...), last: &lastWords{}}
	p.cmd.Env = []string{"GOTRACEBACK=none"}
	p.cmd.Dir = filepath.Dir(path)
	p.cmd.Stderr = p.last
	p.cmd.WaitDelay = pipedDelay
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
func (p *Piped) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write tells it something.
func (p *Piped) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends it at once, wakes who waits for it, and tells how it ended if it was not by
// us: ErrMemory when it had asked for too much. A second call answers the same.
func (p *Piped) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill() // it may be gone
		err := p.cmd.Wait()
		var exit *exec.ExitError
		switch {
		case p.last.tell("out of memory"), p.last.tell("cannot allocate memory"), p.last.tell("failed to allocate"): // as the runtime and its checkers say it
			p.end = ErrMemory
		case errors.As(err, &exit) && exit.ExitCode() < 0: // by a signal, as a rule ours
		case err != nil:
			p.end = fmt.Errorf("wait for %s: %w", p.cmd.Path, err)
		}
	})
	return p.end
}

// lastWords keeps the beginning of what a process complains of.
type lastWords struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

const maxWords = 4 << 10

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(b[:min(len(b), maxWords-l.b.Len())])
	return len(b), nil
}

func (l *lastWords) tell(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.b.Bytes(), []byte(text))
}
