package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// ApplyRestore does exactly the plan that was shown: what is there now becomes a
// checkpoint first, then the files are changed, read back, and become another one.
func (s *Service) ApplyRestore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	if err := makesSense(req); err != nil {
		return retake.RestoreResult{}, err
	}
	if res, known, err := s.appliedAlready(ctx, req); err != nil || known {
		return res, err
	}
	at, err := s.openPlace(ctx, req.PlanRequest)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	defer func() { at.close() }() // a lost root gets another directory
	if err := s.prepareAdopt(ctx, req.PlanRequest); err != nil {
		return retake.RestoreResult{}, err
	}
	release, err := s.returning(ctx, at.ws.ID)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	defer release()
	l := s.liveOf(at.ws.ID)
	l.lock()
	defer l.mu.Unlock()
	l.used = s.p.Clock.Now()
	l.saving.Store(true)
	defer l.saving.Store(false)
	a := &application{s: s, l: l, place: at, req: req}
	res, err := a.run(ctx)
	return res, fault("not restored", unchanged, err)
}

// makesSense refuses what no plan can have: a typing error must not look like files that
// moved on, or like a word that was given.
func makesSense(req retake.ApplyRequest) error {
	digest := plainDigest(req.Digest)
	if len(digest) < shortDigest || strings.Trim(digest, "0123456789abcdef") != "" {
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not a plan digest", req.Digest), Safe: unchanged, Hint: "see the digest: add --plan"}
	}
	for _, class := range req.Accept {
		if !slices.Contains(retake.ObstacleClasses, class) {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is no warning %q", class), Safe: unchanged, Hint: "there are: " + strings.Join(retake.ObstacleClasses, ", ")}
		}
	}
	return nil
}

// application is one plan on its way.
type application struct {
	*place
	s      *Service
	l      *live
	req    retake.ApplyRequest
	j      journey
	safety retake.Checkpoint
	plan   retake.Plan
	held   []retake.Holder
	warn   []retake.Warning

	effects []retake.Effect // that stay done
}

func (a *application) run(ctx context.Context) (retake.RestoreResult, error) {
	j, shown, v, err := a.s.planNow(ctx, a.l, a.place, a.req.PlanRequest, a.justShown())
	if err != nil {
		return retake.RestoreResult{}, err
	}
	if !sameDigest(shown.Digest, a.req.Digest) {
		return retake.RestoreResult{}, a.movedOn(j, shown)
	}
	if err := consented(shown, a.req.Accept); err != nil {
		return retake.RestoreResult{}, err
	}
	a.j, a.held, a.effects = j, shown.Holders, shown.Effects
	a.req.Paths = j.req.Paths
	if idle(&shown) {
		return a.nothing(ctx, v)
	}
	if a.lost != nil {
		if err := a.s.takeOver(ctx, a.l, a.place); err != nil {
			return retake.RestoreResult{}, err
		}
	}
	out, err := a.execute(ctx, shown, v)
	if err != nil && a.lost != nil && !retake.IsKind(err, retake.Partly) {
		err = errors.Join(err, a.s.abandon(a.place))
	}
	if err != nil {
		return retake.RestoreResult{}, err
	}
	return a.tell(ctx, out)
}

// execute takes the safety checkpoint, makes the plan again from it, and does it.
func (a *application) execute(ctx context.Context, shown retake.Plan, v view) (restore.Outcome, error) {
	if a.bare() {
		a.safety = v.tip
	} else if err := a.secure(ctx, v.still); err != nil {
		return restore.Outcome{}, err
	}
	if err := a.replan(ctx, shown); err != nil {
		return restore.Outcome{}, err
	}
	return a.change(ctx)
}

// movedOn says that the plan is not the one that was shown. Of a repair it does not say
// that nothing was changed: it may be one that was cut off and is asked for again.
func (a *application) movedOn(j journey, now retake.Plan) error {
	err := a.l.movedFrom(a.req.Digest, now)
	if j.cut != nil {
		e := retake.AsError(err)
		e.Safe = strings.Replace(e.Safe, unchanged, wholeBefore(j.cut.Safety), 1)
	}
	return err
}

// justShown is the plan that was shown a moment ago: who holds files is not asked twice.
func (a *application) justShown() *retake.Plan {
	p := a.l.shown
	if p == nil || !sameDigest(p.Digest, a.req.Digest) || a.s.p.Clock.Now().Sub(a.l.shownAt) > shownFresh {
		return nil
	}
	return p
}

const shownFresh = 5 * time.Second

