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

// addLost adds to a report the checkpoints that the catalog lists and the store has lost: those
// above its newest one. It returns how many.
func addLost(ctx context.Context, r *workspace.Registry, st store.Store, listed []retake.WorkspaceState, rep *retake.ScrubReport) (int, error) {
	heads, damage := st.Heads(ctx)
	if damage != nil && !errors.Is(damage, store.ErrDamaged) {
		return 0, damage
	}
	newest := map[retake.WorkspaceID]int64{}
	for _, h := range heads {
		newest[h.Workspace.ID] = h.Latest
	}
	lost := 0
	for _, w := range listed {
		held, ok := newest[w.ID]
		if !ok && damage != nil {
			continue // its history is reported as damaged
		}
		for back := int64(0); back < maxLost; back++ {
			cp, err := r.Catalog.Latest(ctx, w.ID, back)
			if errors.Is(err, catalog.ErrNotFound) {
				break
			}
			if err != nil {
				return lost, err
			}
			if cp.Number > w.Latest.Number { // saved since
				continue
			}
			if cp.Number <= held {
				break
			}
			lost++
			rep.Damaged = append(rep.Damaged, retake.DamagedPath{Workspace: w.ID, Number: cp.Number})
			rep.Failed = append(rep.Failed, fmt.Sprintf("%s %d: it is listed, and the store has lost it", w.Name, cp.Number))
		}
	}
	return lost, nil
}
