package proc

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// IsolatedCommand is a program in a session of its own: no terminal, no input but what it is fed,
// and an end that all share that it started.
type IsolatedCommand struct {
	Args      []string
	Dir       string    // the real directory, absolute
	MountPath string    // the absolute path where it shall appear; empty: nowhere else
	Env       []string  // all that it sees, beside PWD
	Out       io.Writer // output, and errors in the order in which they are written
	Err       io.Writer // errors; nil: they go to Out
	Nice      int       // how much less urgent it is than we
	// Feed writes its input, and returns when that cannot be written any more; then the
	// input is over. RunIsolated returns after it. Nil: there is no input. Not with Over: who
	// is tried at two places would be fed twice.
	Feed func(io.Writer)
	// Grace is how long it has to end when it is asked to; 0 is two seconds.
	Grace time.Duration
}

// ExitStatus is how a program ended.
type ExitStatus struct {
	Exit       int  // as shells tell it: 128 and the signal that ended it
	Signal     int  // 0: it ended by itself
	NotMounted bool // it ran in Dir, and did not see it at Over
}

// leave is how long a program has to end when it is asked to.
const defaultGrace = 2 * time.Second

// lag is how long after its last grace a program may take to be gone.
const exitLag = 5 * time.Second

// RunIsolated runs a program and waits until it has ended, and with it all that it
// started. When ctx ends before the program does, it is asked to end, then ended, and
// the error is that of ctx. Any other error means that it did not run, or that nobody
// knows how it ended.
//
// Where our own program can be the keeper (Linux, and a main program that calls Inner)
// nothing escapes, also not by a session of its own, and also not when we are killed.
// Elsewhere what leaves the group of the program is not found, and Over is not to be had.
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

func (a IsolatedCommand) asMounted() MountedCommand {
	p := MountedCommand{Args: a.Args, Dir: a.Dir, MountPath: a.MountPath, Env: a.Env, Out: a.Out, Err: a.Out}
	if a.Err != nil {
		p.Err = a.Err
	}
	return p
}

// understood: the main program called Inner, so that a copy of it can be a keeper.
var helperAvailable atomic.Bool
