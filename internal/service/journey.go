package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// journey is a request for a plan, resolved: what is wanted, and what it is measured
// against.
type journey struct {
	req    retake.PlanRequest
	target *retake.Checkpoint // nil: the edits since the last checkpoint
	want   retake.Entry
	gaps   []retake.Gap        // of what is wanted
	base   *retake.Entry       // nil: whatever is there gives way
	loose  bool                // the edits since the last checkpoint are taken back
	also   []retake.Checkpoint // older items that are taken back too, the newest first
	spare  map[string]restore.Protection
	hunks  []retake.Hunk // that alone are taken back or brought again; none: all of it
	edits  []int64       // automatic checkpoints whose edits stay, the newest first
	from   int64         // the checkpoint that want is of; 0: of none
	side   string
	fork   *retake.Workspace
	cut    *restore.InterruptedRestore // what was cut off, for finish and unwind
}

// view is the workspace as a plan sees it.
type view struct {
	trees store.Trees
	root  retake.Entry
	gaps  []retake.Gap
	tip   retake.Checkpoint
	loose map[string]bool // changed since the tip, and not their times alone
	still bool            // nothing at all changed
	lost  bool            // it is not in the directory that the workspace had
}

// travel resolves a request.
func (s *Service) travel(ctx context.Context, ws retake.Workspace, req retake.PlanRequest, v view) (journey, error) {
	j := journey{req: req}
	cut, err := s.cutOff(ws.ID)
	if err != nil {
		return j, err
	}
	if v.lost { // with what was restored in part
		cut = nil
	}
	ending := req.Course == retake.CourseFinish || req.Course == retake.CourseUnwind
	switch {
	case cut != nil && !ending:
		return j, stillOpen(cut)
	case ending && cut == nil:
		return j, &retake.Error{Kind: retake.NotFound, What: "no restore was interrupted here", Safe: unchanged, Hint: "list checkpoints: retake log"}
	case ending:
		j.cut, j.target = cut, &cut.Target
		return j, nil
	}
	switch req.Course {
	case retake.CourseRestore:
		return s.toCheckpoint(ctx, j)
	case retake.CourseUndo:
		return s.undoing(ctx, j, v)
	case retake.CourseRedo:
		return s.redoing(ctx, j)
	case retake.CourseAdopt:
		return s.adopting(ctx, ws, j)
	default:
		return j, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is no course %q", req.Course), Safe: unchanged}
	}
}

// stillOpen also answers a restore that was cut off itself and is asked for again, so it
// does not say that nothing was changed.
func stillOpen(c *restore.InterruptedRestore) error {
	return &retake.Error{
		Kind: retake.Partly, What: fmt.Sprintf("the restore to checkpoint %d was interrupted after %d of %d files", c.Target.Number, c.Done, c.Total), Safe: wholeBefore(c.Safety),
		Hint: "finish it: retake restore --finish\nroll it back: retake restore --undo",
	}
}

func (s *Service) toCheckpoint(ctx context.Context, j journey) (journey, error) {
	cp, err := s.Find(ctx, j.req.Workspace, j.req.Ref)
	if err != nil {
		return j, err
	}
	j.target, j.from = &cp, cp.Number
	j.want, err = s.treeOf(ctx, cp)
	j.gaps = cp.Coverage.Gaps
	if err == nil && len(j.req.Paths) > 0 {
		err = s.anyMatch(ctx, j)
	}
	return j, err
}

// anyMatch refuses paths that neither the checkpoint nor the workspace knows: a typing
// error must not look like nothing to do.
func (s *Service) anyMatch(ctx context.Context, j journey) error {
	st, err := s.store(ctx)
	if err != nil {
		return err
	}
	for _, p := range j.req.Paths {
		if strings.ContainsAny(p, "*?") {
			continue
		}
		if _, err := tree.Find(ctx, st, j.want, p); err == nil {
			continue
		}
		if s.livesAt(ctx, j.req.Workspace, cleanPath(p)) {
			continue
		}
		return &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("there is no %s, neither now nor in checkpoint %d", p, j.target.Number), Safe: unchanged,
			Hint: fmt.Sprintf("list its files: retake ls %d", j.target.Number),
		}
	}
	return nil
}

func (s *Service) treeOf(ctx context.Context, cp retake.Checkpoint) (retake.Entry, error) {
	st, err := s.store(ctx)
	if err != nil {
		return retake.Entry{}, err
	}
	return s.files(ctx, st, cp)
}

// seen looks at the workspace without storing anything.
func (s *Service) seen(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir) (view, error) {
	var v view
	cp, err := s.p.Catalog.Latest(ctx, ws.ID, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return v, &retake.Error{Kind: retake.NotFound, What: "this workspace has no checkpoint yet", Safe: unchanged, Hint: "create one: retake save"}
	}
	if err != nil {
		return v, err
	}
	changes, cov, err := s.lookIn(ctx, l, cp)
	if err != nil {
		return v, err
	}
	return s.viewOf(ctx, l, root, cp, changes, cov)
}

// viewOf lays what changed since a checkpoint over it.
func (s *Service) viewOf(ctx context.Context, l *live, root fsx.Dir, cp retake.Checkpoint, changes []retake.Change, cov retake.Coverage) (view, error) {
	v := view{tip: cp}
	st, err := s.store(ctx)
	if err != nil {
		return v, err
	}
	files, err := s.files(ctx, st, cp)
	if err != nil {
		return v, err
	}
	self, err := rootNow(root)
	if err != nil {
		return v, err
	}
	v.gaps, v.loose = cov.Gaps, map[string]bool{}
	for _, c := range changes {
		if c.What != retake.Timed {
			v.loose[c.Path] = true
		}
	}
	v.trees, v.root = restore.NewLiveTree(l.lists.over(st), root, files, self, changes, cov.Gaps)
	v.still = len(changes) == 0 && self.Mode == files.Mode && self.UID == files.UID && self.GID == files.GID && self.ModTime == files.ModTime && sameAttributes(self, files)
	return v, nil
}

func sameAttributes(a, b retake.Entry) bool {
	var x, y map[string][]byte
	if a.Extra != nil {
		x = a.Extra.Xattrs
	}
	if b.Extra != nil {
		y = b.Extra.Xattrs
	}
	return maps.EqualFunc(x, y, bytes.Equal)
}

// saved is the workspace as a checkpoint of this checkpoint holds it. The root is as it is.
func (s *Service) saved(ctx context.Context, l *live, cp retake.Checkpoint, root fsx.Dir) (view, error) {
	v := view{tip: cp, gaps: cp.Coverage.Gaps, loose: map[string]bool{}}
	st, err := s.store(ctx)
	if err != nil {
		return v, err
	}
	files, err := s.files(ctx, st, cp)
	if err != nil {
		return v, err
	}
	v.trees = l.lists.over(st)
	v.root, err = rootNow(root)
	v.root.Object, v.root.Sum = files.Object, files.Sum
	return v, err
}

// rootNow is the root's own entry.
func rootNow(root fsx.Dir) (retake.Entry, error) {
	i, err := root.Stat()
	if err != nil {
		return retake.Entry{}, err
	}
	e := retake.Entry{Kind: retake.KindDir, Mode: i.Mode, UID: i.UID, GID: i.GID, ModTime: i.Mtime}
	x, err := root.Xattrs()
	delete(x, marker.Xattr)
	if len(x) > 0 {
		e.Extra = &retake.Extra{Xattrs: x}
	}
	return e, err
}
