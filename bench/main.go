// Command bench measures retake beside other tools on the same files, in one run,
// and holds the figures against the bars.
//
// It may write below one temporary directory, below the directory of -keep, and
// keep a built peer in the user's cache. It never measures a tool on a store that
// another wrote, and never prints a name or a path of the machine into a record.
//
//	B1  A tool that is not there is named as missing; nothing is guessed for it.
//	B2  Every figure is of a whole process, unless its column says otherwise.
//	B3  What is between two measurements is written back before the clock starts.
//	B4  What was measured is written down after each scenario.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/retake-dev/retake/bench/record"
)

func main() { os.Exit(run()) }

type flags struct {
	quick, list    bool
	only           string
	size           sizes
	dir, keep, out string
	report, docs   string
	inside         string
}

// sizes are how much is measured.
type sizes struct {
	files, small, big, flat     int
	large                       int64
	checkpoints, lineFiles, tar int
	firsts, rounds, edits       int
	installs, backs, statuses   int
	forkFiles, told             int
	seed                        uint64
	idle, reading               time.Duration
}

func parse() flags {
	var f flags
	s := &f.size
	flag.BoolVar(&f.quick, "quick", false, "small sizes, no peer that must be built first; hold the figures with slack")
	flag.BoolVar(&f.list, "list", false, "list the scenarios")
	flag.StringVar(&f.only, "only", "", "letters of the scenarios to run, such as a,c; default: all")
	flag.IntVar(&s.files, "files", 100_000, "files of the project")
	flag.IntVar(&s.big, "big", 1_000_000, "files of the large project of c; a tenth is measured beside it")
	flag.IntVar(&s.checkpoints, "checkpoints", 10_000, "checkpoints of the long line")
	flag.IntVar(&s.lineFiles, "line-files", 10_000, "files of the workspace of the long line")
	flag.IntVar(&s.tar, "tar", 50_000, "files of the install when npm is not there")
	flag.IntVar(&s.flat, "flat", 100_000, "entries of the flat directory")
	flag.Int64Var(&s.large, "large", 2000, "MiB of the large file")
	flag.IntVar(&s.firsts, "firsts", 3, "first captures of each tool")
	flag.IntVar(&s.rounds, "rounds", 11, "rounds of saves")
	flag.IntVar(&s.installs, "installs", 5, "rounds of installs, with and without the tracker each")
	flag.IntVar(&s.forkFiles, "fork-files", 100_000, "files of the project that is forked")
	flag.IntVar(&s.told, "told", 10_000, "checkpoints with stories behind the first screen")
	flag.IntVar(&s.backs, "backs", 11, "rounds of going back, with and without edits since the last checkpoint each")
	flag.IntVar(&s.statuses, "statuses", 5, "rounds of git status and of reading in a fork and beside it")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the workspaces")
	flag.DurationVar(&s.idle, "idle", 10*time.Minute, "how long the daemon is watched while nothing happens")
	flag.DurationVar(&s.reading, "reading", 10*time.Minute, "how long an agent only reads")
	flag.StringVar(&f.dir, "dir", "", "where to work; default: the temporary directory when it is on the disk of the checkout, else the checkout")
	flag.StringVar(&f.keep, "keep", "", "keep the built workspaces in this directory, and take them from there the next time")
	flag.StringVar(&f.out, "o", "", "write all samples to this file, as JSON; scenarios it has and that do not run stay")
	flag.StringVar(&f.report, "report", "", "write the page of the documentation and its plots for this JSON, and measure nothing")
	flag.StringVar(&f.docs, "docs", "docs/internals", "where -report writes")
	flag.StringVar(&f.inside, "inside", "", "used by the program itself: the work of a child, as JSON")
	flag.Parse()
	s.edits, s.large = 10, s.large<<20
	if f.quick {
		shrink(s)
	}
	s.small = s.big / 10
	return f
}

// shrink makes everything fit into three minutes. A duration that was asked for stays.
func shrink(s *sizes) {
	s.files, s.big, s.flat, s.large = 10_000, 20_000, 10_000, 16<<20
	s.checkpoints, s.lineFiles, s.tar = 300, 1_000, 3_000
	s.firsts, s.rounds, s.installs = 1, 5, 5
	s.backs, s.statuses, s.forkFiles, s.told = 2, 3, 5_000, 500
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["idle"] {
		s.idle = 5 * time.Second
	}
	if !given["reading"] {
		s.reading = 5 * time.Second
	}
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	f := parse()
	var err error
	held := true
	switch {
	case f.list:
		for _, s := range scenarios {
			fmt.Printf("%s  %s\n", s.letter, s.title)
		}
	case f.report != "":
		err = report(f.report, f.docs)
	case f.inside != "":
		err = inside(ctx, f.inside)
	default:
		held, err = measure(ctx, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	if !held {
		return 1
	}
	return 0
}

// report writes the page and its plots.
func report(path, docs string) error {
	r, err := record.Load(path)
	if err != nil {
		return err
	}
	if len(r.Scenarios) == 0 {
		return fmt.Errorf("report: %s holds no scenario", path)
	}
	if filepath.IsAbs(path) { // a path of the machine does not belong on the page
		path = filepath.Base(path)
	}
	plots := filepath.Join(docs, record.PlotDir)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	for _, p := range r.Plots() {
		if err := os.WriteFile(filepath.Join(plots, p.File), []byte(p.SVG), 0o644); err != nil {
			return fmt.Errorf("write plots: %w", err)
		}
	}
	page, err := os.Create(filepath.Join(docs, "performance.md"))
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	r.Report(page, filepath.ToSlash(path))
	return page.Close()
}

// measure runs what was chosen; held is false when a bar of -quick is broken.
func measure(ctx context.Context, f flags) (held bool, err error) {
	chosen, err := choose(f.only, f.quick)
	if err != nil {
		return false, err
	}
	b, err := newBench(ctx, f)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.all(ctx, chosen); err != nil {
		return false, err
	}
	b.rec.Table(os.Stdout)
	return b.rec.Check(os.Stdout) || !f.quick, nil
}
