package rewind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// canSpread reports whether a request is to be followed in all workspaces of its turn.
func (s *Rewinder) canSpread(req retake.PlanRequest) bool {
	along := req.Course == retake.CourseUndo || req.Course == retake.CourseRedo
	return req.Spread && along && s.rescuer.IsLocal() && !req.Edits && req.Session == "" && len(req.Paths) == 0 && len(req.Hunks) == 0 && !strings.Contains(req.Ref, "..")
}

// spreader plans and applies in all workspaces of a turn.
type spreader struct{ *Rewinder }

// planSpread makes one plan for all workspaces that the turn worked in.
func (s spreader) planSpread(ctx context.Context, req retake.PlanRequest) (retake.Plan, error) {
	p, err := s.planHere(ctx, req)
	if err != nil {
		return p, err
	}
	if p.Others, err = s.planOthers(ctx, req, &p); err != nil || len(p.Others) == 0 {
		return p, err
	}
	p.Digest = spreadDigest(&p)
	for i := range p.Others {
		for _, o := range p.Others[i].Obstacles {
			o.Text = s.workspaceName(ctx, p.Others[i].Workspace) + ": " + o.Text
			p.Obstacles = append(p.Obstacles, o)
		}
	}
	return p, nil
}

// spreadDigest covers the plans of all workspaces. The digest of p is that of its own part.
func spreadDigest(p *retake.Plan) string {
	h := sha256.New()
	fmt.Fprintln(h, p.Workspace, p.Digest)
	for i := range p.Others {
		fmt.Fprintln(h, p.Others[i].Workspace, p.Others[i].Digest)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// planOthers returns the plans for the other workspaces that the same turn worked in, but for those
// where nothing is left to do.
func (s spreader) planOthers(ctx context.Context, req retake.PlanRequest, p *retake.Plan) ([]retake.Plan, error) {
	if p.Target == nil || p.Target.Turn == nil {
		return nil, nil
	}
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return nil, workspace.WrapError("no plan could be made", workspace.Unchanged, err)
	}
	var out []retake.Plan
	for _, w := range all {
		if w.Ended != nil || w.ID == req.Workspace {
			continue
		}
		other, err := s.planOther(ctx, req, w.ID, p.Target)
		if retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Exists) {
			continue // the turn was not there, or is undone there
		}
		if err != nil {
			e := *retake.AsError(err)
			e.What, e.Hint = fmt.Sprintf("this turn also worked in %s: %s", w.Name, e.What), "only here: retake "+string(req.Course)+" --here\n"+e.Hint
			return nil, &e
		}
		if !isNoOp(&other) {
			out = append(out, other)
		}
	}
	return out, nil
}

func (s spreader) planOther(ctx context.Context, req retake.PlanRequest, id retake.WorkspaceID, target *retake.Checkpoint) (retake.Plan, error) {
	var item retake.Checkpoint
	if req.Course == retake.CourseUndo {
		var err error
		if item, err = s.findTurn(ctx, id, target); err != nil {
			return retake.Plan{}, err
		}
	}
	p, err := s.planHere(ctx, otherRequest(req, id, item.ID))
	if err == nil && (p.Target == nil || !history.IsSameTurn(*p.Target, *target)) {
		err = errNoSuchTurn
	}
	return p, err
}

var errNoSuchTurn = &retake.Error{Kind: retake.NotFound, What: "the turn did not work here", Safe: workspace.Unchanged}

// turnSlack is how much earlier than a turn a checkpoint of another workspace may be that is looked at.
const turnSlack = time.Minute

// findTurn returns the newest checkpoint of a turn in another workspace.
func (s spreader) findTurn(ctx context.Context, id retake.WorkspaceID, target *retake.Checkpoint) (retake.Checkpoint, error) {
	var found *retake.Checkpoint
	began := target.Turn.Began
	if began.IsZero() {
		began = target.Time
	}
	err := s.history.WalkTimeline(ctx, id, 0, func(cp, _ retake.Checkpoint) (bool, error) {
		if history.IsSameTurn(cp, *target) {
			found = &cp
		}
		return found == nil && cp.Time.After(began.Add(-turnSlack)), nil
	})
	if err == nil && found == nil {
		err = errNoSuchTurn
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return *found, nil
}

func (s spreader) workspaceName(ctx context.Context, id retake.WorkspaceID) string {
	if w, err := s.workspaces.LoadWorkspace(ctx, id); err == nil {
		return w.Name
	}
	return string(id)
}

// applySpread applies the plan of all workspaces if it is still the one that was shown. Each of them
// keeps what it had in a checkpoint of its own. If one fails, those before it stay undone, and the
// error names the rest.
func (s spreader) applySpread(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	if res, known, err := s.findApplied(ctx, req); err != nil || known { // it is asked for again
		return res, err
	}
	own := req
	own.Spread = false
	p, err := s.planHere(ctx, own.PlanRequest)
	if err != nil {
		return retake.RestoreResult{}, err
	}
	if p.Others, err = s.planOthers(ctx, req.PlanRequest, &p); err != nil {
		return retake.RestoreResult{}, err
	}
	if len(p.Others) == 0 {
		return s.applyHere(ctx, own)
	}
	if !matchesDigest(spreadDigest(&p), req.Digest) {
		return retake.RestoreResult{}, planMovedError(retake.Plan{}, retake.Plan{})
	}
	for i := range p.Others {
		if err := checkAccepted(p.Others[i], req.Accept); err != nil {
			return retake.RestoreResult{}, err
		}
	}
	own.Digest = p.Digest
	res, err := s.applyHere(ctx, own)
	if err != nil {
		return res, err
	}
	for i := range p.Others {
		r, err := s.applyHere(ctx, retake.ApplyRequest{
			PlanRequest: otherRequest(req.PlanRequest, p.Others[i].Workspace, p.Others[i].Target.ID), Digest: p.Others[i].Digest, Accept: req.Accept,
		})
		if err != nil {
			return res, s.spreadError(ctx, p.Others[i:], err)
		}
		res.Others = append(res.Others, r)
	}
	return res, nil
}

// otherRequest asks for the same in another workspace. Redo names no item: it is the last one undone.
func otherRequest(req retake.PlanRequest, ws retake.WorkspaceID, item retake.CheckpointID) retake.PlanRequest {
	ask := retake.PlanRequest{Workspace: ws, Course: req.Course, Git: req.Git, Asker: req.Asker}
	if req.Course == retake.CourseUndo {
		ask.Ref = string(item)
	}
	return ask
}

// spreadError says in which workspaces nothing was done.
func (s spreader) spreadError(ctx context.Context, left []retake.Plan, err error) error {
	var names, hints []string
	for i := range left {
		name := s.workspaceName(ctx, left[i].Workspace)
		names = append(names, name)
		hint := fmt.Sprintf("try it there: retake %s --here --workspace %s", left[i].Course, name)
		if left[i].Course == retake.CourseUndo {
			hint = fmt.Sprintf("try it there: retake undo %d --here --workspace %s", left[i].Target.Number, name)
		}
		hints = append(hints, hint)
	}
	e := retake.AsError(err)
	return &retake.Error{
		Kind: retake.Partly, What: fmt.Sprintf("the turn is not %s in %s: %s", doneWord(left[0].Course), strings.Join(names, ", "), e.What),
		Safe: "Everywhere else it is. " + e.Safe, Hint: strings.Join(hints, "\n"), Err: err,
	}
}

func doneWord(c retake.Course) string {
	if c == retake.CourseRedo {
		return "redone"
	}
	return "undone"
}
