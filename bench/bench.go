package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake/bench/record"
)

// bench is one run.
type bench struct {
	tmp, keep string
	out       string
	quick     bool
	size      sizes
	rec       *record.Record
	now       map[record.Letter]*record.Scenario // those that run at this moment
	kits      []*kit
	absent    []record.Missing // peers that were not found
	can       abilities
	retake    string // our program
	weigh     string // runs and weighs a process
	strace    string // "" when it is not there
	number    int    // of the last command that needed one
	closers   []func() error
}

// scenario is a letter and the work behind it; letters that share workspaces share
// the work.
type scenario struct {
	letter record.Letter
	title  string
	run    func(*bench, context.Context) error
}

var scenarios = []scenario{
	{"a", "Save of ten changed files", (*bench).project},
	{"b", "The whole process", nil},
	{"c", "Ten times the files", (*bench).million},
	{"d", "First capture", nil},
	{"e", "A long line", (*bench).line},
	{"f", "The tax of the tracker", (*bench).tax},
	{"g", "An agent that only reads", (*bench).reading},
	{"h", "Extremes", (*bench).extremes},
	{"i", "Going back", (*bench).back},
	{"j", "Forks", (*bench).forks},
	{"k", "The hook of an agent", (*bench).hook},
	{"l", "Stories", (*bench).stories},
}

// together are the letters that run in one pass over the same workspaces.
var together = []record.Letter{"a", "b", "d"}

// choose reads the letters of -only. The bars of b are held in rows of a; no bar is
// held against h, so a quick run leaves it out.
func choose(only string, quick bool) ([]record.Letter, error) {
	var out []record.Letter
	for _, s := range scenarios {
		if only == "" && (s.letter != "h" || !quick) {
			out = append(out, s.letter)
		}
	}
	for _, l := range strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return string(s.letter) == l }) {
			return nil, fmt.Errorf("there is no scenario %q; -list shows them", l)
		}
		out = append(out, record.Letter(l))
	}
	if slices.Contains(out, "b") {
		out = append(out, "a")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func newBench(ctx context.Context, f flags) (*bench, error) {
	parent, err := workplace(f.dir)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(parent, "retake-bench-")
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	b := &bench{tmp: tmp, out: f.out, quick: f.quick, size: f.size, now: map[record.Letter]*record.Scenario{}}
	b.closers = append(b.closers, func() error { return os.RemoveAll(tmp) })
	if err := b.prepare(ctx, f); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context, f flags) error {
	var err error
	if f.keep != "" {
		if b.keep, err = filepath.Abs(f.keep); err != nil {
			return fmt.Errorf("find directory: %w", err)
		}
	}
	if b.rec, err = record.Load(b.out); err != nil {
		return err
	}
	if b.rec.Machine, err = lookAtMachine(b.tmp); err != nil {
		return err
	}
	return b.findTools(ctx)
}

// close ends and removes everything.
func (b *bench) close() error { return b.closeTo(0) }

// closeTo ends and removes what was begun since there were n closers, the last
// first. Nothing may stop it half way.
func (b *bench) closeTo(n int) error {
	var errs []error
	for _, f := range slices.Backward(b.closers[n:]) {
		errs = append(errs, f())
	}
	b.closers = b.closers[:n]
	return errors.Join(errs...)
}

// all runs the chosen letters and writes the record down after each.
func (b *bench) all(ctx context.Context, chosen []record.Letter) error {
	done := map[record.Letter]bool{}
	for _, l := range chosen {
		if done[l] {
			continue
		}
		letters := []record.Letter{l}
		if slices.Contains(together, l) {
			letters = slices.DeleteFunc(slices.Clone(together), func(x record.Letter) bool { return !slices.Contains(chosen, x) })
		}
		for _, x := range letters {
			done[x] = true
		}
		if err := b.one(ctx, letters); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) one(ctx context.Context, letters []record.Letter) error {
	start := time.Now()
	var work func(*bench, context.Context) error
	for _, s := range scenarios {
		if slices.Contains(together, s.letter) && slices.Contains(letters, s.letter) {
			work = (*bench).project
		}
		if slices.Contains(letters, s.letter) {
			b.now[s.letter] = &record.Scenario{Letter: s.letter, Title: s.title, Quick: b.quick, Date: start.UTC().Format(time.DateOnly)}
			b.rec.Begin(b.now[s.letter])
			if work == nil {
				work = s.run
			}
		}
	}
	say("scenario %v", letters)
	before := len(b.closers)
	err := work(b, ctx)
	if err = errors.Join(err, b.closeTo(before)); err != nil {
		return fmt.Errorf("scenario %v: %w", letters, err)
	}
	for _, l := range letters {
		b.now[l].Seconds = time.Since(start).Round(time.Second).Seconds()
		delete(b.now, l)
	}
	if b.out == "" {
		return nil
	}
	return b.rec.Save(b.out)
}

// row is a row of a scenario that runs, or one that nobody sees.
func (b *bench) row(l record.Letter, key record.Key, unit record.Unit, format string, args ...any) *record.Row {
	if b.now[l] == nil {
		return &record.Row{Samples: map[string][]float64{}}
	}
	return b.rec.Row(l, key, unit, fmt.Sprintf(format, args...))
}

// fact and miss speak to all scenarios that run.
func (b *bench) fact(format string, args ...any) {
	for _, s := range b.now {
		s.Fact(format, args...)
	}
}

func (b *bench) miss(name, why string) {
	told := false
	for _, s := range b.now {
		told = s.Miss(name, why) || told
	}
	if told {
		say("%s is not there: %s", name, why)
	}
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

var began = time.Now()

// say tells whoever waits what goes on, and since when.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: %4.0f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
