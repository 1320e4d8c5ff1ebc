package maintenance

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// maxLost bounds how many lost checkpoints of a workspace are named.
const maxLost = 1000

// newestListed returns the workspaces of the catalog that list checkpoints. It is asked before the
// store is read: a save adds to the store first.
func newestListed(ctx context.Context, r *workspace.Registry) ([]retake.WorkspaceState, error) {
	all, err := r.Catalog.Workspaces(ctx)
	var out []retake.WorkspaceState
	for _, w := range all {
		if w.Latest != nil && w.Ended == nil {
			out = append(out, w)
		}
	}
	return out, err
}

// findLost returns the checkpoints that the catalog lists and the store has lost: those above its
// newest one.
func findLost(ctx context.Context, r *workspace.Registry, st store.Store, listed []retake.WorkspaceState) ([]lostCheckpoint, error) {
	if len(listed) == 0 {
		return nil, nil
	}
	heads, damage := st.Heads(ctx)
	if damage != nil && !errors.Is(damage, store.ErrDamaged) {
		return nil, damage
	}
	if len(heads) == 0 { // the store would have lost everything: that is not for us to conclude
		return nil, errors.Join(store.ErrDamaged, damage)
	}
	newest := map[retake.WorkspaceID]int64{}
	for _, h := range heads {
		newest[h.Workspace.ID] = h.Latest
	}
	var out []lostCheckpoint
	for _, w := range listed {
		held, ok := newest[w.ID]
		if !ok {
			continue // its history is reported as damaged, or it was just erased
		}
		for back := int64(0); back < maxLost; back++ {
			cp, err := r.Catalog.Latest(ctx, w.ID, back)
			if errors.Is(err, catalog.ErrNotFound) {
				break
			}
			if err != nil {
				return nil, err
			}
			if cp.Number <= held {
				break
			}
			if cp.Number <= w.Latest.Number { // else it was saved since
				out = append(out, lostCheckpoint{cp, w.Name})
			}
		}
	}
	return out, nil
}

// lostCheckpoint is a checkpoint that is listed and not in the store.
type lostCheckpoint struct {
	retake.Checkpoint
	name string // of its workspace
}

// addLost adds lost checkpoints to a report.
func addLost(rep *retake.ScrubReport, lost []lostCheckpoint) {
	for _, cp := range lost {
		rep.Damaged = append(rep.Damaged, retake.DamagedPath{Workspace: cp.Workspace, Number: cp.Number})
		rep.Failed = append(rep.Failed, fmt.Sprintf("%s %d: it is listed, and the store has lost it", cp.name, cp.Number))
	}
}

// buryLost removes lost checkpoints from the lists. Their numbers are not given again.
func buryLost(ctx context.Context, r *workspace.Registry, lost []lostCheckpoint) error {
	ctx = workspace.AsMaintainer(ctx)
	for _, cp := range lost {
		if err := workspace.NoteLastNumber(ctx, r, cp.Workspace, cp.Number); err != nil {
			return err
		}
		stone := retake.Tombstone{Number: cp.Number, ID: cp.ID, Parent: cp.Parent, Time: cp.Time, At: r.Clock.Now()}
		if err := r.Catalog.Bury(ctx, cp.Workspace, []retake.Tombstone{stone}); err != nil {
			return err
		}
	}
	return nil
}
