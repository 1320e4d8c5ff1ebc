package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/bench/strace"
)

// trace counts from outside what waits for the disk, and how long.
func (b *bench) trace(ctx context.Context, f *field) error {
	if b.strace == "" {
		return nil
	}
	to := filepath.Join(b.tmp, "strace")
	save := f.save(f.home, f.ws)[0]
	argv := append([]string{b.strace, "-f", "-y", "-T", "-o", to, "-e", "trace=fsync,fdatasync,syncfs,sync_file_range,sync"}, save...)
	if _, err := b.steps(ctx, b.commands(f.kit, f.home, f.ws, [][]string{argv})); err != nil {
		b.strace = ""
		b.miss("strace", "it cannot trace here; fsyncs are counted in process only")
		return ctx.Err()
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return fmt.Errorf("read trace: %w", err)
	}
	t := strace.Read(string(text), f.store(f.home))
	for _, r := range []struct {
		key, wait record.Key
		title     string
		sum       strace.Sum
	}{
		{record.TracedStore, record.StoreWait, "fsyncs of the store for one save, the whole process, seen by strace", t.Store},
		{record.TracedRest, record.RestWait, "fsyncs of the catalog and the rest, seen by strace", t.Rest},
		{record.TracedTree, record.TreeWait, "write-backs of a file system, seen by strace", t.Whole},
	} {
		b.rec.Row(r.key, record.Count, r.title).Add(f.name, r.sum.Calls)
		b.rec.Row(r.wait, record.Millis, "- waits of these, added up").Add(f.name, r.sum.Millis)
	}
	return nil
}
