package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/retake-dev/retake/bench/around"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// looseFiles of the changed ones are edited again before some of the returns: a tool
// must keep that state before it may go back.
const looseFiles = 3

// returner is a tool that goes back. then keeps what is there as the checkpoint to go
// back to, now as a later one; both are outside the clock.
type returner struct {
	*field
	then, now func(ctx context.Context) error
	ways      []backWay
}

type backWay struct {
	name string
	run  func(ctx context.Context, loose bool) (went, error)
}

// went is what going back cost; apply is the part after the plan was shown, 0 where
// nobody can tell.
type went struct {
	usage
	apply float64
}

// trip is one kind of return, and the rows it fills.
type trip struct {
	key, apply record.Key
	title      string
	choose     func(int, uint64) []int
	loose      bool
	from       int
}

// back measures how a few changed files are taken back, with the state before that
// kept, and that nothing else is touched.
func (b *bench) back(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	plan := grow.Project(b.size.files, b.size.seed)
	all, err := b.returners(ctx, plan)
	if err != nil {
		return err
	}
	if err := b.describe(all[0].ws); err != nil {
		return err
	}
	for _, r := range all {
		if _, err := r.capture(ctx); err != nil {
			return err
		}
	}
	if err := b.trips(ctx, all, plan); err != nil {
		return err
	}
	if err := b.backSyncs(ctx, all[0], plan); err != nil {
		return err
	}
	for _, r := range all {
		if err := r.end(); err != nil {
			return err
		}
	}
	return nil
}

// returners are retake and, if it is there, git.
func (b *bench) returners(ctx context.Context, plan *grow.Plan) ([]*returner, error) {
	own, err := b.ownReturner(ctx, plan)
	if err != nil {
		return nil, err
	}
	all := []*returner{own}
	for _, k := range b.kits {
		if k.then == nil || k.back == nil {
			continue
		}
		r, err := b.peerReturner(ctx, k, plan)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	for _, m := range b.absent {
		if m.Name == record.Git {
			b.miss(m.Name, m.Why)
		}
	}
	b.fact("%d files changed in one checkpoint; going back makes all files match the one before it. In half of the rounds %d of them"+
		" were edited again since, and that state is kept first: retake takes its safety checkpoint, and git commits in every round.", b.size.edits, looseFiles)
	b.fact("retake: the plan and its application are two calls of the daemon. process: retake restore REF --yes --accept changed." +
		" git: add -A, write-tree, commit-tree, then diff-tree, and restore of the paths that it names.")
	b.fact("Before and after each return every path is looked at: one whose inode or time of change differs was touched.")
	return all, nil
}

func (b *bench) peerReturner(ctx context.Context, k *kit, plan *grow.Plan) (*returner, error) {
	f, err := b.peer(ctx, "project", k, plan, 0)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, argvs [][]string) (usage, error) {
		return b.steps(ctx, b.commands(k, f.home, f.ws, argvs))
	}
	return &returner{
		field: f,
		then:  func(ctx context.Context) error { _, err := run(ctx, k.then(f.home, f.ws)); return err },
		now:   func(ctx context.Context) error { _, err := run(ctx, k.save(f.home, f.ws)); return err },
		ways: []backWay{{k.name, func(ctx context.Context, _ bool) (went, error) {
			u, err := run(ctx, k.back(f.home, f.ws))
			return went{usage: u}, err
		}}},
	}, nil
}

