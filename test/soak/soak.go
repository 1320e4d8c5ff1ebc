// Command soak runs Retake for a long time, as four agents in four workspaces use it, and looks for
// what only shows later: leaks, a store that outgrows its storage limit, and checkpoints whose bytes
// changed.
//
//	go run -tags testing ./test/soak -time 90m -days 30 -o soak.json -svg docs/internals/plots
//	go run -tags testing ./test/soak -time 3m -days 2 -control     # must fail
//	go run ./test/soak -plot soak.json -svg docs/internals/plots   # draws an old result
//
// It builds both programs with the tag testing and moves their clock, so that -days pass in -time. It
// kills the daemon and saves, flips bits in the store, lets the clock jump and the disk run low. Every
// restore is compared with the tree as it was when the checkpoint was taken. It touches one temporary
// directory, which stays if something failed, and ends only processes of its own home. With -control
// it measures a process that leaks and changes a remembered tree: exit code 1 means that it noticed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() { os.Exit(run(os.Args[1:])) }

// span is a duration that is readable in a flag and in JSON.
type span time.Duration

func (s span) String() string               { return time.Duration(s).String() }
func (s span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *span) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	*s = span(d)
	return err
}

// options are what was asked for. Sizes are in MB of a million bytes, as the settings of Retake.
type options struct {
	Time            span    `json:"time"`
	Days            float64 `json:"days"`
	Seed            int64   `json:"seed"`
	Files           int     `json:"files"`  // of each workspace
	Pace            span    `json:"pace"`   // of the turns of one agent
	FaultEvery      span    `json:"faults"` // 0: no faults
	Flip            string  `json:"flip"`   // first letters of the blobs that bits are flipped in
	SampleEvery     span    `json:"samples"`
	Limit           int     `json:"limit_mb"` // the setting budget
	Slack           int     `json:"slack_mb"` // how much more the store may have for a while
	KeepWithin      string  `json:"keep_within"`
	GoneAfter       string  `json:"gone_after"`
	MemoryBound     float64 `json:"memory_bound"`     // MB a day
	DescriptorBound float64 `json:"descriptor_bound"` // a day
	Control         bool    `json:"control,omitempty"`

	out, svg, plot, dir string
	leak                bool
}

func parseOptions(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.TextVar(&o.Time, "time", span(90*time.Minute), "how long to run")
	f.Float64Var(&o.Days, "days", 30, "how many days the programs shall see meanwhile")
	f.Int64Var(&o.Seed, "seed", 1, "seed of everything random")
	f.IntVar(&o.Files, "files", 2000, "files of each workspace")
	f.TextVar(&o.Pace, "pace", span(3*time.Second), "time between the turns of one agent")
	f.TextVar(&o.FaultEvery, "faults", span(45*time.Second), "time between two faults; 0s: none")
	f.StringVar(&o.Flip, "flip", "kpqsx", "flip bits in blobs that begin with one of these: k the format, p files, q metadata, s sessions, x the index")
	f.TextVar(&o.SampleEvery, "samples", span(10*time.Second), "time between two samples")
	f.IntVar(&o.Limit, "limit", 128, "storage limit that Retake is given, in MB")
	f.IntVar(&o.Slack, "slack", 96, "how much larger the store may be for a while, in MB")
	f.StringVar(&o.KeepWithin, "keep-within", "14d", "the setting keep-within")
	f.StringVar(&o.GoneAfter, "gone-after", "21d", "the setting gone-after")
	f.Float64Var(&o.MemoryBound, "memory-bound", 2, "the most that memory may grow, in MB a day")
	f.Float64Var(&o.DescriptorBound, "descriptor-bound", 1, "the most that open descriptors may grow, a day")
	f.BoolVar(&o.Control, "control", false, "leak on purpose and change a remembered tree: it must fail")
	f.StringVar(&o.out, "o", "", "write the result to this file")
	f.StringVar(&o.svg, "svg", "", "write plots into this directory")
	f.StringVar(&o.plot, "plot", "", "draw this result and run nothing")
	f.StringVar(&o.dir, "dir", "", "make the temporary directory here")
	f.BoolVar(&o.leak, "leak", false, "be the process that leaks, for -control")
	err := f.Parse(args)
	if err == nil && (o.Time <= 0 || o.Days <= 0 || o.Files < 10 || o.Pace <= 0 || o.SampleEvery <= 0) {
		err = errors.New("-time, -days, -pace and -samples are above 0, and -files is at least 10")
	}
	return o, err
}

func run(args []string) int {
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 2
	case o.leak:
		leakForever()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var r result
	if o.plot != "" {
		r, err = readResult(o.plot)
	} else {
		r, err = soak(ctx, o)
	}
	if err == nil && o.out != "" {
		err = r.write(o.out)
	}
	if err == nil && o.svg != "" {
		err = drawPlots(r, o.svg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 2
	}
	if o.plot != "" {
		return 0
	}
	r.print()
	return r.exitCode()
}

// controlKinds are the failures that a control must find.
var controlKinds = []string{failedBytes, failedMemory, failedDescriptors}

// exitCode is 1 if something failed. A control that did not find all that is wrong on purpose
// answers 0: whoever expects it to fail notices that.
func (r *result) exitCode() int {
	if !r.Settings.Control {
		return min(len(r.Failures), 1)
	}
	var missed []string
	for _, kind := range controlKinds {
		if !slices.ContainsFunc(r.Failures, func(f failure) bool { return f.Kind == kind }) {
			missed = append(missed, kind)
		}
	}
	if len(missed) > 0 {
		fmt.Println("the control was not noticed:", strings.Join(missed, ", "))
		return 0
	}
	fmt.Println("the control was noticed:", strings.Join(controlKinds, ", "))
	return 1
}
