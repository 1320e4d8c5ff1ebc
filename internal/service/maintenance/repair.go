package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// repairStore reads the whole store, drops what is damaged, and stores again what the workspaces
// still have. Checkpoints that the store has lost are not listed any more.
func repairStore(ctx context.Context, s *Maintenance, st store.Store, q retake.ScrubQuery) (retake.ScrubReport, error) {
	q.Share = 1
	listed, err := newestListed(ctx, s.workspaces)
	if err != nil {
		return retake.ScrubReport{}, err
	}
	before, err := st.Scrub(ctx, q)
	if err != nil {
		return before, workspace.WrapError("the store cannot be read", runAgain, err)
	}
	lost, err := findLost(ctx, s.workspaces, st, listed)
	if err == nil {
		err = buryLost(ctx, s.workspaces, lost)
	}
	if err != nil {
		return before, workspace.WrapError("repaired in part", runAgain, err)
	}
	after, err := restoreLostContent(ctx, s, st, q, before)
	if len(lost) > 0 && err == nil { // so that the newest state is in the store again
		err = workspace.WrapError("repaired in part", runAgain, saveAll(ctx, s))
	}
	addLost(&after, lost)
	return after, err
}

const runAgain = "No file of yours was changed; run it again."

// restoreLostContent saves every workspace, so that what still has the damaged bytes stores them
// again, and reads the store once more.
func restoreLostContent(ctx context.Context, s *Maintenance, st store.Store, q retake.ScrubQuery, before retake.ScrubReport) (retake.ScrubReport, error) {
	if len(before.Damaged) == 0 && st.Damage().Parts == 0 {
		return before, workspace.WrapError("the store cannot be read", workspace.Unchanged, noteDamage(ctx, s.workspaces, nil))
	}
	if err := st.Maintain(ctx); err != nil {
		return before, workspace.WrapError("not repaired", workspace.Unchanged, err)
	}
	saveErr := saveAll(ctx, s)
	if err := st.Maintain(ctx); err != nil {
		return before, workspace.WrapError("repaired in part", runAgain, err)
	}
	after, err := st.Scrub(ctx, q)
	if err == nil {
		err = noteDamage(ctx, s.workspaces, after.Damaged)
	}
	for _, d := range before.Damaged {
		if !slices.Contains(after.Damaged, d) {
			after.Repaired = append(after.Repaired, d)
		}
	}
	return after, workspace.WrapError("repaired in part", runAgain, errors.Join(err, saveErr))
}

// saveAll saves every workspace whose directory is there. A workspace that cannot be saved does
// not keep the others from it.
func saveAll(ctx context.Context, s *Maintenance) error {
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range all {
		if w.Ended != nil || s.workspaces.HabitsOf(w.ID).Paused {
			continue
		}
		_, err := s.checkpoints.Save(ctx, retake.SaveRequest{Workspace: w.ID, Trigger: retake.TriggerQuiet, IfChanged: true})
		if err != nil && !retake.IsKind(err, retake.NotFound) {
			errs = append(errs, fmt.Errorf("save %s: %w", w.Name, err))
		}
	}
	return errors.Join(errs...)
}

// maxNotedPaths bounds the mark of one workspace.
const maxNotedPaths = 10_000

// noteDamage remembers which checkpoints are damaged, as the last scrub found them.
func noteDamage(ctx context.Context, r *workspace.Registry, all []retake.DamagedPath) error {
	ctx = workspace.AsMaintainer(ctx)
	states, err := r.Catalog.Workspaces(ctx)
	if err != nil {
		return err
	}
	of := map[retake.WorkspaceID][]retake.DamagedPath{}
	for _, w := range states {
		of[w.ID] = nil
	}
	for _, d := range all {
		if len(of[d.Workspace]) < maxNotedPaths {
			of[d.Workspace] = append(of[d.Workspace], d)
		}
	}
	for id, list := range of {
		if err := workspace.SetDamagedPaths(ctx, r.Catalog, id, list); err != nil {
			return err
		}
	}
	return nil
}

// DamageState counts the damage of a workspace, or returns nil if none is known.
func DamageState(ctx context.Context, r *workspace.Registry, id retake.WorkspaceID) *retake.DamageState {
	all := workspace.DamagedPaths(ctx, r.Catalog, id)
	if len(all) == 0 {
		return nil
	}
	out := &retake.DamageState{Checkpoints: []int64{}, Paths: int64(len(all))}
	for _, d := range all {
		out.Checkpoints = append(out.Checkpoints, d.Number)
	}
	slices.Sort(out.Checkpoints)
	out.Checkpoints = slices.Compact(out.Checkpoints)
	return out
}

// nameDamage finds out which checkpoints need what the store has lost, or got back, since it was
// asked last.
func (c *upkeepLoops) nameDamage(ctx context.Context, st store.Store) error {
	d := st.Damage()
	if now := (knownDamage{d.Seq, d.Parts}); now != c.named {
		c.named = now // once, whatever comes of it: reading the whole structure takes long
		rep, err := st.Scrub(ctx, retake.ScrubQuery{})
		if err != nil {
			return err
		}
		return noteDamage(ctx, c.svc.workspaces, rep.Damaged)
	}
	return nil
}

// knownDamage is what was known of the damage of a store at some time.
type knownDamage struct {
	seq   int64
	parts int
}
