package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// ApplyRestore applies exactly the plan that was shown: the current files are saved in a
// safety checkpoint, then changed, read back, and saved as another checkpoint.
func (s *Rewinder) ApplyRestore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	if err := validateApply(req); err != nil {
		return retake.RestoreResult{}, err
	}
	if s.canSpread(req.PlanRequest) {
		return spreader{s}.applySpread(ctx, req)
	}
	return s.applyHere(ctx, req)
}

// applyHere is ApplyRestore in one workspace.
func (s *Rewinder) applyHere(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	if o, err := s.findOutside(ctx, req.PlanRequest); err != nil || o != nil {
		if err != nil {
			return retake.RestoreResult{}, err
		}
		res, err := o.apply(ctx, req)
		return res, workspace.WrapError("not restored", workspace.Unchanged, err)
	}
	if res, known, err := s.findApplied(ctx, req); err != nil || known {
		return res, err
	}
	at, err := s.openRestoreRoot(ctx, req.PlanRequest)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	defer func() { at.close() }() // claimRoot may replace the directory
	if err := s.prepareAdopt(ctx, req.PlanRequest); err != nil {
		return retake.RestoreResult{}, err
	}
	release, err := s.workspaces.LockForRestore(ctx, at.ws.ID)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	defer release()
	l := s.workspaces.CacheFor(at.ws.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	l.LastUsed = s.workspaces.Clock.Now()
	l.IsSaving.Store(true)
	defer l.IsSaving.Store(false)
	a := &restoreRun{svc: s, cache: l, rootLocation: at, req: req}
	res, err := a.run(ctx)
	return res, workspace.WrapError("not restored", workspace.Unchanged, err)
}

// validateApply refuses requests that no plan can match: a typing error must not look like
// changed files or like consent.
func validateApply(req retake.ApplyRequest) error {
	digest := normalizeDigest(req.Digest)
	if len(digest) < minDigestLen || strings.Trim(digest, "0123456789abcdef") != "" {
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not a plan digest", req.Digest), Safe: workspace.Unchanged, Hint: "see the digest: add --plan"}
	}
	for _, class := range req.Accept {
		if !slices.Contains(retake.ObstacleClasses, class) {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is no warning %q", class), Safe: workspace.Unchanged, Hint: "there are: " + strings.Join(retake.ObstacleClasses, ", ")}
		}
	}
	return nil
}

// restoreRun is the application of one plan.
type restoreRun struct {
	*rootLocation
	svc      *Rewinder
	cache    *workspace.Cache
	req      retake.ApplyRequest
	resolved resolvedRestore
	safety   retake.Checkpoint
	plan     retake.Plan
	holders  []retake.Holder
	warnings []retake.Warning

	effects []retake.Effect // external effects that stay
}

// run checks that the plan is still the one that was shown and accepted, then executes it
// and records the result. If nothing was changed, a claimed root is released again.
func (a *restoreRun) run(ctx context.Context) (retake.RestoreResult, error) {
	j, shown, v, err := a.svc.planCurrent(ctx, a.cache, a.rootLocation, a.req.PlanRequest, a.recentPlan())
	if err != nil {
		return retake.RestoreResult{}, err
	}
	if !matchesDigest(shown.Digest, a.req.Digest) {
		return retake.RestoreResult{}, a.planChangedError(j, shown)
	}
	if err := checkAccepted(shown, a.req.Accept); err != nil {
		return retake.RestoreResult{}, err
	}
	a.resolved, a.holders, a.effects = j, shown.Holders, shown.Effects
	a.req.Paths = j.req.Paths
	if isNoOp(&shown) {
		return a.noOpResult(ctx, v)
	}
	if a.lost != nil {
		if err := a.svc.claimRoot(ctx, a.cache, a.rootLocation); err != nil {
			return retake.RestoreResult{}, err
		}
	}
	out, err := a.execute(ctx, shown, v)
	if err != nil && a.lost != nil && !retake.IsKind(err, retake.Partly) {
		err = errors.Join(err, a.svc.releaseRoot(a.rootLocation))
	}
	if err != nil {
		return retake.RestoreResult{}, err
	}
	return a.recordResult(ctx, out)
}

// execute takes the safety checkpoint, makes the plan again from it, and applies it.
func (a *restoreRun) execute(ctx context.Context, shown retake.Plan, v workspaceSnapshot) (restore.Outcome, error) {
	if a.isEmpty() {
		a.safety = v.tip
	} else if err := a.saveSafety(ctx, v.isUnchanged); err != nil {
		return restore.Outcome{}, err
	}
	if err := a.replan(ctx, shown); err != nil {
		return restore.Outcome{}, err
	}
	return a.applyPlan(ctx)
}

// planChangedError says that the plan is not the one that was shown. For the repair of an
// interrupted restore it does not say that nothing was changed.
func (a *restoreRun) planChangedError(j resolvedRestore, now retake.Plan) error {
	err := planChangedError(a.cache, a.req.Digest, now)
	if j.interrupted != nil {
		e := retake.AsError(err)
		e.Safe = strings.Replace(e.Safe, workspace.Unchanged, safetyText(j.interrupted.Safety), 1)
	}
	return err
}

// recentPlan returns the plan if it was shown a moment ago, so that open files are not
// searched twice; else nil.
func (a *restoreRun) recentPlan() *retake.Plan {
	p := a.cache.LastPlan
	if p == nil || !matchesDigest(p.Digest, a.req.Digest) || a.svc.workspaces.Clock.Now().Sub(a.cache.LastPlanAt) > recentPlanAge {
		return nil
	}
	return p
}

const recentPlanAge = 5 * time.Second

// isNoOp reports whether a plan would do nothing.
func isNoOp(p *retake.Plan) bool {
	if p.Total() > 0 || p.Lost != nil || p.Course == retake.CourseFinish || p.Course == retake.CourseUnwind {
		return false
	}
	for _, t := range p.Times {
		if t.Now.ModTime != t.Then.ModTime {
			return false
		}
	}
	return !slices.ContainsFunc(p.Keeps, func(k retake.Keep) bool { return k.Side != "" })
}

// noOpResult is the result of a plan without steps: no checkpoint is added.
func (a *restoreRun) noOpResult(ctx context.Context, v workspaceSnapshot) (retake.RestoreResult, error) {
	res := retake.RestoreResult{Checkpoint: v.tip, Failed: []retake.Failure{}, Warnings: []retake.Warning{}}
	if v.isUnchanged { // otherwise the current files are in no checkpoint, and stay
		res.Safety = v.tip
	}
	if a.resolved.target != nil {
		res.Target = *a.resolved.target
	}
	return res, ctx.Err()
}

// checkAccepted checks that every class of obstacle in the plan was accepted.
func checkAccepted(p retake.Plan, accept []string) error {
	var open []string
	text := ""
	for _, o := range p.Obstacles {
		if !slices.Contains(accept, o.Class) && !slices.Contains(open, o.Class) {
			if open = append(open, o.Class); text == "" {
				text = o.Class + ": " + o.Text
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: text, Safe: workspace.Unchanged, Accept: open,
		Hint: "look at the plan first\ngo ahead: add --accept " + strings.Join(slices.Concat(accept, open), ","),
	}
}

// saveSafety takes the safety checkpoint. It must be durable before any file is touched.
func (a *restoreRun) saveSafety(ctx context.Context, still bool) error {
	intent := "before " + a.describeCourse()
	res, err := a.svc.checkpoints.SaveNow(ctx, a.cache, a.ws, a.root, retake.SaveRequest{
		Workspace: a.ws.ID, Trigger: retake.TriggerSafety, Intent: intent, IfChanged: still,
	}, checkpoint.Options{Exact: true})
	if err != nil {
		return err
	}
	a.safety = res.Checkpoint
	a.warnings = append(a.warnings, res.Warnings...)
	return nil
}

// describeCourse names the restore for people.
func (a *restoreRun) describeCourse() string {
	n := int64(0)
	if a.resolved.target != nil {
		n = a.resolved.target.Number
	}
	switch a.req.Course {
	case retake.CourseRestore:
		return fmt.Sprintf("restore of %d", n)
	case retake.CourseUndo:
		if a.resolved.target == nil {
			return "undo of the latest edits"
		}
		return fmt.Sprintf("undo of %d", n)
	case retake.CourseRedo:
		return fmt.Sprintf("redo of %d", n)
	case retake.CourseAdopt:
		return "adopt of " + a.resolved.fork.Name
	case retake.CourseFinish, retake.CourseUnwind:
		return string(a.req.Course) + fmt.Sprintf(" of the restore of %d", n)
	}
	return string(a.req.Course)
}

// replan makes the plan again from the safety checkpoint, so that only files that it
// contains are touched. It fails if the plan differs from the one shown.
func (a *restoreRun) replan(ctx context.Context, shown retake.Plan) error {
	v, err := a.snapshotSafety(ctx)
	if err != nil {
		return err
	}
	if a.resolved.unsavedOnly {
		a.resolved.target = &a.safety
	}
	a.plan, err = a.svc.makePlan(ctx, a.ws, a.resolved, v, restore.Environment{})
	if err == nil && a.plan.Digest != shown.Digest {
		err = planMovedError(shown, a.plan)
	}
	return err
}

// snapshotSafety returns the workspace as the safety checkpoint holds it.
func (a *restoreRun) snapshotSafety(ctx context.Context) (workspaceSnapshot, error) {
	if a.isEmpty() {
		return a.svc.snapshotEmptyRoot(ctx, a.cache, a.rootLocation, a.safety)
	}
	return a.svc.snapshotCheckpoint(ctx, a.cache, a.safety, a.root)
}

// findApplied returns the result of a restore that was already applied under the requested
// ID.
func (s *Rewinder) findApplied(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, bool, error) {
	if req.ID == "" {
		return retake.RestoreResult{}, false, nil
	}
	if _, err := retake.ParseCheckpointID(string(req.ID)); err != nil {
		return retake.RestoreResult{}, false, &retake.Error{Kind: retake.Invalid, What: "not a valid checkpoint ID", Safe: workspace.Unchanged, Err: err}
	}
	cp, err := s.workspaces.Catalog.Checkpoint(ctx, req.ID) // without an access check: an ID is never used twice
	if errors.Is(err, catalog.ErrNotFound) {
		return retake.RestoreResult{}, false, nil
	}
	if err != nil || cp.Return == nil || cp.Workspace != req.Workspace {
		return retake.RestoreResult{}, false, workspace.WrapError("that id names another checkpoint", workspace.Unchanged, errors.Join(err, catalog.ErrExists))
	}
	res := retake.RestoreResult{
		Checkpoint: cp, Written: cp.Return.Written, Deleted: cp.Return.Deleted, Merged: cp.Return.Merged, Kept: cp.Return.Kept,
		Failed: append([]retake.Failure{}, cp.Return.Failed...), Warnings: []retake.Warning{},
	}
	if res.Safety, err = s.workspaces.LoadCheckpoint(ctx, cp.Return.Before); err != nil {
		res.Safety = retake.Checkpoint{ID: cp.Return.Before}
	}
	if res.Target, err = s.workspaces.LoadCheckpoint(ctx, cp.Return.Target); err != nil {
		res.Target = retake.Checkpoint{ID: cp.Return.Target}
	}
	return res, true, nil
}
