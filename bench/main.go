// Command bench measures retake beside other tools on the same files, in one run.
//
// It may write below one temporary directory and keep a built peer in the user's
// cache. It never measures a tool on a store that another wrote, and never prints
// a name or a path of the machine into a record.
//
//	B1  A tool that is not there is named as missing; nothing is guessed for it.
//	B2  Every figure is of a whole process, unless its title says otherwise.
//	B3  What is between two measurements is written back before the clock starts.
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
	quick, million bool
	setup          record.Setup
	largeMiB       int64
	dir, out       string
	report, inside string
}

// One million is what -million adds.
const millionFiles = 1_000_000

func parse() flags {
	var f flags
	flag.BoolVar(&f.quick, "quick", false, "10,000 files, no peer that must be built first; hold the figures against bounds")
	flag.BoolVar(&f.million, "million", false, "measure 1,000,000 files too, retake only")
	flag.IntVar(&f.setup.Files, "files", 100_000, "files of the project")
	flag.IntVar(&f.setup.Flat, "flat", 100_000, "entries of the flat directory; 0: leave it out")
	flag.Int64Var(&f.largeMiB, "large", 2048, "MiB of the large file; 0: leave it out")
	flag.IntVar(&f.setup.Firsts, "firsts", 3, "first captures of each tool")
	flag.IntVar(&f.setup.Rounds, "rounds", 5, "rounds of everything else")
	flag.Uint64Var(&f.setup.Seed, "seed", 1, "seed of the workspaces")
	flag.StringVar(&f.dir, "dir", "", "where to work; default: the temporary directory when it is on the disk of the checkout, else the checkout")
	flag.StringVar(&f.out, "o", "", "write all samples to this file, as JSON")
	flag.StringVar(&f.report, "report", "", "write the page of the documentation for this JSON to stdout, and measure nothing")
	flag.StringVar(&f.inside, "inside", "", "used by the program itself: save this workspace in process and count")
	flag.Parse()
	f.setup.Large, f.setup.Edits, f.setup.Quick = f.largeMiB<<20, 10, f.quick
	if f.quick {
		f.setup.Files, f.setup.Flat, f.setup.Large = 10_000, 10_000, 32<<20
		f.setup.Firsts, f.setup.Rounds = 1, 3
	}
	if f.million {
		f.setup.Million = millionFiles
	}
	return f
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	f := parse()
	var err error
	held := true
	switch {
	case f.report != "":
		err = report(f.report)
	case f.inside != "":
		err = saveInside(ctx, f.inside)
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

func report(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open record: %w", err)
	}
	defer in.Close() //nolint:errcheck // only read
	r, err := record.Read(in)
	if err != nil {
		return err
	}
	if filepath.IsAbs(path) { // a path of the machine does not belong on the page
		path = filepath.Base(path)
	}
	r.Report(os.Stdout, filepath.ToSlash(path))
	return nil
}

// measure runs everything; held is false when a bound of -quick is broken.
func measure(ctx context.Context, f flags) (held bool, err error) {
	parent, err := workplace(f.dir)
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp(parent, "retake-bench-")
	if err != nil {
		return false, fmt.Errorf("make directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	b := &bench{tmp: tmp, rec: &record.Record{V: record.Version, Date: time.Now().UTC().Format(time.DateOnly), Setup: f.setup}}
	if b.rec.Machine, err = lookAtMachine(tmp); err != nil {
		return false, err
	}
	if err := b.findTools(ctx, f.quick); err != nil {
		return false, err
	}
	if err := b.all(ctx); err != nil {
		return false, err
	}
	b.rec.Table(os.Stdout)
	if f.out != "" {
		if err := writeRecord(b.rec, f.out); err != nil {
			return false, err
		}
	}
	return !f.quick || b.rec.Check(os.Stdout), nil
}

// workplace is on the disk of the checkout, so that figures of two runs can be
// compared.
func workplace(dir string) (string, error) {
	if dir != "" {
		return filepath.Abs(dir)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return "", fmt.Errorf("find checkout: %w", err)
	}
	if sameDisk(os.TempDir(), here) {
		return os.TempDir(), nil
	}
	return here, nil
}

func writeRecord(r *record.Record, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return errors.Join(r.Write(out), out.Close())
}
