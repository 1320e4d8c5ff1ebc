package service

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// Diff compares two checkpoints, or one with now.
func (s *Service) Diff(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	if q.To == "" || q.To == now {
		return s.diffNow(ctx, q)
	}
	to, err := s.Find(ctx, q.Workspace, q.To)
	if err != nil {
		return retake.Comparison{}, err
	}
	return s.diffTo(ctx, q, to)
}

// diffTo compares the trees of a checkpoint and of the one that is asked for, or before it.
func (s *Service) diffTo(ctx context.Context, q retake.DiffQuery, to retake.Checkpoint) (retake.Comparison, error) {
	cmp := retake.Comparison{To: &to, Changes: []retake.Change{}}
	var from *retake.Entry
	st, err := s.store(ctx)
	if err != nil {
		return cmp, fault("the store cannot be opened", unchanged, err)
	}
	if cmp.From, err = s.from(ctx, q, to); err != nil {
		return cmp, err
	}
	if cmp.From != nil {
		e, err := s.files(ctx, st, *cmp.From)
		if err != nil {
			return cmp, err
		}
		from = &e
	}
	after, err := s.files(ctx, st, to)
	if err != nil {
		return cmp, err
	}
	last, err := behind(q.After)
	if err != nil {
		return cmp, err
	}
	err = tree.CompareAfter(ctx, st, from, st, &after, last, func(c retake.Change) error { return part(&cmp, q, c) })
	if errors.Is(err, errFull) {
		err = nil
	}
	return cmp, fault("the checkpoints cannot be compared", unchanged, err)
}

// from is the earlier side: as asked, or the parent. A parent that was forgotten
// gives way to the nearest one before it; before the first there is nothing.
func (s *Service) from(ctx context.Context, q retake.DiffQuery, to retake.Checkpoint) (*retake.Checkpoint, error) {
	if q.From != "" {
		cp, err := s.Find(ctx, q.Workspace, q.From)
		return &cp, err
	}
	parent := to.Parent
	if to.Return != nil { // its parent is where it went; what it changed is told from where it came
		parent = to.Return.Before
	}
	if parent != "" {
		if cp, err := s.loadCheckpoint(ctx, parent); err == nil {
			return &cp, nil
		}
	}
	older, err := s.p.Catalog.Page(ctx, retake.LogQuery{Workspace: to.Workspace, Before: to.Number, Limit: 1})
	if err != nil || len(older) == 0 {
		return nil, fault("the timeline cannot be read", unchanged, err)
	}
	return &older[0], nil
}

func (s *Service) diffNow(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	if q.From == "" {
		q.From = "latest"
	}
	cp, err := s.Find(ctx, q.Workspace, q.From)
	if err != nil {
		return retake.Comparison{}, err
	}
	cmp := retake.Comparison{From: &cp, Changes: []retake.Change{}}
	changes, cov, err := s.look(ctx, cp)
	if err != nil {
		return cmp, fault("the workspace cannot be compared", unchanged, err)
	}
	cmp.Gaps = cov.Gaps
	last, err := behind(q.After)
	if err != nil {
		return cmp, err
	}
	tree.Sort(changes) // as checkpoints tell them: a part ends at the same place whoever asks
	for _, c := range changes {
		if tree.IsAfter(c.Path, last) && part(&cmp, q, c) != nil {
			break
		}
	}
	return cmp, nil
}

// errFull ends a comparison: the part that was asked for is full.
var errFull = errors.New("the part is full")

// part puts a change into an answer, unless nobody asked for it or there is no room left.
func part(cmp *retake.Comparison, q retake.DiffQuery, c retake.Change) error {
	switch {
	case !tree.Match(q.Paths, c.Path):
		return nil
	case q.Limit > 0 && len(cmp.Changes) == q.Limit:
		cmp.Next = base64.RawURLEncoding.EncodeToString([]byte(cmp.Changes[q.Limit-1].Path))
		return errFull
	}
	cmp.Changes = append(cmp.Changes, c)
	return nil
}

// behind reads the place where a part ended. A path is bytes, so it does not travel as text.
func behind(next string) (string, error) {
	path, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		return "", &retake.Error{Kind: retake.Invalid, What: "not a valid cursor of a comparison", Safe: unchanged, Hint: "after takes the next of the part before"}
	}
	return string(path), nil
}
