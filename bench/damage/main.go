//go:build linux

// Command damage damages repositories of Retake, restic, borg and kopia in the same ways, and counts
// what each tool still restores, before and after the repair that its manual describes.
//
//	go run ./bench/damage -o bench/damage/results.json
//
// It may write below one temporary directory, to the files of -o and -logs, and keep built tools in
// the user's cache. It starts and stops Retake daemons of its own. It never opens a repository that
// it has not created, and never prints a name or a path of the machine into the results.
//
//	D1  Every tool saves the same states and is damaged at places chosen in the same way.
//	D2  Bytes count as restored only if their SHA-256 is the one taken when they were written.
//	D3  A tool that does not restore all states from an undamaged copy is not measured.
//	D4  Reading and repairing begin with fresh copies of the damaged repository, and without caches.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

type flags struct {
	out, logs, only, retake string
	dir                     string
	cases, at               int
	seed                    int64
	limit                   time.Duration
	more                    bool
}

func parse() flags {
	var f flags
	flag.StringVar(&f.out, "o", "", "write the results to this file, as JSON")
	flag.StringVar(&f.logs, "logs", "", "write the output of all commands below this directory, one file per case")
	flag.StringVar(&f.only, "only", "", "measure only this tool: retake, retake-hurried, restic, borg or kopia")
	flag.StringVar(&f.retake, "retake", "", "directory of built retake and retaked; default: build them")
	flag.StringVar(&f.dir, "dir", "", "directory to work in; default: the one for temporary files")
	flag.IntVar(&f.cases, "cases", 100, "damaged copies for each tool")
	flag.IntVar(&f.at, "case", 0, "run only the case with this number")
	flag.Int64Var(&f.seed, "seed", 1, "seed of the files and of the damage")
	flag.DurationVar(&f.limit, "limit", 0, "begin no new case after this time; default: none")
	flag.BoolVar(&f.more, "more", false, "keep the cases that the file of -o has, and run the others; the other flags must be the same")
	flag.Parse()
	return f
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, "damage:", err)
		return 1
	}
	return 0
}

func measure(ctx context.Context, f flags) (err error) {
	tmp, err := os.MkdirTemp(f.dir, "retake-damage-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	tools, err := findTools(ctx, f, tmp)
	if err != nil {
		return err
	}
	history := newHistory(f.seed)
	began := time.Now()
	earlier := &results{}
	if f.more {
		if earlier, err = load(f.out, f.seed); err != nil {
			return err
		}
	}
	lanes := make([]*lane, len(tools))
	failed := make([]error, len(tools))
	var all sync.WaitGroup
	for i, t := range tools {
		lanes[i] = &lane{tool: t, flags: f, history: history, dir: filepath.Join(tmp, t.name()), began: began, before: earlier.of(t.name())}
		all.Go(func() { failed[i] = lanes[i].run(ctx) })
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil && ctx.Err() == nil {
		return err
	}
	res := collect(f, history, lanes, time.Since(began)+time.Duration(earlier.Minutes)*time.Minute)
	res.table(os.Stdout)
	if f.out == "" {
		return nil
	}
	return errors.Join(res.write(f.out), ctx.Err())
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "damage: "+format+"\n", args...)
}
