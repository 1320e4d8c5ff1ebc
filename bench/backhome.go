package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/bench/strace"
)

// ownReturner is retake with its daemon, called and as a whole process.
func (b *bench) ownReturner(ctx context.Context, plan *grow.Plan) (*returner, error) {
	f, err := b.tracked(ctx, "project", record.Retake, plan)
	if err != nil {
		return nil, err
	}
	h := b.newHome(f.home, f.ws)
	f.end = h.stop
	b.closers = append(b.closers, h.hangUp)
	var ref string
	r := &returner{field: f}
	r.then = func(ctx context.Context) error {
		if err := h.dialed(ctx)(nil); err != nil {
			return err
		}
		cp, err := h.checkpoint(ctx)
		ref = strconv.FormatInt(cp.Number, 10)
		return err
	}
	r.now = func(ctx context.Context) error { _, err := h.checkpoint(ctx); return err }
	r.ways = []backWay{
		{record.Retake, func(ctx context.Context, loose bool) (went, error) { return h.goBack(ctx, ref, loose) }},
		{record.Process, func(ctx context.Context, _ bool) (went, error) {
			u, err := h.process("restore", ref, "--yes", "--accept", retake.ObstacleChanged, "--no-input")(ctx)
			return went{usage: u}, err
		}},
	}
	return r, nil
}

// checkpoint saves through the service and answers the checkpoint.
func (h *home) checkpoint(ctx context.Context) (retake.Checkpoint, error) {
	res, err := h.svc.Save(ctx, retake.SaveRequest{Workspace: h.id, Intent: "round", Trigger: retake.TriggerManual})
	return res.Checkpoint, err
}

// goBack plans and applies through the service. A return that is not exactly the
// edited files, or that took no safety checkpoint where there was something to keep,
// is none that may be measured.
func (h *home) goBack(ctx context.Context, ref string, loose bool) (went, error) {
	req := retake.PlanRequest{Workspace: h.id, Course: retake.CourseRestore, Ref: ref}
	var plan retake.Plan
	var res retake.RestoreResult
	planned, err := timed(func(ctx context.Context) (err error) {
		plan, err = h.svc.PlanRestore(ctx, req)
		return err
	})(ctx)
	if err != nil {
		return went{}, err
	}
	applied, err := timed(func(ctx context.Context) (err error) {
		res, err = h.svc.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: []string{retake.ObstacleChanged}})
		return err
	})(ctx)
	if err != nil {
		return went{}, err
	}
	n := h.b.size.edits
	switch {
	case plan.Total() != n || len(plan.Writes) != n || res.Written != n || len(res.Failed) > 0 || len(plan.Keeps) > 0:
		err = fmt.Errorf("%d files were edited, %d planned, %d written, %d failed, %d kept", n, plan.Total(), res.Written, len(res.Failed), len(plan.Keeps))
	case loose == plan.Safety.There || loose != (res.Safety.Trigger == retake.TriggerSafety):
		err = fmt.Errorf("edited since the last checkpoint: %v, and the safety checkpoint is of %s", loose, res.Safety.Trigger)
	}
	return went{usage: usage{millis: planned.millis + applied.millis}, apply: applied.millis}, err
}

// backSyncs counts how often going back waits for the disk.
func (b *bench) backSyncs(ctx context.Context, r *returner, plan *grow.Plan) error {
	if b.strace == "" {
		b.miss(record.Strace, "not on the path; fsyncs of the daemon are not counted")
		return nil
	}
	st, err := b.newHome(r.home, r.ws).daemon(ctx)
	if err != nil {
		return err
	}
	for i := range min(b.size.backs, 3) {
		var got strace.Syncs
		way := backWay{record.Retake, func(ctx context.Context, loose bool) (w went, err error) {
			got, err = b.watch(ctx, st.About.PID, r.store, func() error { w, err = r.ways[0].run(ctx, loose); return err })
			return w, err
		}}
		_, _, err := r.trip(ctx, way, trip{choose: plan.Random, loose: true}, uint64(roundsHeld+i))
		if errors.Is(err, errNoTrace) {
			b.miss(record.Strace, "it cannot attach here; fsyncs of the daemon are not counted")
			return nil
		}
		if err != nil {
			return err
		}
		b.row("i", record.BackSyncs, record.Count, "fsyncs of one return with edits to keep, random places, seen by strace").Add(record.Retake, got.Store.Calls+got.Rest.Calls)
		b.row("i", record.BackSyncsStore, record.Count, "- those of the store").Add(record.Retake, got.Store.Calls)
		b.row("i", record.BackSyncsTree, record.Count, "- write-backs of the workspace beside them").Add(record.Retake, got.Whole.Calls)
		b.row("i", record.BackSyncsWait, record.Millis, "- waits of all these, added up").Add(record.Retake, got.Store.Millis+got.Rest.Millis+got.Whole.Millis)
	}
	return nil
}
