//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assemble"
	"github.com/retake-dev/retake/internal/track"
)

func init() { register("G10-tracked", noChangeUntold) }

// noChangeUntold does the same to the assembly of the daemon, where a save looks
// only where the tracker told. After each round three are compared: what was saved,
// what a look at everything finds, and the files themselves.
func noChangeUntold(r *run) []verdict {
	fan := verdict{Guarantee: "G10", What: "no edit is missed by the tracker, fanotify", Detail: map[string]any{}}
	ino := verdict{Guarantee: "G10", What: "no edit is missed by the tracker, inotify", Detail: map[string]any{}}
	kinds := append(append(append([]editKind{}, plainEdits...), mapEdits...), treeEdits...)
	total := r.figure(1_500, 50_000)
	for i, p := range []struct {
		v     *verdict
		mode  retake.TrackingMode
		kind  string
		edits int
	}{
		{&fan, retake.TrackingFanotify, "disk", total * 5 / 10}, {&fan, retake.TrackingFanotify, "xfs", total * 3 / 10},
		{&fan, retake.TrackingFanotify, "tmpfs", total * 2 / 10},
		{&ino, retake.TrackingInotify, "disk", total * 4 / 10}, {&ino, retake.TrackingInotify, "btrfs", total * 2 / 10},
		{&ino, retake.TrackingInotify, "overlay", total * 2 / 10}, {&ino, retake.TrackingInotify, "tmpfs", total * 2 / 10},
	} {
		p.v.Control = "a checkpoint that lacks one edit is found by the comparison"
		e := editor{r: r, v: p.v, kind: p.kind, mode: p.mode, kinds: kinds, rnd: rand.New(rand.NewSource(r.seed + 100 + int64(i))), by: map[string]int{}}
		start := time.Now()
		if err := e.try(p.edits); err != nil {
			p.v.fail("%s: %v", p.kind, err)
		}
		p.v.Seconds += time.Since(start).Seconds()
		p.v.Detail[p.kind] = map[string]any{
			"edits": e.by, "rounds": e.rounds, "differences": e.missed,
			"looked_at_everything": e.track.Doubts, "told": e.track.Events,
		}
	}
	return []verdict{fan, ino}
}

// assembly is the daemon's when a tracker is asked for.
func (e *editor) assembly() assemble.Options {
	o := assemble.Options{Derivation: derivation}
	if e.mode != "" {
		o.Sole, o.Track = true, track.Options{Only: e.mode, TrustOthers: true}
	}
	return o
}

// agree lets the service compare all files with what its tracker told.
func (e *editor) agree(ctx context.Context) error {
	if e.mode == "" {
		return nil
	}
	c, err := e.shop.svc.CrossCheck(ctx, e.ws)
	if err != nil {
		return err
	}
	if len(c.Missed) > 0 {
		e.missed += len(c.Missed)
		e.v.fail("%s round %d: not told of %v", e.kind, e.rounds, c.Missed[:min(3, len(c.Missed))])
	}
	st, err := e.shop.svc.Status(ctx, e.ws)
	e.track = st.Tracking
	return err
}

// unseen is the control: the comparison must see that a save before an edit does not
// hold it, and a cross-check that no tracker told of it when none did.
func (e *editor) unseen(ctx context.Context) error {
	if e.mode == "" {
		return nil
	}
	res, err := e.shop.svc.Save(ctx, retake.SaveRequest{Workspace: e.ws})
	if err != nil {
		return err
	}
	blind := editor{v: &verdict{}, root: e.root, shop: e.shop, kind: e.kind}
	if err := errors.Join(e.overwriteBack(e.file()), blind.hold(ctx, res.Checkpoint)); err != nil {
		return err
	}
	e.v.Caught += blind.v.Failed
	return nil
}

// treeEdits change directories as a whole, in a place of their own.
var treeEdits = []editKind{
	{"make directories and write at once", (*editor).makeTree}, {"rename a directory", (*editor).moveTree},
	{"delete a directory", (*editor).deleteTree}, {"more than a queue holds", (*editor).burst},
}

func (e *editor) tree() string { return fmt.Sprintf("%s/tree/t%d", e.root, e.rnd.Intn(5)) }

func (e *editor) makeTree(string) error {
	dir := fmt.Sprintf("%s/a%d/b/c", e.tree(), e.rnd.Intn(3))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(dir+"/f", e.noise(), 0o644), os.WriteFile(filepath.Dir(dir)+"/g", e.noise(), 0o644))
}

func (e *editor) moveTree(string) error {
	from, to := e.tree(), e.tree()
	if err := os.RemoveAll(to); err != nil || from == to {
		return err
	}
	if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (e *editor) deleteTree(string) error { return os.RemoveAll(e.tree()) }

// burst makes more events than an inotify queue holds; rarely, because it takes long.
func (e *editor) burst(p string) error {
	if e.rnd.Intn(150) > 0 {
		return e.makeTree(p)
	}
	dir := e.root + "/burst"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range 9000 {
		if err := os.WriteFile(fmt.Sprintf("%s/%d", dir, i), nil, 0o644); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
