package rewind

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
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// resolvedRestore is a plan request after its refs are resolved: the wanted tree, and the
// base that changes are measured against.
type resolvedRestore struct {
	req         retake.PlanRequest
	target      *retake.Checkpoint // nil: the edits since the last checkpoint
	want        retake.Entry
	wantGaps    []retake.Gap        // gaps of the wanted tree
	base        *retake.Entry       // nil: whatever is there gives way
	unsavedOnly bool                // only the edits since the last checkpoint are undone
	olderItems  []retake.Checkpoint // further items to undo, newest first
	protected   map[string]restore.Protection
	hunks       []retake.Hunk // the only hunks to undo or redo; none: everything
	keptEdits   []int64       // automatic checkpoints whose edits stay, newest first
	wantNumber  int64         // number of the checkpoint that want belongs to; 0: none
	sideSuffix  string
	fork        *retake.Workspace
	interrupted *restore.InterruptedRestore // the interrupted restore, for finish and unwind
}

// workspaceSnapshot is the current state of a workspace that a plan starts from.
type workspaceSnapshot struct {
	trees       store.Trees
	root        retake.Entry
	gaps        []retake.Gap
	tip         retake.Checkpoint
	unsaved     map[string]bool // paths changed since the tip in more than their times
	isUnchanged bool            // nothing changed at all
	rootLost    bool            // the workspace is not in its own directory any more
}

// resolveRestore resolves a plan request. While an interrupted restore is open, only finish
// and unwind are allowed.
func (s *Rewinder) resolveRestore(ctx context.Context, ws retake.Workspace, req retake.PlanRequest, v workspaceSnapshot) (resolvedRestore, error) {
	j := resolvedRestore{req: req}
	cut, err := s.workspaces.ReadInterrupted(ws.ID)
	if err != nil {
		return j, err
	}
	if v.rootLost { // the interrupted restore was lost with it
		cut = nil
	}
	ending := req.Course == retake.CourseFinish || req.Course == retake.CourseUnwind
	switch {
	case cut != nil && !ending:
		return j, openRestoreError(cut)
	case ending && cut == nil:
		return j, &retake.Error{Kind: retake.NotFound, What: "no restore was interrupted here", Safe: workspace.Unchanged, Hint: "list checkpoints: retake log"}
	case ending:
		j.interrupted, j.target = cut, &cut.Target
		return j, nil
	}
	switch req.Course {
	case retake.CourseRestore:
		return s.resolveToCheckpoint(ctx, j)
	case retake.CourseUndo:
		return s.resolveUndo(ctx, j, v)
	case retake.CourseRedo:
		return s.resolveRedo(ctx, j)
	case retake.CourseAdopt:
		return s.resolveAdopt(ctx, ws, j)
	default:
		return j, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is no course %q", req.Course), Safe: workspace.Unchanged}
	}
}

// openRestoreError refuses a restore while another one is interrupted. It does not say that
// nothing was changed, because it may be the interrupted restore itself that is asked for
// again.
func openRestoreError(c *restore.InterruptedRestore) error {
	return &retake.Error{
		Kind: retake.Partly, What: fmt.Sprintf("the restore to checkpoint %d was interrupted after %d of %d files", c.Target.Number, c.Done, c.Total), Safe: safetyText(c.Safety),
		Hint: "finish it: retake restore --finish\nroll it back: retake restore --undo",
	}
}

// resolveToCheckpoint resolves a restore of a checkpoint, or of some of its paths.
func (s *Rewinder) resolveToCheckpoint(ctx context.Context, j resolvedRestore) (resolvedRestore, error) {
	cp, err := s.history.Find(ctx, j.req.Workspace, j.req.Ref)
	if err != nil {
		return j, err
	}
	j.target, j.wantNumber = &cp, cp.Number
	j.want, err = s.loadTreeRoot(ctx, cp)
	j.wantGaps = cp.Coverage.Gaps
	if err == nil && len(j.req.Paths) > 0 {
		err = s.checkPathsExist(ctx, j)
	}
	return j, err
}

