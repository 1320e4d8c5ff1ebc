package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// processStreams are the ends of the pipes to a program that runs alone.
type processStreams struct {
	in, inputWriter *os.File // theirs, ours; nil without input
	out, err        *os.File // theirs; the same when errors go with the output
	feed            func(io.Writer)
	inputDone       chan struct{}
	outputWaits     []func(time.Duration)
}

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

// attachTo lets a program that is not started yet have its ends.
func (s *processStreams) attachTo(cmd *exec.Cmd) {
	if s.in != nil {
		cmd.Stdin = s.in
	}
	cmd.Stdout, cmd.Stderr = s.out, s.err
}

// closeChildEnds closes our copies of what is theirs now, and begins to feed what was started.
func (s *processStreams) closeChildEnds(started bool) {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			_ = f.Close() // or it was there twice
		}
	}
	if s.inputWriter == nil || !started {
		close(s.inputDone)
		return
	}
	go func() {
		defer close(s.inputDone)
		s.feed(s.inputWriter)
		_ = s.inputWriter.Close() // nobody may read it any more
	}()
}

// wait waits for what was said, and for who feeds: with nobody to read, that soon ends.
func (s *processStreams) wait(d time.Duration) {
	for _, wait := range s.outputWaits {
		wait(d)
	}
	<-s.inputDone
	if s.inputWriter != nil {
		_ = s.inputWriter.Close() // when it was never fed
	}
}

// startOutputPipe makes a pipe whose other end goes to w. The wait for its end is bounded:
// somebody may keep it open for ever.
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
		_, _ = io.Copy(w, r) // what cannot be passed on is lost; how it ended is not
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
