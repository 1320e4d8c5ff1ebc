package history

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Diff compares two checkpoints, or a checkpoint with the live files.
func (s *History) Diff(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	if q.To == "" || q.To == LiveRef {
		return s.diffLive(ctx, q)
	}
	to, err := s.Find(ctx, q.Workspace, q.To)
	if err != nil {
		return retake.Comparison{}, err
	}
	return s.DiffCheckpoints(ctx, q, to)
}

// DiffCheckpoints compares a checkpoint with the requested one or its parent.
func (s *History) DiffCheckpoints(ctx context.Context, q retake.DiffQuery, to retake.Checkpoint) (retake.Comparison, error) {
	cmp := retake.Comparison{To: &to, Changes: []retake.Change{}}
	var from *retake.Entry
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return cmp, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	if cmp.From, err = s.DiffBase(ctx, q, to); err != nil {
		return cmp, err
	}
	if cmp.From != nil {
		e, err := s.TreeRoot(ctx, st, *cmp.From)
		if err != nil {
			return cmp, err
		}
		from = &e
	}
	after, err := s.TreeRoot(ctx, st, to)
	if err != nil {
		return cmp, err
	}
	last, err := decodeCursor(q.After)
	if err != nil {
		return cmp, err
	}
	err = tree.CompareAfter(ctx, st, from, st, &after, last, func(c retake.Change) error { return addToPage(&cmp, q, c) })
	if errors.Is(err, errPageFull) {
		err = nil
	}
	return cmp, workspace.WrapError("the checkpoints cannot be compared", workspace.Unchanged, err)
}

// DiffBase returns the earlier side of a comparison: the requested checkpoint or the
// parent. A forgotten parent is replaced by the nearest earlier checkpoint; before the
// first there is none.
func (s *History) DiffBase(ctx context.Context, q retake.DiffQuery, to retake.Checkpoint) (*retake.Checkpoint, error) {
	if q.From != "" {
		cp, err := s.Find(ctx, q.Workspace, q.From)
		return &cp, err
	}
	parent := to.Parent
	if to.Return != nil { // its parent is the target; its changes are relative to the state before it
		parent = to.Return.Before
	}
	if parent != "" {
		if cp, err := s.workspaces.LoadCheckpoint(ctx, parent); err == nil {
			return &cp, nil
		}
	}
	older, err := s.workspaces.Catalog.Page(ctx, retake.LogQuery{Workspace: to.Workspace, Before: to.Number, Limit: 1})
	if err != nil || len(older) == 0 {
		return nil, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
	}
	return &older[0], nil
}

// diffLive compares a checkpoint with the live files. The changes are sorted as in stored
// trees, so that pages end at the same place.
func (s *History) diffLive(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	if q.From == "" {
		q.From = "latest"
	}
	cp, err := s.Find(ctx, q.Workspace, q.From)
	if err != nil {
		return retake.Comparison{}, err
	}
	cmp := retake.Comparison{From: &cp, Changes: []retake.Change{}}
	changes, cov, err := s.CompareLive(ctx, cp)
	if err != nil {
		return cmp, workspace.WrapError("the workspace cannot be compared", workspace.Unchanged, err)
	}
	cmp.Gaps = cov.Gaps
	last, err := decodeCursor(q.After)
	if err != nil {
		return cmp, err
	}
	tree.Sort(changes) // in the order of stored trees, so that pages end at the same place
	for _, c := range changes {
		if tree.IsAfter(c.Path, last) && addToPage(&cmp, q, c) != nil {
			break
		}
	}
	return cmp, nil
}

// errPageFull ends a comparison when the requested page is full.
var errPageFull = errors.New("the part is full")

// addToPage adds a change to a page if its path matches. It returns errPageFull when there
// is no room.
func addToPage(cmp *retake.Comparison, q retake.DiffQuery, c retake.Change) error {
	switch {
	case !tree.Match(q.Paths, c.Path):
		return nil
	case q.Limit > 0 && len(cmp.Changes) == q.Limit:
		cmp.Next = base64.RawURLEncoding.EncodeToString([]byte(cmp.Changes[q.Limit-1].Path))
		return errPageFull
	}
	cmp.Changes = append(cmp.Changes, c)
	return nil
}

// decodeCursor decodes the cursor of a page. A path is bytes, so it is not sent as text.
func decodeCursor(next string) (string, error) {
	path, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		return "", &retake.Error{Kind: retake.Invalid, What: "not a valid cursor of a comparison", Safe: workspace.Unchanged, Hint: "after takes the next of the part before"}
	}
	return string(path), nil
}
