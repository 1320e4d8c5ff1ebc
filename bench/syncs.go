package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/assemble"
	"github.com/retake-dev/retake/internal/config"
	"github.com/retake-dev/retake/internal/fsx"
)

// inside is what one process that saves twice tells about itself: once after an
// edit, and once with nothing changed and the store open.
type inside struct {
	Store     int64   `json:"store"`     // syncs of files and directories, by the edit's save
	Workspace int64   `json:"workspace"` // write-backs of a whole file system
	Closing   int64   `json:"closing"`   // syncs when the store is closed after that
	Warm      float64 `json:"warm"`      // the second save, in ms
}

// syncs counts how often a save of ours waits for the disk: in process, through
// the seam that the store and capture use, and from outside, where nothing can
// pass by.
func (b *bench) syncs(ctx context.Context, f *field, plan *grow.Plan) error {
	n := b.rec.Setup.Edits
	store := b.rec.Row(record.SyncsStore, record.Count, "fsyncs of the store for one save, in process")
	closing := b.rec.Row(record.SyncsClose, record.Count, "fsyncs of the store when it is closed, in process")
	tree := b.rec.Row(record.SyncsTree, record.Count, "write-backs of the workspace for one save, in process")
	warm := b.rec.Row(record.WarmSave, record.Millis, "save with nothing changed, store open, in process")
	for i := range b.rec.Setup.Rounds {
		at := uint64(roundsSyncs + 2*i)
		if err := editing(plan, plan.Random(n, at), at)(f.ws); err != nil {
			return err
		}
		in, err := b.askInside(ctx, f)
		if err != nil {
			return err
		}
		store.Add(f.name, float64(in.Store))
		closing.Add(f.name, float64(in.Closing))
		tree.Add(f.name, float64(in.Workspace))
		warm.Add(f.name, in.Warm)
		if err := editing(plan, plan.Random(n, at+1), at+1)(f.ws); err != nil {
			return err
		}
		if err := b.trace(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// askInside starts this program as a process of its own: its memory must not
// become ours, or the kernel would count it to every process after it.
func (b *bench) askInside(ctx context.Context, f *field) (inside, error) {
	var in inside
	self, err := os.Executable()
	if err != nil {
		return in, fmt.Errorf("find own program: %w", err)
	}
	out, err := b.commands(f.kit, f.home, f.ws, [][]string{{self, "-inside", f.ws}})[0].output(ctx)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal([]byte(out), &in); err != nil {
		return in, fmt.Errorf("read counts: %w", err)
	}
	return in, nil
}

func saveInside(ctx context.Context, ws string) error {
	conf, err := config.Read()
	if err != nil {
		return err
	}
	settings, err := config.Load(conf.File)
	if err != nil {
		return err
	}
	seam, counter := fsx.Counting(fsx.OS())
	s, err := assemble.Solo(ctx, conf, settings, assemble.Options{FS: seam})
	if err != nil {
		return err
	}
	in, err := saveTwice(ctx, s, counter, ws)
	open := fileSyncs(counter)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	in.Closing = fileSyncs(counter) - open
	return json.NewEncoder(os.Stdout).Encode(in)
}

func saveTwice(ctx context.Context, s retake.Service, counter *fsx.Counter, dir string) (inside, error) {
	var in inside
	ws, err := s.Locate(ctx, dir)
	if err != nil {
		return in, err
	}
	files, trees := fileSyncs(counter), counter.Ops()[wholeSync]
	if _, err := s.Save(ctx, retake.SaveRequest{Workspace: ws.ID}); err != nil {
		return in, err
	}
	in.Store, in.Workspace = fileSyncs(counter)-files, counter.Ops()[wholeSync]-trees
	began := time.Now()
	_, err = s.Save(ctx, retake.SaveRequest{Workspace: ws.ID})
	in.Warm = float64(time.Since(began).Microseconds()) / 1000
	return in, err
}

// wholeSync is the operation of the seam that writes a whole file system back.
const wholeSync = "Dir.SyncFS"

// fileSyncs counts what only the store does: syncs of single files and directories.
func fileSyncs(c *fsx.Counter) int64 {
	ops := c.Ops()
	return ops["Dir.Sync"] + ops["File.Sync"]
}
