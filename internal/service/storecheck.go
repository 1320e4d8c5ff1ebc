package service

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Scrub reads the store back and checks it.
func (s *Service) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	st, err := s.store(ctx)
	if err != nil {
		return retake.ScrubReport{}, wrapError("the store cannot be opened", unchanged, err)
	}
	rep, err := st.Scrub(ctx, q)
	return rep, wrapError("the store cannot be read", unchanged, err)
}

// Sweep frees the bytes that no checkpoint needs.
func (s *Service) Sweep(ctx context.Context) (retake.SweepReport, error) {
	st, err := s.store(ctx)
	if err != nil {
		return retake.SweepReport{}, wrapError("the store cannot be opened", unchanged, err)
	}
	defer s.retention.markSpaceStale()
	rep, err := st.Sweep(ctx, store.SweepOptions{})
	return rep, wrapError("not all was given back", "All checkpoints are intact; run it again.", err)
}

// Prove lets an independent engine compute the ID of a checkpoint's tree. Entries that its
// format cannot express make the IDs differ; they are listed.
func (s *Service) Prove(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Proof, error) {
	cp, err := s.Find(ctx, ws, ref)
	if err != nil {
		return retake.Proof{}, err
	}
	p := retake.Proof{Checkpoint: cp, Ours: cp.Tree, Special: []string{}}
	st, err := s.store(ctx)
	if err != nil {
		return p, wrapError("the store cannot be opened", unchanged, err)
	}
	root, err := s.treeRoot(ctx, st, cp)
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
		return p, wrapError(fmt.Sprintf("checkpoint %d cannot be read", cp.Number), unchanged, err)
	}
	if p.Stock, p.By, err = st.Prove(ctx, root); err != nil {
		return p, wrapError("the proof was not made", unchanged, err)
	}
	p.Equal = p.Ours == p.Stock
	return p, nil
}
