package history

import (
	"context"
	"errors"
	"io/fs"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"

	"strings"

	"github.com/retake-dev/retake/internal/storage/catalog"
)

// FindEntry returns the entry at a path of a checkpoint, or nil if there is none.
func (s *History) FindEntry(ctx context.Context, cp retake.Checkpoint, name string) (*retake.Entry, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil, err
	}
	root := retake.Entry{Kind: retake.KindDir, Object: cp.Tree}
	e, err := tree.Find(ctx, st, root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &e, err
}

// findByCommit returns the first checkpoint whose commit starts with sha. Checkpoints
// without a summary are read one by one. They are listed before the others are searched, so
// that one that is summarized meanwhile is not missed.
func (s *History) findByCommit(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error) {
	bare, err := s.workspaces.Catalog.Bare(ctx, ws, 0, MaxMissingSummaries)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := s.workspaces.Catalog.ByHead(ctx, ws, sha)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return cp, err
	}
	for _, b := range bare { // newest first: the last match is the oldest
		if (err != nil || b.Number < cp.Number) && strings.HasPrefix(s.CheckedOutCommit(ctx, b), sha) {
			cp, err = b, nil
		}
	}
	return cp, err
}

const MaxMissingSummaries = 2000
