package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake/bench/grow"
)

// settle is longer than the time in which a tool cannot trust a time stamp; files
// that are older than this are not read again.
const settle = 3 * time.Second

// field is one tool with a workspace and a store of its own.
type field struct {
	*kit
	b        *bench
	ws, home string
}

// fields gives each tool a workspace that plant fills.
func (b *bench) fields(name string, kits []*kit, plant func(ws string) error) ([]*field, error) {
	var out []*field
	for _, k := range kits {
		f := &field{kit: k, b: b, ws: filepath.Join(b.tmp, name, k.name, "ws"), home: filepath.Join(b.tmp, name, k.name, "home")}
		if err := os.MkdirAll(f.ws, 0o755); err != nil {
			return nil, fmt.Errorf("make workspace: %w", err)
		}
		if err := plant(f.ws); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// clear removes what fields made.
func (b *bench) clear(name string) error {
	if err := os.RemoveAll(filepath.Join(b.tmp, name)); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	return nil
}

// renew gives the tool an empty store.
func (f *field) renew(ctx context.Context) error {
	if err := os.RemoveAll(f.home); err != nil {
		return fmt.Errorf("remove store: %w", err)
	}
	if err := os.MkdirAll(f.home, 0o755); err != nil {
		return fmt.Errorf("make store: %w", err)
	}
	_, err := f.b.steps(ctx, f.b.commands(f.kit, f.home, f.ws, f.prepare(f.home)))
	return err
}

// capture measures the first capture.
func (f *field) capture(ctx context.Context) (usage, error) {
	writeBack()
	return f.b.steps(ctx, f.b.commands(f.kit, f.home, f.ws, f.first(f.home, f.ws)))
}

// saved is what a save cost, and by how much it made things larger.
type saved struct {
	usage
	store, all int64
}

// after edits, and measures the save that follows.
func (f *field) after(ctx context.Context, edit func(ws string) error) (saved, error) {
	before, err := f.grown()
	if err != nil {
		return saved{}, err
	}
	writeBack()
	if edit != nil {
		if err := edit(f.ws); err != nil {
			return saved{}, err
		}
	}
	u, err := f.b.steps(ctx, f.saving())
	if err != nil {
		return saved{}, err
	}
	now, err := f.grown()
	return saved{usage: u, store: now.store - before.store, all: now.all - before.all}, err
}

func (f *field) saving() []command {
	return f.b.commands(f.kit, f.home, f.ws, f.save(f.home, f.ws))
}

func (f *field) grown() (saved, error) {
	var s saved
	var err error
	if s.store, err = sizeOf(f.store(f.home)); err == nil {
		s.all, err = sizeOf(f.home)
	}
	return s, err
}

func sizeOf(dir string) (int64, error) {
	sum := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure store: %w", err)
	}
	return sum, nil
}

// turns lets every tool be the first of some round.
func turns(all []*field, round int) []*field {
	n := round % len(all)
	return append(append([]*field{}, all[n:]...), all[:n]...)
}

// editing answers an edit of a round, the same for every tool.
func editing(p *grow.Plan, files []int, round uint64) func(ws string) error {
	return func(ws string) error {
		_, err := p.Edit(ws, files, round)
		return err
	}
}
