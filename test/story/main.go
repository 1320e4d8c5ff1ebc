// Command story holds what Retake tells of scripted agent runs against the truth about
// them: paths against a plain walk, facts against the word of the scripts, flags against
// planted lies, and good and bisect against the checkpoint that was last right.
//
//	go run ./test/story                          every run that can be played here
//	go run ./test/story -only 'r*' -keep         some, by name or pattern; what they leave stays
//	go run ./test/story -quick                   those that need no network
//
// Each run has a home, a daemon and a tree of its own below a temporary directory. Nothing
// of the user's is read or written but the cache of downloads that the runs share.
//
//	C1  Truth comes from test/story/replay alone, never from Retake.
//	C2  Every miss has a name, and what could not be played is counted.
//	C3  A measure that cannot notice a planted mistake is no measure: controls must be caught.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake/test/story/replay"
)

// options are the flags.
type options struct {
	corpus  string
	retake  string // the program under test; built when empty
	only    string
	quick   bool
	keep    bool
	out     string
	screens string
	page    string
}

func main() {
	var o options
	flag.StringVar(&o.corpus, "corpus", "test/story/corpus", "directory of the runs")
	flag.StringVar(&o.retake, "retake", "", "program under test; empty: build it")
	flag.StringVar(&o.only, "only", "", "names or patterns of runs, with commas")
	flag.BoolVar(&o.quick, "quick", false, "only runs that need no network")
	flag.BoolVar(&o.keep, "keep", false, "keep homes and trees")
	flag.StringVar(&o.out, "o", "", "write the result as JSON")
	flag.StringVar(&o.screens, "screens", "", "write the first screen of each run into this directory, for judges")
	flag.StringVar(&o.page, "page", "", "write the tables between <!-- story:begin --> and <!-- story:end --> of this file")
	flag.Parse()
	failed, err := run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "story:", err)
		os.Exit(1)
	}
	if failed {
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (failed bool, err error) {
	runs, err := chosen(o)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "rt-story-")
	if err != nil {
		return false, fmt.Errorf("make scratch: %w", err)
	}
	if o.keep {
		fmt.Println("kept:", dir)
	} else {
		defer os.RemoveAll(dir) //nolint:errcheck // scratch
	}
	if o.retake == "" {
		if o.retake, err = build(ctx, dir); err != nil {
			return false, err
		}
	}
	res := result{V: 1, Quick: o.quick}
	var books []book
	for _, r := range runs {
		b, a := try(ctx, o, filepath.Join(dir, r.Name), r)
		fmt.Print(a)
		books, res.Runs = append(books, b), append(res.Runs, a)
	}
	res.sum()
	res.Controls = controls(books)
	if res.ShownAlike, res.ShownOtherwise, err = compareShown(books); err != nil {
		return false, err
	}
	fmt.Print(res.String())
	return res.failed(), report(o, res)
}

// chosen are the runs that the flags name.
func chosen(o options) ([]replay.Run, error) {
	runs, err := replay.Load(o.corpus)
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r replay.Run) bool { return !named(o.only, r.Name) || o.quick && network(r) })
	if len(runs) == 0 {
		return nil, fmt.Errorf("choose runs: none is left of %s", o.corpus)
	}
	return runs, nil
}

func named(only, name string) bool {
	return only == "" || slices.ContainsFunc(strings.Split(only, ","), func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return pattern == name || err == nil && ok
	})
}

// network reports whether a run fetches something.
func network(r replay.Run) bool {
	return slices.ContainsFunc(r.Needs, func(n string) bool { return n == "apt" || n == "npm" || n == "go" })
}

func build(ctx context.Context, dir string) (string, error) {
	exe := filepath.Join(dir, "bin", "retake")
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", filepath.Dir(exe)+"/", "./cmd/retake", "./cmd/retaked")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build retake: %w: %s", err, out)
	}
	return exe, nil
}

// runPatience is how long one run may take with all that is asked about it.
const runPatience = 15 * time.Minute

// try plays one run, asks what Retake tells of it, and judges the answers.
func try(ctx context.Context, o options, dir string, r replay.Run) (book, account) {
	a := account{Name: r.Name, Title: r.Title, HeldOut: r.HeldOut, Turns: len(r.Turns)}
	if a.Skipped = r.Missing(); a.Skipped != "" {
		return book{}, a
	}
	ctx, cancel := context.WithTimeout(ctx, runPatience)
	defer cancel()
	began := time.Now()
	b, err := tryOnce(ctx, o, dir, r, &a)
	if err == nil && o.screens != "" {
		err = plainScreen(ctx, o, dir+"-plain", r)
	}
	if err != nil {
		a.Stopped = err.Error()
	}
	a.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
	return b, a
}

func tryOnce(ctx context.Context, o options, dir string, r replay.Run, a *account) (b book, err error) {
	s := &stand{exe: o.retake, dir: dir, run: r, verify: true}
	defer s.strike(&err)
	if err = s.play(ctx); err != nil {
		return b, err
	}
	if b, err = s.write(ctx); err != nil {
		return b, err
	}
	if b.timeline, err = s.timeline(ctx); err != nil {
		return b, err
	}
	for _, c := range b.chapters {
		a.add(judge(c))
	}
	a.Misses = append(a.Misses, b.unseen...)
	a.Good, a.Bisects = s.findGood(ctx, a), s.bisects(ctx, a)
	if o.screens == "" {
		return b, nil
	}
	return b, s.screen(ctx, o.screens, r.Name)
}
