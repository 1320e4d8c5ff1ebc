// Package verify runs the commands that tell whether a checkpoint works, and says what
// their answers mean.
//
// It starts programs through internal/platform/proc, and reads nothing but whether their
// directory is there. It knows no store, no row and no configuration, and it changes
// no file itself.
//
//	V1  Nothing that a command started is left when Run answers, as far as the system
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

// Outcome is what a command answered.
type Outcome struct {
	Verdict retake.Verdict
	Why     string // it could not run
	Exit    int    // 0 as well when nothing was run; the verdict tells
	Started time.Time
	Took    time.Duration
	Output  string // the end of both streams
	Where   retake.Where
}

// DefaultLimit is how long a command may take.
const DefaultLimit = 10 * time.Minute

const (
	shellPath = "/bin/sh"
	niceLevel = 10 // a verification is never urgent
)

// Run runs one command and tells what it answered. A command that could not run, or
// was not let run to its end, has an outcome too.
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

// location: a job that asks for no other path runs on what is there.
func (j Job) location(elsewhere bool) retake.Where {
	switch {
	case j.Over == "":
		return retake.OnLive
	case elsewhere:
		return retake.Elsewhere
	}
	return retake.InFork
}

// unrunnableReason says why there is nothing to run.
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

// endReason says why a command has no end of its own.
func (j Job) endReason(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return "took longer than " + durationText(j.Limit)
	}
	return err.Error()
}

// durationText is a duration as people say it.
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
