package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// supervisorRequest is everything that a supervisor is sent.
type supervisorRequest struct {
	Program helperRequest
	Nice    int
	Grace   time.Duration
}

// startReport is the first report of a supervisor: why nothing runs, or the process.
type startReport struct {
	Why string
	PID int
}

var errSupervisorDied = errors.New("its keeper ended before it")

// exitReport is the last report of a supervisor.
type exitReport struct {
	Exit, Signal int
	Cancelled    bool // it was asked to end before it ended by itself
}

// run runs the program under a supervisor if there is one, first with the mount and, if that
// is not possible, without.
func (a IsolatedCommand) run(ctx context.Context) (ExitStatus, error) {
	if !helperAvailable.Load() {
		return a.runInGroup(ctx)
	}
	if !a.asMounted().needsMount() {
		e, why, err := a.runSupervised(ctx, "")
		if why != nil {
			err = fmt.Errorf("run %s: %w", a.Args[0], why)
		}
		return e, err
	}
	e, why, err := a.runSupervised(ctx, a.MountPath)
	if why == nil || err != nil {
		return e, err
	}
	if err := ctx.Err(); err != nil {
		return ExitStatus{}, fmt.Errorf("run %s: %w", a.Args[0], err)
	}
	if e, why, err = a.runSupervised(ctx, ""); why != nil {
		err = fmt.Errorf("run %s: %w", a.Args[0], why)
	}
	e.NotMounted = true
	return e, err
}

// runSupervised starts a supervisor and waits for its last report. If why is not nil, nothing
// was run.
func (a IsolatedCommand) runSupervised(ctx context.Context, at string) (e ExitStatus, why, err error) {
	if err := markDescriptorsCloseOnExec(); err != nil {
		return ExitStatus{}, nil, fmt.Errorf("keep descriptors: %w", err)
	}
	s, err := a.openStreams()
	if err != nil {
		return ExitStatus{}, nil, err
	}
	k := supervisor{grace: a.Grace}
	why = k.start(s, a.newSupervisorRequest(at))
	s.closeChildEnds(why == nil)
	if why != nil {
		s.wait(0)
		return ExitStatus{}, why, nil
	}
	defer k.close()
	stop := context.AfterFunc(ctx, func() { _ = k.requestPipe.Close() }) // the supervisor sees the end of its input
	defer stop()
	o, why, err := k.awaitReports(ctx)
	s.wait(exitLag)
	switch {
	case why != nil:
		return ExitStatus{}, why, nil
	case err != nil:
		return ExitStatus{}, nil, fmt.Errorf("run %s: %w", a.Args[0], err)
	case o.Cancelled:
		return ExitStatus{}, nil, fmt.Errorf("run %s: %w", a.Args[0], ctx.Err())
	}
	return ExitStatus{Exit: o.Exit, Signal: o.Signal}, nil, nil
}

func (a IsolatedCommand) newSupervisorRequest(at string) supervisorRequest {
	cwd := a.Dir
	if at != "" {
		cwd = at
	}
	return supervisorRequest{
		Program: helperRequest{Args: a.Args, Env: a.asMounted().environAt(cwd), Dir: a.Dir, MountPath: at, Cwd: cwd, DropCapabilities: at != "" && os.Geteuid() != 0},
		Nice:    a.Nice, Grace: a.Grace,
	}
}

// supervisor is our side of the process that supervises a program.
type supervisor struct {
	grace                  time.Duration
	process                supervisorProcess
	requestPipe, replyPipe *os.File
}

// start starts the supervisor process and sends it the request.
func (k *supervisor) start(s *processStreams, c supervisorRequest) error {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	wordR, wordW, err := os.Pipe()
	if err != nil {
		_, _ = orderR.Close(), orderW.Close()
		return fmt.Errorf("make a pipe: %w", err)
	}
	k.requestPipe, k.replyPipe = orderW, wordR
	namespaces := c.Program.MountPath != ""
	if sp := spawner.Load(); sp != nil {
		k.process.ended, err = sp.start(s, orderR, wordW, namespaces, c.Program.DropCapabilities)
	} else {
		cmd := supervisorCommand(namespaces, c.Program.DropCapabilities)
		s.attachTo(cmd)
		cmd.ExtraFiles = []*os.File{orderR, wordW}
		k.process.cmd, err = cmd, cmd.Start()
	}
	_, _ = orderR.Close(), wordW.Close()
	if err != nil {
		_, _ = orderW.Close(), wordR.Close()
		return fmt.Errorf("start a keeper: %w", err)
	}
	_ = json.NewEncoder(orderW).Encode(c) // a supervisor that does not get it sends no report
	return nil
}

func (k *supervisor) close() { _, _ = k.requestPipe.Close(), k.replyPipe.Close() }

// awaitReports waits for both reports and for the end of the supervisor. A supervisor that is
// silent for too long after ctx ended is killed.
func (k *supervisor) awaitReports(ctx context.Context) (o exitReport, why, err error) {
	heard := make(chan struct{})
	defer close(heard)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(k.grace + exitLag):
			_ = k.replyPipe.SetReadDeadline(time.Unix(1, 0)) // wakes the read
		case <-heard:
		}
	})()
	words := json.NewDecoder(k.replyPipe)
	var b startReport
	err = words.Decode(&b)
	if err == nil && b.Why == "" {
		err = words.Decode(&o)
	}
	if err != nil {
		k.process.kill() // it may be running but hang
		if b.PID > 0 {
			_ = unix.Kill(-b.PID, unix.SIGKILL)
		}
	}
	k.process.wait()
	switch {
	case err != nil:
		return exitReport{}, nil, errors.Join(errSupervisorDied, ctx.Err())
	case b.Why != "":
		return exitReport{}, errors.New(b.Why), nil
	}
	return o, nil, nil
}
