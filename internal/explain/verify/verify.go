// Package verify runs the commands that check whether a checkpoint works, and interprets
// their results.
//
// It starts programs through internal/platform/proc, and reads nothing but whether their
// directory exists. It uses no store, no database and no configuration, and changes no
// file itself.
//
//	V1  Nothing that a command started is left when Run returns, as far as the system
//	    can tell (internal/platform/proc says how far).
//	V2  Only passed and failed are about the files. What could not run is never failed.
//	V3  What is kept of the output is bounded, is valid text, and has likely secrets
//	    masked.
//	V4  An agent's claim, and what ran at another path, never make a checkpoint good.
package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// Job is one command to run.
type Job struct {
	Command string        // for /bin/sh -c
	Dir     string        // absolute
	Over    string        // where Dir shall appear, in a private namespace; empty: as it is
	Env     []string      // all it sees
	Limit   time.Duration // 0: DefaultLimit
	Clock   clock.Clock   // nil: the clock on the wall
}

// Outcome is the result of a command.
type Outcome struct {
	Verdict retake.Verdict
	Why     string // it could not run
	Exit    int    // also 0 if nothing was run; see Verdict
	Started time.Time
	Took    time.Duration
	Output  string // the end of both streams
	Where   retake.Where
}

// DefaultLimit is how long a command may run.
const DefaultLimit = 10 * time.Minute

const (
	shellPath = "/bin/sh"
	niceLevel = 10 // a verification is never urgent
)

// Run runs one command and returns its outcome. A command that could not run, or was
// stopped, has an outcome too.
func Run(ctx context.Context, j Job) Outcome {
	if j.Clock == nil {
		j.Clock = clock.Wall
	}
	if j.Limit <= 0 {
		j.Limit = DefaultLimit
	}
	o := Outcome{Started: j.Clock.Now(), Where: j.location(false)}
	if why := j.unrunnableReason(ctx); why != "" {
		o.Verdict, o.Why = retake.CouldNotRun, why
		return o
	}
	bounded, cancel := context.WithTimeout(ctx, j.Limit)
	defer cancel()
	var out outputTail
	end, err := proc.RunIsolated(bounded, proc.IsolatedCommand{
		Args: []string{shellPath, "-c", j.Command}, Dir: j.Dir, MountPath: j.Over, Env: j.Env, Out: &out, Nice: niceLevel,
	})
	o.Took = j.Clock.Now().Sub(o.Started)
	o.Output = out.text()
	o.Where = j.location(end.NotMounted)
	if err != nil {
		o.Verdict, o.Why = retake.CouldNotRun, j.endReason(ctx, err)
		return o
	}
	o.Exit = end.Exit
	o.Verdict, o.Why = judgeExit(end, o.Output)
	return o
}

// location returns where a job ran. A job that asks for no other path runs on the live
// files.
func (j Job) location(elsewhere bool) retake.Where {
	switch {
	case j.Over == "":
		return retake.OnLive
	case elsewhere:
		return retake.Elsewhere
	}
	return retake.InFork
}

// unrunnableReason returns why a job cannot run, or "".
func (j Job) unrunnableReason(ctx context.Context) string {
	if ctx.Err() != nil {
		return cancelled
	}
	if j.Command == "" {
		return "no command"
	}
	i, err := os.Stat(j.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "no such directory: " + j.Dir
	case err != nil:
		return fmt.Sprintf("the directory %s cannot be read", j.Dir)
	case !i.IsDir():
		return "not a directory: " + j.Dir
	}
	return ""
}

const cancelled = "cancelled"

// endReason returns why a command was stopped.
func (j Job) endReason(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return "took longer than " + durationText(j.Limit)
	}
	return err.Error()
}

// durationText formats a duration for people.
func durationText(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= time.Second && d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return d.String()
}
