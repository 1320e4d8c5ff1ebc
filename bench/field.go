package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/bench/grow"
)

// settle is longer than the time in which a tool cannot trust a time stamp; files
// that are older than this are not read again.
const settle = 3 * time.Second

// field is one tool with a workspace and a store of its own, and the ways in which
// it saves.
type field struct {
	b        *bench
	name     string
	ws, home string
	plan     *grow.Plan
	journal  string // files that were edited; "" when the workspace is not kept
	begin    func(ctx context.Context) error
	first    way
	ways     []way
	store    string // the directory that a save makes larger; "" when there is none
	end      func() error
}

// way is one way to save. What ready does is outside the clock.
type way struct {
	name  string
	ready func(files []string) error
	run   func(ctx context.Context) (usage, error)
}

// plant gives a tool a workspace of the plan: a kept one is mended, any other is
// written. place makes the root of one that is no plain directory.
func (b *bench) plant(ctx context.Context, shape, name string, plan *grow.Plan, place func(dir string) (string, error)) (*field, error) {
	f := &field{b: b, name: name, plan: plan, home: filepath.Join(b.tmp, shape, name, "home")}
	dir := filepath.Join(b.tmp, shape, name)
	if b.keep != "" && place == nil {
		dir = filepath.Join(b.keep, fmt.Sprintf("%s-%d-%d", shape, plan.Files(), b.size.seed), name)
		f.journal = filepath.Join(dir, "edited")
	}
	f.ws = filepath.Join(dir, "ws")
	b.closers = append(b.closers, func() error { return os.RemoveAll(filepath.Join(b.tmp, shape, name)) })
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	if place != nil {
		var err error
		if f.ws, err = place(dir); err != nil {
			return nil, err
		}
	}
	if f.journal != "" {
		if done, err := f.mend(); done || err != nil {
			return f, err
		}
	}
	say("%s: writing %d files for %s", shape, plan.Files(), name)
	return f, f.write(ctx)
}

// mend takes a kept workspace back to what the plan says. One without a journal was
// not written to its end.
func (f *field) mend() (bool, error) {
	text, err := os.ReadFile(f.journal)
	if errors.Is(err, fs.ErrNotExist) {
		return false, os.RemoveAll(f.ws)
	}
	if err != nil {
		return false, fmt.Errorf("read journal: %w", err)
	}
	var files []int
	for _, word := range strings.Fields(string(text)) {
		i, err := strconv.Atoi(word)
		if err != nil {
			return false, fmt.Errorf("read journal: %w", err)
		}
		files = append(files, i)
	}
	if err := f.plan.Mend(f.ws, files); err != nil {
		return false, err
	}
	return true, f.note(nil)
}

func (f *field) write(ctx context.Context) error {
	if err := os.MkdirAll(f.ws, 0o755); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	if err := f.plan.Write(ctx, f.ws); err != nil {
		return err
	}
	return f.note(nil)
}

// note writes down what is about to be edited; nil begins a new journal.
func (f *field) note(files []int) error {
	if f.journal == "" {
		return nil
	}
	mode := os.O_APPEND
	if files == nil {
		mode = os.O_TRUNC
	}
	out, err := os.OpenFile(f.journal, os.O_CREATE|os.O_WRONLY|mode, 0o644)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	for _, i := range files {
		fmt.Fprintln(out, i)
	}
	return out.Close()
}

// edit changes files and answers their paths, relative and with slashes.
func (f *field) edit(files []int, round uint64) ([]string, error) {
	if err := f.note(files); err != nil {
		return nil, err
	}
	if _, err := f.plan.Edit(f.ws, files, round); err != nil {
		return nil, err
	}
	var out []string
	for _, i := range files {
		out = append(out, f.plan.Path(i))
	}
	return out, nil
}

// capture measures the first capture into an empty store.
func (f *field) capture(ctx context.Context) (usage, error) {
	if err := os.RemoveAll(f.home); err != nil {
		return usage{}, fmt.Errorf("remove store: %w", err)
	}
	if err := os.MkdirAll(f.home, 0o755); err != nil {
		return usage{}, fmt.Errorf("make store: %w", err)
	}
	if err := f.begin(ctx); err != nil {
		return usage{}, err
	}
	writeBack()
	return f.first.run(ctx)
}

// saved is what a save cost, and by how much it made the store larger.
type saved struct {
	usage
	store int64
}

// after edits, and measures the save that follows.
func (f *field) after(ctx context.Context, w way, files []int, round uint64) (saved, error) {
	before, err := sizeOf(f.store)
	if err != nil {
		return saved{}, err
	}
	writeBack()
	var changed []string
	if len(files) > 0 {
		if changed, err = f.edit(files, round); err != nil {
			return saved{}, err
		}
	}
	if w.ready != nil {
		if err := w.ready(changed); err != nil {
			return saved{}, err
		}
	}
	u, err := w.run(ctx)
	if err != nil {
		return saved{}, err
	}
	now, err := sizeOf(f.store)
	return saved{usage: u, store: now - before}, err
}

// sizeOf adds up the files below a directory; "" has none.
func sizeOf(dir string) (int64, error) {
	if dir == "" {
		return 0, nil
	}
	sum, _, err := weighDir(dir)
	return sum, err
}

// weighDir adds up and counts the files below a directory. What goes away
// meanwhile does not count: a store may clean up.
func weighDir(dir string) (sum int64, files int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			sum += info.Size()
			files++
		}
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("measure directory: %w", err)
	}
	return sum, files, nil
}

// turns lets every tool be the first of some round.
func turns[T any](all []T, round int) []T {
	if len(all) == 0 {
		return nil
	}
	n := round % len(all)
	return append(append([]T{}, all[n:]...), all[:n]...)
}
