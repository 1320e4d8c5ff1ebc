package maintenance

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Scrub reads the store back and checks it. What is damaged is not reused any more.
func (s *Maintenance) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	if !(q.Share >= 0 && q.Share <= 1) { // also if it is no number
		return retake.ScrubReport{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("the share %v is not between 0 and 1", q.Share), Safe: workspace.Unchanged}
	}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return retake.ScrubReport{}, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	if q.Repair {
		return repairStore(ctx, s, st, q)
	}
	listed, err := newestListed(ctx, s.workspaces)
	if err != nil {
		return retake.ScrubReport{}, workspace.WrapError("the catalog cannot be read", workspace.Unchanged, err)
	}
	rep, err := st.Scrub(ctx, q)
	if err == nil && len(rep.Damaged) > 0 {
		err = st.Maintain(ctx) // so that the next save stores again what it has
	}
	if err == nil {
		var lost []lostCheckpoint
		lost, err = findLost(ctx, s.workspaces, st, listed)
		addLost(&rep, lost)
	}
	if err == nil {
		err = noteDamage(ctx, s.workspaces, rep.Damaged)
	}
	return rep, workspace.WrapError("the store cannot be read", workspace.Unchanged, err)
}

// Sweep frees the bytes that no checkpoint needs.
func (s *Maintenance) Sweep(ctx context.Context) (retake.SweepReport, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return retake.SweepReport{}, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	s.retention.cleanupMu.Lock()
	defer s.retention.cleanupMu.Unlock()
	defer s.retention.markSpaceStale()
	rep, err := st.Sweep(ctx, store.SweepOptions{})
	return rep, workspace.WrapError("not all was given back", "All checkpoints are intact; run it again.", err)
}

// Prove lets an independent engine compute the ID of a checkpoint's tree. Entries that its
// format cannot express make the IDs differ; they are listed.
func (s *Maintenance) Prove(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Proof, error) {
	cp, err := s.history.Find(ctx, ws, ref)
	if err != nil {
		return retake.Proof{}, err
	}
	p := retake.Proof{Checkpoint: cp, Ours: cp.Tree, Special: []string{}}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return p, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	root, err := s.history.TreeRoot(ctx, st, cp)
	if err != nil {
		return p, err
	}
	err = tree.Walk(ctx, st, root, func(path string, e retake.Entry) error {
		if e.Extra != nil || e.Kind == retake.KindFIFO || e.Kind == retake.KindSocket || !utf8.ValidString(e.Name) {
			p.Special = append(p.Special, path)
		}
		return nil
	})
	if err != nil {
		return p, workspace.WrapError(fmt.Sprintf("checkpoint %d cannot be read", cp.Number), workspace.Unchanged, err)
	}
	if p.Stock, p.By, err = st.Prove(ctx, root); err != nil {
		return p, workspace.WrapError("the proof was not made", workspace.Unchanged, err)
	}
	p.Equal = p.Ours == p.Stock
	return p, nil
}

// Space measures the store and its disk.
func (s *Maintenance) Space(ctx context.Context) (retake.StoreState, error) {
	var out retake.StoreState
	st, err := s.workspaces.Store(ctx)
	if err == nil {
		out.Bytes, err = st.Size(ctx)
	}
	if err == nil {
		out.Free, out.Floor, err = s.workspaces.DiskSpace()
	}
	return out, workspace.WrapError("the store cannot be measured", workspace.Unchanged, err)
}
