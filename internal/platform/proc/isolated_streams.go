package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// processStreams are the pipes to an isolated program.
type processStreams struct {
	in, inputWriter *os.File // the child's end and ours; nil without input
	out, err        *os.File // the child's ends; the same file if Err is nil
	feed            func(io.Writer)
	inputDone       chan struct{}
	outputWaits     []func(time.Duration)
}

// openStreams creates the pipes and begins to copy the output. The caller must call
// closeChildEnds and then wait.
func (a IsolatedCommand) openStreams() (*processStreams, error) {
	s := &processStreams{feed: a.Feed, inputDone: make(chan struct{})}
	wait, out, err := startOutputPipe(a.Out)
	if err != nil {
		return nil, err
	}
	s.out, s.err, s.outputWaits = out, out, append(s.outputWaits, wait)
	if a.Err != nil {
		if wait, s.err, err = startOutputPipe(a.Err); err == nil {
			s.outputWaits = append(s.outputWaits, wait)
		}
	}
	if err == nil && a.Feed != nil {
		s.in, s.inputWriter, err = os.Pipe()
	}
	if err != nil {
		s.closeChildEnds(false)
		s.wait(0)
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return s, nil
}

// attachTo gives a command that is not started yet its ends.
func (s *processStreams) attachTo(cmd *exec.Cmd) {
	if s.in != nil {
		cmd.Stdin = s.in
	}
	cmd.Stdout, cmd.Stderr = s.out, s.err
}

// closeChildEnds closes our copies of the child's ends, and begins to write the input if the
// program was started.
func (s *processStreams) closeChildEnds(started bool) {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			_ = f.Close() // out and err may be the same file
		}
	}
	if s.inputWriter == nil || !started {
		close(s.inputDone)
		return
	}
	go func() {
		defer close(s.inputDone)
		s.feed(s.inputWriter)
		_ = s.inputWriter.Close() // the program may have ended
	}()
}

// wait waits up to d for the end of each output, and for the input writer, which fails soon
// when nothing reads its pipe.
func (s *processStreams) wait(d time.Duration) {
	for _, wait := range s.outputWaits {
		wait(d)
	}
	<-s.inputDone
	if s.inputWriter != nil {
		_ = s.inputWriter.Close() // in case Feed was never called
	}
}

// startOutputPipe creates a pipe that is copied to w. The wait for its end is bounded, because
// a descendant may keep it open forever.
func startOutputPipe(w io.Writer) (wait func(time.Duration), in *os.File, err error) {
	if w == nil {
		w = io.Discard
	}
	r, in, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(w, r) // output that w refuses is lost; the exit status is not
		_ = r.Close()
	}()
	return func(d time.Duration) {
		select {
		case <-done:
		case <-time.After(d):
			_ = r.SetReadDeadline(time.Unix(1, 0)) // wakes the read
			<-done
		}
	}, in, nil
}
