package proc

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// IsolatedCommand is a program in its own session: without a terminal, with no input but what
// Feed writes. Everything that it starts ends with it.
type IsolatedCommand struct {
	Args      []string
	Dir       string    // the real directory, absolute
	MountPath string    // the absolute path where Dir appears; empty: its own path
	Env       []string  // the whole environment, except PWD
	Out       io.Writer // standard output, and standard error if Err is nil
	Err       io.Writer // standard error; nil: it goes to Out, in the order of writing
	Nice      int       // added to our own nice value
	// Feed writes the input and returns when nothing more can be written; then the input is
	// closed. RunIsolated returns after Feed. Nil: there is no input. It must not be combined
	// with MountPath: a command that has to be started a second time without the mount would
	// be fed twice.
	Feed func(io.Writer)
	// Grace is the time between SIGTERM and SIGKILL; 0 is two seconds.
	Grace time.Duration
}

// ExitStatus is how a program ended.
type ExitStatus struct {
	Exit       int  // as in shells: 128 plus the signal that ended it
	Signal     int  // that ended it; 0: none
	NotMounted bool // it ran in Dir itself and did not see it at MountPath
}

// defaultGrace is the time between SIGTERM and SIGKILL.
const defaultGrace = 2 * time.Second

// exitLag is how long a program may take to disappear after SIGKILL.
const exitLag = 5 * time.Second

// RunIsolated runs a program and waits until it, and everything that it started, has ended. If
// ctx ends before the program does, it is terminated, and the error is that of ctx. Any other
// error means that it did not run, or that its end is unknown.
//
// If our own program can act as the supervisor (on Linux, in a main program that calls
// RunHelper) no descendant escapes, not by a new session and not when we are killed. Otherwise
// descendants that leave the process group are not found, and MountPath is not supported.
func RunIsolated(ctx context.Context, a IsolatedCommand) (ExitStatus, error) {
	if a.Grace <= 0 {
		a.Grace = defaultGrace
	}
	p := a.asMounted()
	if _, err := p.relativeWorkDir(); err != nil {
		return ExitStatus{}, err
	}
	if a.Feed != nil && a.MountPath != "" {
		return ExitStatus{}, fmt.Errorf("run %s: what is fed runs at its own path", a.Args[0])
	}
	if err := ctx.Err(); err != nil {
		return ExitStatus{}, fmt.Errorf("run %s: %w", a.Args[0], err)
	}
	return a.run(ctx)
}

// asMounted returns the same command for the functions of MountedCommand.
func (a IsolatedCommand) asMounted() MountedCommand {
	p := MountedCommand{Args: a.Args, Dir: a.Dir, MountPath: a.MountPath, Env: a.Env, Out: a.Out, Err: a.Out}
	if a.Err != nil {
		p.Err = a.Err
	}
	return p
}

// helperAvailable means that the main program called RunHelper, so that a copy of it can be a
// supervisor.
var helperAvailable atomic.Bool