// idle reports whether a plan would do nothing.
func idle(p *retake.Plan) bool {
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

// nothing answers for a plan without a step: no checkpoint is added.
func (a *application) nothing(ctx context.Context, v view) (retake.RestoreResult, error) {
	res := retake.RestoreResult{Checkpoint: v.tip, Failed: []retake.Failure{}, Warnings: []retake.Warning{}}
	if v.still { // else what is there is in no checkpoint, and stays as it is
		res.Safety = v.tip
	}
	if a.j.target != nil {
		res.Target = *a.j.target
	}
	return res, ctx.Err()
}

// consented checks that every class of obstacle was agreed to.
func consented(p retake.Plan, accept []string) error {
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
		Kind: retake.Denied, What: text, Safe: unchanged,
		Hint: "look at the plan first\ngo ahead: add --accept " + strings.Join(slices.Concat(accept, open), ","),
	}
}

// secure takes the safety checkpoint: all there is now, durable. Without it nothing
// is touched.
func (a *application) secure(ctx context.Context, still bool) error {
	intent := "before " + a.words()
	res, err := a.s.saveAs(ctx, a.l, a.ws, a.root, retake.SaveRequest{
		Workspace: a.ws.ID, Trigger: retake.TriggerSafety, Intent: intent, IfChanged: still,
	}, asking{exact: true})
	if err != nil {
		return err
	}
	a.safety = res.Checkpoint
	a.warn = append(a.warn, res.Warnings...)
	return nil
}

// words name the restore for people.
func (a *application) words() string {
	n := int64(0)
	if a.j.target != nil {
		n = a.j.target.Number
	}
	switch a.req.Course {
	case retake.CourseRestore:
		return fmt.Sprintf("restore of %d", n)
	case retake.CourseUndo:
		if a.j.target == nil {
			return "undo of the latest edits"
		}
		return fmt.Sprintf("undo of %d", n)
	case retake.CourseRedo:
		return fmt.Sprintf("redo of %d", n)
	case retake.CourseAdopt:
		return "adopt of " + a.j.fork.Name
	case retake.CourseFinish, retake.CourseUnwind:
		return string(a.req.Course) + fmt.Sprintf(" of the restore of %d", n)
	}
	return string(a.req.Course)
}

// replan makes the plan again from the safety checkpoint. Only what is in there may be
// touched, and only if it is still what was shown.
func (a *application) replan(ctx context.Context, shown retake.Plan) error {
	v, err := a.secured(ctx)
	if err != nil {
		return err
	}
	if a.j.loose {
		a.j.target = &a.safety
	}
	a.plan, err = a.s.planFor(ctx, a.ws, a.j, v, restore.Environment{})
	if err == nil && a.plan.Digest != shown.Digest {
		err = moved(shown, a.plan)
	}
	return err
}

// secured is the workspace as the safety checkpoint holds it. Where nothing was, nothing is.
func (a *application) secured(ctx context.Context) (view, error) {
	if a.bare() {
		return a.s.seenBare(ctx, a.l, a.place, a.safety)
	}
	return a.s.saved(ctx, a.l, a.safety, a.root)
}

// appliedAlready answers a restore that was asked for under this id before.
func (s *Service) appliedAlready(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, bool, error) {
	if req.ID == "" {
		return retake.RestoreResult{}, false, nil
	}
	if _, err := retake.ParseCheckpointID(string(req.ID)); err != nil {
		return retake.RestoreResult{}, false, &retake.Error{Kind: retake.Invalid, What: "not a valid checkpoint ID", Safe: unchanged, Err: err}
	}
	cp, err := s.p.Catalog.Checkpoint(ctx, req.ID) // also one that who asks may not have: no id is given twice
	if errors.Is(err, catalog.ErrNotFound) {
		return retake.RestoreResult{}, false, nil
	}
	if err != nil || cp.Return == nil || cp.Workspace != req.Workspace {
		return retake.RestoreResult{}, false, fault("that id names another checkpoint", unchanged, errors.Join(err, catalog.ErrExists))
	}
	res := retake.RestoreResult{
		Checkpoint: cp, Written: cp.Return.Written, Deleted: cp.Return.Deleted, Merged: cp.Return.Merged, Kept: cp.Return.Kept,
		Failed: append([]retake.Failure{}, cp.Return.Failed...), Warnings: []retake.Warning{},
	}
	if res.Safety, err = s.loadCheckpoint(ctx, cp.Return.Before); err != nil {
		res.Safety = retake.Checkpoint{ID: cp.Return.Before}
	}
	if res.Target, err = s.loadCheckpoint(ctx, cp.Return.Target); err != nil {
		res.Target = retake.Checkpoint{ID: cp.Return.Target}
	}
	return res, true, nil
}
