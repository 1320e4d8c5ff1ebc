package workspace

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
)

func (s *Registry) SaveIndex(ws retake.WorkspaceID, d *capture.Draft) error {
	dir, err := s.FS.OpenRoot(s.IndexDir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return d.Save(dir, IndexFileName(ws))
}

// loadIndex loads the stat index if it belongs to the parent. Otherwise it is built from
// the tree, and every file is read.
func (s *Registry) loadIndex(ctx context.Context, ws retake.WorkspaceID, parent *retake.Checkpoint) (*capture.Index, error) {
	if parent == nil {
		return capture.NewIndex(), nil
	}
	st, err := s.Store(ctx)
	if err != nil {
		return nil, err
	}
	if dir, err := s.FS.OpenRoot(s.IndexDir); err == nil {
		x, lerr := capture.LoadIndex(dir, IndexFileName(ws), func(seal capture.Seal) bool {
			return seal.Checkpoint == parent.ID && seal.Tree == parent.Tree
		})
		if err := dir.Close(); err == nil && lerr == nil && x.Seal().Checkpoint != "" {
			return x, nil
		}
	}
	leaf, err := st.Record(ctx, ws, parent.Number)
	if err != nil {
		return nil, err
	}
	return capture.IndexOfTree(ctx, st, leaf.Files, capture.Seal{Checkpoint: parent.ID, Number: parent.Number, Tree: parent.Tree})
}