// checkPathsExist refuses paths that are neither in the checkpoint nor in the workspace: a
// typing error must not look like nothing to do.
func (s *Rewinder) checkPathsExist(ctx context.Context, j resolvedRestore) error {
	st, err := s.workspaces.Store(ctx)
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
		if s.history.LiveExists(ctx, j.req.Workspace, history.CleanPath(p)) {
			continue
		}
		return &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("there is no %s, neither now nor in checkpoint %d", p, j.target.Number), Safe: workspace.Unchanged,
			Hint: fmt.Sprintf("list its files: retake ls %d", j.target.Number),
		}
	}
	return nil
}

func (s *Rewinder) loadTreeRoot(ctx context.Context, cp retake.Checkpoint) (retake.Entry, error) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return retake.Entry{}, err
	}
	return s.history.TreeRoot(ctx, st, cp)
}

// snapshotWorkspace compares the workspace with its newest checkpoint, without storing
// anything.
func (s *Rewinder) snapshotWorkspace(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir) (workspaceSnapshot, error) {
	var v workspaceSnapshot
	cp, err := s.workspaces.Catalog.Latest(ctx, ws.ID, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return v, &retake.Error{Kind: retake.NotFound, What: "this workspace has no checkpoint yet", Safe: workspace.Unchanged, Hint: "create one: retake save"}
	}
	if err != nil {
		return v, err
	}
	changes, cov, err := s.history.CompareLiveLocked(ctx, l, cp)
	if err != nil {
		return v, err
	}
	return s.snapshotWithChanges(ctx, l, root, cp, changes, cov)
}

// snapshotWithChanges returns a checkpoint with the given changes applied to it.
func (s *Rewinder) snapshotWithChanges(ctx context.Context, l *workspace.Cache, root fsx.Dir, cp retake.Checkpoint, changes []retake.Change, cov retake.Coverage) (workspaceSnapshot, error) {
	v := workspaceSnapshot{tip: cp}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return v, err
	}
	files, err := s.history.TreeRoot(ctx, st, cp)
	if err != nil {
		return v, err
	}
	self, err := currentRootEntry(root)
	if err != nil {
		return v, err
	}
	v.gaps, v.unsaved = cov.Gaps, map[string]bool{}
	for _, c := range changes {
		if c.What != retake.Timed {
			v.unsaved[c.Path] = true
		}
	}
	v.trees, v.root = restore.NewLiveTree(l.DirCache.WrapTrees(st), root, files, self, changes, cov.Gaps)
	v.isUnchanged = len(changes) == 0 && self.Mode == files.Mode && self.UID == files.UID && self.GID == files.GID && self.ModTime == files.ModTime && sameXattrs(self, files)
	return v, nil
}

// sameXattrs reports whether two entries have the same extended attributes.
func sameXattrs(a, b retake.Entry) bool {
	var x, y map[string][]byte
	if a.Extra != nil {
		x = a.Extra.Xattrs
	}
	if b.Extra != nil {
		y = b.Extra.Xattrs
	}
	return maps.EqualFunc(x, y, bytes.Equal)
}

// snapshotCheckpoint returns the workspace as the given checkpoint holds it, with the
// attributes that the root directory has now.
func (s *Rewinder) snapshotCheckpoint(ctx context.Context, l *workspace.Cache, cp retake.Checkpoint, root fsx.Dir) (workspaceSnapshot, error) {
	v := workspaceSnapshot{tip: cp, gaps: cp.Coverage.Gaps, unsaved: map[string]bool{}}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return v, err
	}
	files, err := s.history.TreeRoot(ctx, st, cp)
	if err != nil {
		return v, err
	}
	v.trees = l.DirCache.WrapTrees(st)
	v.root, err = currentRootEntry(root)
	v.root.Object, v.root.Sum = files.Object, files.Sum
	return v, err
}

// currentRootEntry returns the entry of the root directory itself, without our own marker.
func currentRootEntry(root fsx.Dir) (retake.Entry, error) {
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
