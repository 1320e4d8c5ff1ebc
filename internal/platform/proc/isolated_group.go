package proc

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
)

// group runs the program in a process group of its own, and ends the group with it.
func (a Isolated) group(ctx context.Context) (Ended, error) {
	p := a.inside()
	env := p.envAt(a.Dir)
	path, err := find(a.Args[0], a.Dir, env)
	if err != nil {
		return a.ended(p.refuse(err), 0), nil
	}
	if err := keepDescriptors(); err != nil {
		return Ended{}, fmt.Errorf("keep descriptors: %w", err)
	}
	s, err := a.streams()
	if err != nil {
		return Ended{}, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = a.Args, a.Dir, env
	s.give(cmd)
	cmd.SysProcAttr = ownSession()
	cmd.WaitDelay = a.Grace
	var ours atomic.Bool
	cmd.Cancel = func() error {
		ours.Store(true)
		return askGroup(cmd.Process)
	}
	err = cmd.Start()
	s.given(err == nil)
	if err != nil {
		s.end(0)
		if notRunnable(err) {
			return a.ended(p.refuse(&exec.Error{Name: a.Args[0], Err: errors.Unwrap(err)}), 0), nil
		}
		return Ended{}, fmt.Errorf("run %s: %w", a.Args[0], err)
	}
	slowGroup(cmd.Process.Pid, a.Nice)
	werr := cmd.Wait()
	endGroup(cmd.Process.Pid, a.Grace)
	s.end(lag)
	switch {
	case ours.Load():
		return Ended{}, fmt.Errorf("run %s: %w", a.Args[0], ctx.Err())
	case cmd.ProcessState == nil:
		return Ended{}, fmt.Errorf("wait for %s: %w", a.Args[0], werr)
	}
	return a.ended(exitOf(cmd.ProcessState), signalOf(cmd.ProcessState)), nil
}

func (a Isolated) ended(exit, sig int) Ended {
	return Ended{Exit: exit, Signal: sig, Elsewhere: a.inside().moves()}
}
