package proc

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
)

// runInGroup runs the program in its own process group, and ends the group with it.
func (a IsolatedCommand) runInGroup(ctx context.Context) (ExitStatus, error) {
	p := a.asMounted()
	env := p.environAt(a.Dir)
	path, err := findProgram(a.Args[0], a.Dir, env)
	if err != nil {
		return a.exitStatus(p.reportNotRunnable(err), 0), nil
	}
	if err := markDescriptorsCloseOnExec(); err != nil {
		return ExitStatus{}, fmt.Errorf("keep descriptors: %w", err)
	}
	s, err := a.openStreams()
	if err != nil {
		return ExitStatus{}, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = a.Args, a.Dir, env
	s.attachTo(cmd)
	cmd.SysProcAttr = newSessionAttr()
	cmd.WaitDelay = a.Grace
	var ours atomic.Bool
	cmd.Cancel = func() error {
		ours.Store(true)
		return terminateGroup(cmd.Process)
	}
	err = cmd.Start()
	s.closeChildEnds(err == nil)
	if err != nil {
		s.wait(0)
		if isNotRunnable(err) {
			return a.exitStatus(p.reportNotRunnable(&exec.Error{Name: a.Args[0], Err: errors.Unwrap(err)}), 0), nil
		}
		return ExitStatus{}, fmt.Errorf("run %s: %w", a.Args[0], err)
	}
	lowerGroupPriority(cmd.Process.Pid, a.Nice)
	werr := cmd.Wait()
	stopGroup(cmd.Process.Pid, a.Grace)
	s.wait(exitLag)
	switch {
	case ours.Load():
		return ExitStatus{}, fmt.Errorf("run %s: %w", a.Args[0], ctx.Err())
	case cmd.ProcessState == nil:
		return ExitStatus{}, fmt.Errorf("wait for %s: %w", a.Args[0], werr)
	}
	return a.exitStatus(exitCodeOf(cmd.ProcessState), terminatingSignal(cmd.ProcessState)), nil
}

func (a IsolatedCommand) exitStatus(exit, sig int) ExitStatus {
	return ExitStatus{Exit: exit, Signal: sig, NotMounted: a.asMounted().needsMount()}
}
