package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// streams are the ends of the pipes to a program that runs alone.
type streams struct {
	in, feeder *os.File // theirs, ours; nil without input
	out, err   *os.File // theirs; the same when errors go with the output
	feed       func(io.Writer)
	fed        chan struct{}
	waits      []func(time.Duration)
}

func (a Isolated) streams() (*streams, error) {
	s := &streams{feed: a.Feed, fed: make(chan struct{})}
	wait, out, err := hearing(a.Out)
	if err != nil {
		return nil, err
	}
	s.out, s.err, s.waits = out, out, append(s.waits, wait)
	if a.Err != nil {
		if wait, s.err, err = hearing(a.Err); err == nil {
			s.waits = append(s.waits, wait)
		}
	}
	if err == nil && a.Feed != nil {
		s.in, s.feeder, err = os.Pipe()
	}
	if err != nil {
		s.given(false)
		s.end(0)
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return s, nil
}

// give lets a program that is not started yet have its ends.
func (s *streams) give(cmd *exec.Cmd) {
	if s.in != nil {
		cmd.Stdin = s.in
	}
	cmd.Stdout, cmd.Stderr = s.out, s.err
}

// given closes our copies of what is theirs now, and begins to feed what was started.
func (s *streams) given(started bool) {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			_ = f.Close() // or it was there twice
		}
	}
	if s.feeder == nil || !started {
		close(s.fed)
		return
	}
	go func() {
		defer close(s.fed)
		s.feed(s.feeder)
		_ = s.feeder.Close() // nobody may read it any more
	}()
}

// end waits for what was said, and for who feeds: with nobody to read, that soon ends.
func (s *streams) end(d time.Duration) {
	for _, wait := range s.waits {
		wait(d)
	}
	<-s.fed
	if s.feeder != nil {
		_ = s.feeder.Close() // when it was never fed
	}
}

// hearing makes a pipe whose other end goes to w. The wait for its end is bounded:
// somebody may keep it open for ever.
func hearing(w io.Writer) (wait func(time.Duration), in *os.File, err error) {
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
