package maintenance

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// SpacePlan returns what the next cleanup would do. It changes nothing.
func (s *Maintenance) SpacePlan(ctx context.Context) (retake.SpacePlan, error) {
	out, err := s.buildSpacePlan(ctx)
	return out, workspace.WrapError("the store cannot be measured", workspace.Unchanged, err)
}

// buildSpacePlan measures the store and lists the checkpoints that the next cleanup drops.
func (s *Maintenance) buildSpacePlan(ctx context.Context) (retake.SpacePlan, error) {
	out := retake.SpacePlan{Workspaces: []retake.WorkspaceSpace{}, Drops: []retake.Drop{}}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return out, err
	}
	r, err := s.measureSpace(ctx, st)
	if err != nil {
		return out, err
	}
	out.Store, out.Budget, out.Need = r.StoreState, r.budget, r.need
	lines, closed, err := s.evaluateAll(ctx)
	if err != nil {
		return out, err
	}
	for _, l := range lines {
		out.Workspaces = append(out.Workspaces, s.workspaceSpace(l))
	}
	for _, id := range slices.Sorted(maps.Keys(closed)) {
		w := s.workspaceSpace(retention.History{Workspace: id})
		w.Closed = closed[id]
		out.Workspaces = append(out.Workspaces, w)
	}
	if out.Garbage, _, err = s.estimateGarbage(ctx); err != nil {
		return out, err
	}
	part, err := s.freedShare(ctx, lines, r.Bytes)
	if err != nil {
		return out, err
	}
	out.Drops = planDrops(lines, r, out.Garbage, part)
	for _, d := range out.Drops {
		out.Frees += d.Bytes
	}
	out.Garbage = min(out.Garbage, r.Bytes)
	out.Frees = min(out.Frees+out.Garbage, r.Bytes)
	notes, err := s.loadCleanupState(ctx)
	out.Last = notes.Last
	return out, err
}

// planDrops lists what is dropped for its age, and what must go beyond that to free space.
func planDrops(lines []retention.History, r spaceState, garbage int64, part float64) []retake.Drop {
	out := []retake.Drop{}
	var sum int64
	add := func(d retention.Drop, why string) {
		bytes := int64(float64(d.Bytes) * part)
		sum += bytes
		out = append(out, retake.Drop{Workspace: d.Workspace, Checkpoint: d.ID, Number: d.Number, Time: d.Time, Why: why, Bytes: bytes, Named: d.Level == retention.Kept})
	}
	for _, d := range retention.Expired(lines) {
		add(d, "age")
	}
	if left := r.bytesToFree - garbage - sum; r.isUrgent() && left > 0 {
		for _, d := range retention.SelectToFree(lines, int64(float64(r.bytesToFree-garbage)/part), r.dropLevel()) {
			if d.Level > retention.Loose {
				add(d, string(r.need))
			}
		}
	}
	return out
}

const spaceDays = 30

// workspaceSpace counts the checkpoints of a workspace by day and by what keeps them.
func (s *Maintenance) workspaceSpace(l retention.History) retake.WorkspaceSpace {
	out := retake.WorkspaceSpace{Workspace: l.Workspace, Days: make([]int64, spaceDays), Brought: make([]int64, spaceDays), Within: s.keepWithin(l.Workspace), GoneAfter: s.removeAfter(l.Workspace), Kept: []retake.KeptFor{}}
	today := s.workspaces.Clock.Now().UTC().Truncate(24 * time.Hour)
	for _, v := range l.Verdicts {
		ago := int(today.Sub(v.Time.UTC().Truncate(24*time.Hour)) / (24 * time.Hour))
		if ago >= 0 && ago < spaceDays {
			out.Days[spaceDays-1-ago]++
			if v.Trigger != retake.TriggerInit && v.Trigger != retake.TriggerFork {
				out.Brought[spaceDays-1-ago] += v.Bytes
			}
		}
		if v.Why == retention.None {
			continue
		}
		i := slices.IndexFunc(out.Kept, func(k retake.KeptFor) bool { return k.Why == string(v.Why) })
		if i < 0 {
			i = len(out.Kept)
			out.Kept = append(out.Kept, retake.KeptFor{Why: string(v.Why), Always: v.Level == retention.Always})
		}
		out.Kept[i].Count++
	}
	return out
}

