package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// group runs the program in a process group of its own, and ends the group with it.
func (a Alone) group(ctx context.Context) (Ended, error) {
	p := a.inside()
	env := p.envAt(a.Dir)
	path, err := find(a.Args[0], a.Dir, env)
	if err != nil {
		return a.ended(p.refuse(err), 0), nil
	}
	if err := keepDescriptors(); err != nil {
		return Ended{}, fmt.Errorf("keep descriptors: %w", err)
	}
	hear, out, err := hearing(a.Out)
	if err != nil {
		return Ended{}, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = a.Args, a.Dir, env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = ownSession()
	cmd.WaitDelay = a.Grace
	var ours atomic.Bool
	cmd.Cancel = func() error {
		ours.Store(true)
		return askGroup(cmd.Process)
	}
	err = cmd.Start()
	_ = out.Close() // theirs now
	if err != nil {
		hear(0)
		if notRunnable(err) {
			return a.ended(p.refuse(&exec.Error{Name: a.Args[0], Err: errors.Unwrap(err)}), 0), nil
		}
		return Ended{}, fmt.Errorf("run %s: %w", a.Args[0], err)
	}
	slowGroup(cmd.Process.Pid, a.Nice)
	werr := cmd.Wait()
	endGroup(cmd.Process.Pid, a.Grace)
	hear(lag)
	switch {
	case ours.Load():
		return Ended{}, fmt.Errorf("run %s: %w", a.Args[0], ctx.Err())
	case cmd.ProcessState == nil:
		return Ended{}, fmt.Errorf("wait for %s: %w", a.Args[0], werr)
	}
	return a.ended(exitOf(cmd.ProcessState), signalOf(cmd.ProcessState)), nil
}

func (a Alone) ended(exit, sig int) Ended {
	return Ended{Exit: exit, Signal: sig, Elsewhere: a.inside().moves()}
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
