// Command fuzz runs every fuzz target of the repository for a while, one after the other. The one
// whose file changed last comes first.
//
//	go run ./test/fuzz -total 3h -o test/fuzz/results.json
//	go run ./test/fuzz -each 10s -only 'restore|queue'
//	go run ./test/fuzz -control
//
// It prints a line for each target: its name, executions, new inputs that reach more code, and
// whether it failed. If one fails, the exit code is 1, and the failing input is in testdata/fuzz of
// its package; `go test` runs it from then on. Inputs that only reach more code are in Go's build
// cache. With -control it checks that it notices a target that fails.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.DurationVar(&o.each, "each", 0, "how long to run each target; 0: see -total")
	flag.DurationVar(&o.total, "total", time.Hour, "how long to run all targets together, in equal parts; building them comes on top")
	flag.StringVar(&o.only, "only", "", "run only targets that match this regular expression, as PACKAGE.NAME")
	flag.StringVar(&o.tags, "tags", "testing", "build tags")
	flag.StringVar(&o.out, "o", "", "write the results to this file")
	list := flag.Bool("list", false, "list the targets and run nothing")
	control := flag.Bool("control", false, "check that a target that fails is noticed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := runAll
	switch {
	case *list:
		run = listAll
	case *control:
		run = runControl
	}
	if err := run(ctx, ".", o); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

type options struct {
	each, total time.Duration
	only        string
	tags        string
	out         string
}

// selected returns the targets below root that match -only.
func (o options) selected(root string) ([]target, error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	all, err := findTargets(root, o.tags)
	if err != nil {
		return nil, err
	}
	var out []target
	for _, t := range all {
		if only.MatchString(t.String()) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no targets")
	}
	return out, nil
}

func listAll(_ context.Context, root string, o options) error {
	all, err := o.selected(root)
	for _, t := range all {
		fmt.Println(t)
	}
	return err
}

// runAll runs the targets and writes the results after each, so that an interrupted run has some.
func runAll(ctx context.Context, root string, o options) error {
	all, err := o.selected(root)
	if err != nil {
		return err
	}
	each := cmp.Or(o.each, max(o.total/time.Duration(len(all)), time.Second))
	res := results{Go: runtime.Version(), Each: each.String()}
	for _, t := range all {
		row := runTarget(ctx, root, t, each, o.tags)
		if ctx.Err() != nil {
			break
		}
		fmt.Println(row)
		res.add(row)
		if err := res.write(o.out); err != nil {
			return err
		}
	}
	fmt.Printf("%d targets, %.0f s of processor time, %d failures\n", len(res.Targets), res.CPU, res.Failures)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted after %d of %d targets", len(res.Targets), len(all))
	case res.Failures > 0:
		return fmt.Errorf("%d targets failed", res.Failures)
	}
	return nil
}
