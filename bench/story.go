package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

const (
	installPackages = 80
	installFiles    = 1200
	storyWait       = 30 * time.Second
	storyPoll       = 2 * time.Millisecond   // between two looks for one: each of them is work for the daemon too
	storyCalm       = 500 * time.Millisecond // after a story: the store is tended by then
	storyRest       = 11 * time.Second       // a reader that nobody needs has ended by then
	storyRests      = 3
	savesARow       = 5 // saves of one batch of the tax
)

// storied is a workspace of the daemon whose checkpoints are told.
type storied struct {
	b *bench
	h *home
	f *field
}

// stories measures when it can be read what really changed, and what a save pays for it.
func (b *bench) stories(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	f, err := b.tracked(ctx, "project", record.Retake, grow.Project(b.size.files, b.size.seed))
	if err != nil {
		return err
	}
	k := &storied{b: b, h: b.newHome(f.home, f.ws), f: f}
	b.closers = append(b.closers, k.h.hangUp, func() error { return os.RemoveAll(k.site()) })
	if err := k.prepare(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{k.edited, k.rested, k.installed, k.taxed, k.reset} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return b.screens(ctx)
}

func (k *storied) site() string { return filepath.Join(k.f.ws, "site") }

func (k *storied) prepare(ctx context.Context) error {
	b := k.b
	if err := os.RemoveAll(k.site()); err != nil { // of a workspace that is kept
		return fmt.Errorf("remove install: %w", err)
	}
	if err := b.describe(k.f.ws); err != nil {
		return err
	}
	b.fact("A story is told when the list of checkpoints has its gist: from the answer of the save until an answer that holds it, asked for every %s over the socket.", storyPoll)
	if _, err := k.f.capture(ctx); err != nil {
		return err
	}
	if err := k.h.settled(ctx); err != nil {
		return err
	}
	if _, _, err := k.h.tracks(ctx); err != nil {
		return err
	}
	if err := k.h.dialed(ctx)(nil); err != nil {
		return err
	}
	_, _, err := k.checkpoint(ctx, k.f.plan.Random(b.size.edits, roundsStory+999), roundsStory+999) // what is done only once is done here
	return err
}

// save takes a checkpoint, and says how long the answer took.
func (k *storied) save(ctx context.Context) (retake.Checkpoint, float64, error) {
	start := time.Now()
	res, err := k.h.svc.Save(ctx, retake.SaveRequest{Workspace: k.h.id, Intent: "round", Trigger: retake.TriggerManual})
	return res.Checkpoint, millis(start), err
}

func millis(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// told waits for the gist of the newest checkpoint, and says how long that took.
func (k *storied) told(ctx context.Context, id retake.CheckpointID) (retake.Gist, float64, error) {
	for start := time.Now(); ; {
		t, err := k.h.svc.Log(ctx, retake.LogQuery{Workspace: k.h.id, Limit: 1})
		if err != nil {
			return retake.Gist{}, 0, err
		}
		if g := t.Findings[id].Gist; g != nil && g.V > 0 {
			return *g, millis(start), nil
		}
		if time.Since(start) > storyWait {
			return retake.Gist{}, 0, fmt.Errorf("wait for a story: none after %s", storyWait)
		}
		if err := pause(ctx, storyPoll); err != nil {
			return retake.Gist{}, 0, err
		}
	}
}

// checkpoint edits, saves, and waits until it is told.
func (k *storied) checkpoint(ctx context.Context, files []int, round uint64) (id retake.CheckpointID, took float64, err error) {
	writeBack()
	if _, err := k.f.edit(files, round); err != nil {
		return "", 0, err
	}
	cp, _, err := k.save(ctx)
	if err != nil {
		return "", 0, err
	}
	g, took, err := k.told(ctx, cp.ID)
	if err == nil && g.Counts.Edited < int64(len(files)) {
		err = fmt.Errorf("read story: %d files were edited, %d are told", len(files), g.Counts.Edited)
	}
	return cp.ID, took, err
}

// edited measures the story of a few files, and the call that tells it in full.
func (k *storied) edited(ctx context.Context) error {
	b := k.b
	for i := range b.size.rounds {
		for _, e := range turns([]edits{
			{key: record.StoryShared, title: "shared directories", choose: k.f.plan.Shared, from: roundsStory},
			{key: record.StoryRandom, title: "random places", choose: k.f.plan.Random, from: roundsStory + 1000},
		}, i) {
			at := uint64(e.from + i)
			id, took, err := k.checkpoint(ctx, e.choose(b.size.edits, at), at)
			if err != nil {
				return err
			}
			b.row("l", e.key, record.Millis, "until it is told, %d files changed, %s", b.size.edits, e.title).Add(record.Retake, took)
			for _, key := range []record.Key{record.StoryCall, record.StoryAgain} {
				start := time.Now()
				st, err := k.h.svc.Story(ctx, retake.DiffQuery{Workspace: k.h.id, To: string(id)})
				if err != nil || st.Counts.Edited < int64(b.size.edits) {
					return fmt.Errorf("read story: %d files are told: %w", st.Counts.Edited, err)
				}
				b.row("l", key, record.Millis, "%s", map[record.Key]string{record.StoryCall: "the story in full, one call", record.StoryAgain: "- the same call again"}[key]).Add(record.Retake, millis(start))
			}
			if err := pause(ctx, storyCalm); err != nil {
				return err
			}
		}
	}
	say("stories: %.1f ms, %.1f ms", median(b.rec.Find(record.StoryShared)), median(b.rec.Find(record.StoryRandom)))
	return nil
}

func median(w *record.Row) float64 {
	v, _ := w.Median(record.Retake)
	return v
}

// rested is the first story after a pause: a reader has to start, and the machine around
// the workspace is looked at.
func (k *storied) rested(ctx context.Context) error {
	times := storyRests
	if k.b.quick {
		times = 1
	}
	for i := range times {
		if err := pause(ctx, storyRest); err != nil {
			return err
		}
		at := uint64(roundsStory + 2000 + i)
		_, took, err := k.checkpoint(ctx, k.f.plan.Random(k.b.size.edits, at), at)
		if err != nil {
			return err
		}
		k.b.row("l", record.StoryRested, record.Millis, "- random places, after %.0f s in which nothing happened", storyRest.Seconds()).Add(record.Retake, took)
	}
	return nil
}

// installed measures the story of an install. It is removed again after each.
func (k *storied) installed(ctx context.Context) error {
	b := k.b
	row := b.row("l", record.StoryInstall, record.Millis, "until an install of %d packages in %d files is told", installPackages, installFiles)
	for i := range b.size.rounds {
		if err := grow.Install(k.site(), installPackages, installFiles, b.size.seed, uint64(i)); err != nil {
			return err
		}
		cp, saved, err := k.save(ctx)
		if err != nil {
			return err
		}
		g, took, err := k.told(ctx, cp.ID)
		if err != nil {
			return err
		}
		if err := k.names(ctx, cp.ID, g); err != nil {
			return err
		}
		row.Add(record.Retake, took)
		b.row("l", record.StoryInstallSave, record.Millis, "- the save before it").Add(record.Retake, saved)
		if err := k.uninstall(ctx); err != nil {
			return err
		}
	}
	say("story of an install: %.1f ms", median(row))
	return nil
}

// names looks whether a story tells every package of the install.
func (k *storied) names(ctx context.Context, id retake.CheckpointID, g retake.Gist) error {
	st, err := k.h.svc.Story(ctx, retake.DiffQuery{Workspace: k.h.id, To: string(id)})
	if err != nil {
		return err
	}
	packages := 0
	for _, f := range st.Facts {
		if f.Kind == retake.FactPackage && f.What == retake.Added {
			packages++
		}
	}
	if packages != installPackages || !slices.ContainsFunc(g.Points, func(p retake.Point) bool { return p.Theme == retake.ThemePackages }) {
		return fmt.Errorf("read story: %d of %d packages are told, the gist is %q", packages, installPackages, g.Lead)
	}
	return nil
}

func (k *storied) uninstall(ctx context.Context) error {
	if err := os.RemoveAll(k.site()); err != nil {
		return fmt.Errorf("remove install: %w", err)
	}
	cp, _, err := k.save(ctx)
	if err != nil {
		return err
	}
	if _, _, err = k.told(ctx, cp.ID); err != nil {
		return err
	}
	return pause(ctx, storyCalm)
}

// taxed compares saves that are far apart with saves that follow each other at once, while
// what they changed is told behind them.
func (k *storied) taxed(ctx context.Context) error {
	b := k.b
	idle := b.row("l", record.StoryIdle, record.Millis, "save of %d files, nothing is told meanwhile", b.size.edits)
	busy := b.row("l", record.StoryBusy, record.Millis, "- back to back, stories are told meanwhile")
	for i := range b.size.rounds {
		for _, w := range turns([]*record.Row{idle, busy}, i) {
			if err := k.batch(ctx, w, w == idle, uint64(i*savesARow)); err != nil {
				return err
			}
		}
	}
	low, high := median(idle), median(busy)
	b.fact("There is no switch that turns stories off. Saves far apart, when nothing is told, take %.1f ms in the middle; back to back, with stories told behind them, %.1f ms: %.2f×.", low, high, high/low)
	return nil
}

func (k *storied) batch(ctx context.Context, w *record.Row, apart bool, round uint64) error {
	writeBack()
	for j := range uint64(savesARow) {
		at := uint64(roundsStory+3000) + round + j
		if !apart {
			at += 1000
		}
		if _, err := k.f.edit(k.f.plan.Shared(k.b.size.edits, at), at); err != nil {
			return err
		}
		cp, took, err := k.save(ctx)
		if err != nil {
			return err
		}
		w.Add(record.Retake, took)
		if !apart && j < savesARow-1 {
			continue
		}
		if _, _, err := k.told(ctx, cp.ID); err != nil {
			return err
		}
		if err := pause(ctx, storyCalm); err != nil {
			return err
		}
	}
	return nil
}

// reset ends the daemon before the next part begins.
func (k *storied) reset(context.Context) error {
	if err := k.h.hangUp(); err != nil {
		return err
	}
	return k.f.end()
}