// maxThinRounds bounds a cleanup that frees too little; thinLockWait is how long it waits
// for a busy workspace.
const (
	maxThinRounds = 100
	thinLockWait  = 5 * time.Second
)

// Thin runs the next cleanup now, with a complete sweep.
func (s *Maintenance) Thin(ctx context.Context, req retake.ThinRequest) (retake.ThinReport, error) {
	const partly = "All listed checkpoints are intact; run it again."
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return retake.ThinReport{}, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	b := &s.retention
	if end := b.cancelCleanup.Load(); end != nil {
		(*end)() // the background cleanup
	}
	b.cleanupMu.Lock()
	defer b.cleanupMu.Unlock()
	rep, err := s.thinUntilDone(ctx, st, req)
	return rep, workspace.WrapError("not all was given back", partly, err)
}

// thinUntilDone drops and sweeps in rounds until there is enough space or nothing more can
// go.
func (s *Maintenance) thinUntilDone(ctx context.Context, st store.Store, req retake.ThinRequest) (retake.ThinReport, error) {
	var out retake.ThinReport
	s.confirmClock(ctx)
	for round := range maxThinRounds {
		r, err := s.measureSpace(ctx, st)
		if err != nil {
			return out, err
		}
		went, err := s.thinRound(ctx, r, out.Forgotten, req.Progress)
		if err != nil {
			return out, err
		}
		out.Forgotten += went
		rep, err := s.sweepAndRecord(ctx, st, store.SweepOptions{}, new(bool))
		if err != nil {
			return out, err
		}
		out.Sweep = mergeSweeps(out.Sweep, rep)
		if r, err = s.measureSpace(ctx, st); err != nil {
			return out, err
		}
		out.Over = 0
		if r.budget > 0 {
			out.Over = max(rep.After-r.budget, 0)
		}
		if !r.isUrgent() || went == 0 && round > 0 { // the first round may have expected garbage that was not there
			return out, nil
		}
	}
	return out, nil
}

// thinRound drops what the plan lists now and reports progress.
func (s *Maintenance) thinRound(ctx context.Context, r spaceState, before int64, progress func(retake.Progress)) (int64, error) {
	drops, err := s.selectPlannedDrops(ctx, r)
	if err != nil || len(drops) == 0 {
		return 0, err
	}
	return s.dropCheckpoints(ctx, drops, dropOptions{level: r.dropLevel(), lockWait: thinLockWait, onProgress: func(n int64) {
		if progress != nil {
			progress(retake.Progress{Files: before + n, Total: before + int64(len(drops))})
		}
	}})
}

// selectPlannedDrops returns all drops that the space plan lists.
func (s *Maintenance) selectPlannedDrops(ctx context.Context, r spaceState) ([]retention.Drop, error) {
	lines, _, err := s.evaluateAll(ctx)
	if err != nil {
		return nil, err
	}
	garbage, _, err := s.estimateGarbage(ctx)
	if err != nil {
		return nil, err
	}
	part, err := s.freedShare(ctx, lines, r.Bytes)
	if err != nil {
		return nil, err
	}
	named := map[retake.CheckpointID]bool{}
	for _, d := range planDrops(lines, r, garbage, part) {
		named[d.Checkpoint] = true
	}
	all := retention.SelectToFree(lines, allBytes, r.dropLevel())
	return slices.DeleteFunc(all, func(d retention.Drop) bool { return !named[d.ID] }), nil
}

// mergeSweeps returns two sweep reports as one.
func mergeSweeps(a, b retake.SweepReport) retake.SweepReport {
	if a.Before == 0 {
		return b
	}
	return retake.SweepReport{Before: a.Before, After: b.After, Peak: max(a.Peak, b.Peak), Took: a.Took + b.Took}
}
