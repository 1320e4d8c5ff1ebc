package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/bench/strace"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// syncs counts how often a save of ours waits for the disk: from outside, where
// nothing can pass by, and without strace through the seam that the store uses.
func (b *bench) syncs(ctx context.Context, all []*field, plan *grow.Plan) error {
	for _, f := range all {
		switch f.name {
		case record.Retake:
			if err := b.traced(ctx, f, plan); err != nil {
				return err
			}
		case record.Solo:
			if err := b.counted(ctx, f, plan); err != nil {
				return err
			}
		}
	}
	return nil
}

// counted reads the counters of a service in this process.
func (b *bench) counted(ctx context.Context, f *field, plan *grow.Plan) error {
	h := b.newHome(f.home, f.ws)
	defer h.hangUp() //nolint:errcheck // was only counted
	if err := h.opened(ctx)(nil); err != nil {
		return err
	}
	store := b.row("a", record.SyncsStore, record.Count, "- those of the store")
	tree := b.row("a", record.SyncsTree, record.Count, "write-backs of the workspace for one save")
	for i := range b.size.rounds {
		at := uint64(roundsTraced + i)
		files, whole := fileSyncs(h.counter), h.counter.OpCounts()[wholeSync]
		if _, err := f.after(ctx, way{run: h.call}, plan.Random(b.size.edits, at), at); err != nil {
			return err
		}
		store.Add(record.Solo, float64(fileSyncs(h.counter)-files))
		tree.Add(record.Solo, float64(h.counter.OpCounts()[wholeSync]-whole))
	}
	return nil
}

// wholeSync is the operation of the seam that writes a whole file system back.
const wholeSync = "Dir.SyncFS"

// fileSyncs counts what only the store does: syncs of single files and directories.
func fileSyncs(c *fsxtest.Counter) int64 {
	ops := c.OpCounts()
	return ops["Dir.Sync"] + ops["File.Sync"]
}

// traced looks at the daemon from outside while it saves.
func (b *bench) traced(ctx context.Context, f *field, plan *grow.Plan) error {
	if b.strace == "" {
		b.miss(record.Strace, "not on the path; fsyncs of the daemon are not counted")
		return nil
	}
	h := b.newHome(f.home, f.ws)
	defer h.hangUp() //nolint:errcheck // the daemon is asked nothing more here
	if err := h.dialed(ctx)(nil); err != nil {
		return err
	}
	st, err := h.daemon(ctx)
	if err != nil {
		return err
	}
	sum := b.row("a", record.Syncs, record.Count, "fsyncs of one save, seen by strace")
	store := b.row("a", record.SyncsStore, record.Count, "- those of the store")
	tree := b.row("a", record.SyncsTree, record.Count, "write-backs of the workspace for one save")
	wait := b.row("a", record.SyncsWait, record.Millis, "- waits of all these, added up")
	for i := range b.size.rounds {
		at := uint64(roundsTraced + i)
		var got strace.Syncs
		_, err := f.after(ctx, way{run: func(ctx context.Context) (u usage, err error) {
			got, err = b.watch(ctx, st.About.PID, f.store, func() error { u, err = h.call(ctx); return err })
			return u, err
		}}, plan.Random(b.size.edits, at), at)
		if errors.Is(err, errNoTrace) {
			b.miss(record.Strace, "it cannot attach here; fsyncs of the daemon are not counted")
			return nil
		}
		if err != nil {
			return err
		}
		sum.Add(record.Retake, got.Store.Calls+got.Rest.Calls)
		store.Add(record.Retake, got.Store.Calls)
		tree.Add(record.Retake, got.Whole.Calls)
		wait.Add(record.Retake, got.Store.Millis+got.Rest.Millis+got.Whole.Millis)
	}
	return nil
}

var errNoTrace = errors.New("strace does not attach")

// watch attaches to a process, does something, and reads what that process waited
// for on the disk meanwhile.
func (b *bench) watch(ctx context.Context, pid int, store string, do func() error) (strace.Syncs, error) {
	to := filepath.Join(b.tmp, "strace")
	if err := os.RemoveAll(to); err != nil {
		return strace.Syncs{}, fmt.Errorf("remove trace: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := exec.CommandContext(ctx, b.strace, "-f", "-y", "-T", "-o", to, "-e", "trace="+strace.Calls, "-p", strconv.Itoa(pid))
	p.Env, p.WaitDelay = b.shell(), time.Second
	p.Cancel = func() error { return p.Process.Signal(os.Interrupt) } // it lets the daemon go on by itself
	talk, err := p.StderrPipe()
	if err != nil {
		return strace.Syncs{}, fmt.Errorf("attach: %w", err)
	}
	if err := p.Start(); err != nil {
		return strace.Syncs{}, errNoTrace
	}
	lines := bufio.NewScanner(talk)
	attached := false
	for !attached && lines.Scan() {
		attached = strings.Contains(lines.Text(), "attached")
	}
	if !attached {
		_ = p.Wait() // it said why on the line that did not come
		return strace.Syncs{}, errNoTrace
	}
	go func() {
		for lines.Scan() { // nobody reads on, and the pipe must not fill
		}
	}()
	err = do()
	cancel()
	_ = p.Wait() // it was interrupted
	if err != nil {
		return strace.Syncs{}, err
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return strace.Syncs{}, fmt.Errorf("read trace: %w", err)
	}
	return strace.Read(string(text), store), nil
}