// trips goes there and back. Two rounds are outside the clock: what a tool does only
// at its first return is done then, and its time stamps get older.
func (b *bench) trips(ctx context.Context, all []*returner, plan *grow.Plan) error {
	shared := trip{record.BackShared, record.BackSharedApply, "shared directories", plan.Shared, false, roundsBack}
	random := trip{record.BackRandom, record.BackRandomApply, "random places", plan.Random, false, roundsBack + 1000}
	both := [][2]trip{{shared, shared.after(record.LooseShared, record.LooseSharedApply)}, {random, random.after(record.LooseRandom, record.LooseRandomApply)}}
	b.tripRows(slices.Concat(both[0][:], both[1][:]))
	for k, t := range both {
		first := 0
		if k == 0 {
			first = -2
		}
		for i := first; i < 2*b.size.backs; i++ {
			for _, r := range turns(all, (i+2)/2) {
				if err := b.tripsOf(ctx, r, t[(i+2)%2], i); err != nil {
					return err
				}
			}
			if i == -1 {
				if err := pause(ctx, settle); err != nil {
					return err
				}
			}
		}
		say("going back, %s: done", t[0].title)
	}
	_, _, err := b.newHome(all[0].home, all[0].ws).tracks(ctx)
	return err
}

// tripRows begins the rows in the order in which they are read.
func (b *bench) tripRows(all []trip) {
	for _, t := range all {
		b.row("i", t.key, record.Millis, "%d files taken back, %s", b.size.edits, t.title)
		b.row("i", t.apply, record.Millis, "- without the plan")
	}
	b.row("i", record.BackMemory, record.Bytes, "memory of the process that goes back")
	b.row("i", record.BackTouched, record.Count, "paths touched besides these files and their directories, in one return")
}

// after is the same with edits that no checkpoint has yet.
func (t trip) after(key, apply record.Key) trip {
	t.key, t.apply, t.loose = key, apply, true
	t.title += fmt.Sprintf(", %d of them edited since", looseFiles)
	return t
}

// tripsOf lets each way of a tool go once; rounds below 0 do not count.
func (b *bench) tripsOf(ctx context.Context, r *returner, t trip, i int) error {
	order := make([]int, len(r.ways))
	for k := range order {
		order[k] = k
	}
	for _, k := range turns(order, (i+2)/2) {
		w := r.ways[k]
		got, touched, err := r.trip(ctx, w, t, uint64(t.from+i+2)+uint64(k)*otherWay)
		if err != nil {
			return fmt.Errorf("go back with %s: %w", w.name, err)
		}
		if i < 0 {
			continue
		}
		b.rec.Find(t.key).Add(w.name, got.millis)
		if got.apply > 0 {
			b.rec.Find(t.apply).Add(w.name, got.apply)
		}
		b.rec.Find(record.BackTouched).Add(w.name, float64(touched))
		addMemory(b.rec.Find(record.BackMemory), w.name, got.usage)
	}
	return ctx.Err()
}

// trip changes files in one checkpoint and takes them back. It answers how many other
// paths were touched, and an error when a file did not come back.
func (r *returner) trip(ctx context.Context, w backWay, t trip, round uint64) (got went, touched int, err error) {
	files := t.choose(r.b.size.edits, round)
	if err := r.then(ctx); err != nil {
		return got, 0, err
	}
	want, err := r.read(files)
	if err != nil {
		return got, 0, err
	}
	paths, err := r.edit(files, round)
	if err != nil {
		return got, 0, err
	}
	if err := r.now(ctx); err != nil {
		return got, 0, err
	}
	writeBack()
	if t.loose {
		if _, err := r.edit(files[:min(looseFiles, len(files))], round+sinceThen); err != nil {
			return got, 0, err
		}
	}
	before, err := around.Look(r.ws)
	if err != nil {
		return got, 0, err
	}
	if got, err = w.run(ctx, t.loose); err != nil {
		return got, 0, err
	}
	after, err := around.Look(r.ws)
	if err != nil {
		return got, 0, err
	}
	have, err := r.read(files)
	if err == nil && !slices.EqualFunc(want, have, bytes.Equal) {
		err = fmt.Errorf("the files are not as they were")
	}
	return got, before.Touched(after, paths), err
}

func (f *field) read(files []int) ([][]byte, error) {
	var out [][]byte
	for _, i := range files {
		text, err := os.ReadFile(filepath.Join(f.ws, filepath.FromSlash(f.plan.Path(i))))
		if err != nil {
			return nil, fmt.Errorf("read file: %w", err)
		}
		out = append(out, text)
	}
	return out, nil
}
