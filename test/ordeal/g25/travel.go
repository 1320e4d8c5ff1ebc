//go:build linux

package g25

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/playbed"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

// aim is what the oracle says of a plan.
type aim struct {
	target  int64 // the item, or the checkpoint gone to; 0: of no checkpoint
	among   bool  // any item that was not taken back: sessions worked at the same time
	item    *item
	after   playbed.World // nil: whatever the plan says
	left    []string      // must be named, because it stays
	kept    []int64       // automatic checkpoints whose edits stay
	unsaved bool          // there are edits in no checkpoint, and they stay
	idle    bool
	next    int64 // to be named, because nothing is left of this one
}

// anyNext: sessions worked beside each other before it.
const anyNext = -1

// travel makes the plan, holds it against the oracle, applies it, and holds the files
// against both.
func (t *tale) travel(ctx context.Context, req retake.PlanRequest, to aim) error {
	req.Workspace = t.ws
	plan, err := t.svc.PlanRestore(ctx, req)
	if to.among && retake.IsKind(err, retake.NotFound) && t.pointed(0, req.Paths) == nil {
		return nil
	}
	if err == nil {
		err = t.promised(req, plan, to)
	}
	if err != nil {
		return err
	}
	res, err := t.svc.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: returnbed.Classes(plan)})
	if err != nil {
		return err
	}
	got, err := t.look(t.root)
	switch {
	case err != nil:
		return err
	case len(res.Failed) > 0:
		return fmt.Errorf("left %v", res.Failed)
	case to.after != nil && len(to.after.Differs(got)) > 0:
		return fmt.Errorf("%w; the plan: %s", firstDifferences(to.after, got), brief(plan))
	}
	if err := nothingElse(plan, t.now, got); err != nil {
		return err
	}
	return t.arrived(req, plan, res, to, got)
}

// promised holds a plan against the oracle before anything is done.
func (t *tale) promised(req retake.PlanRequest, plan retake.Plan, to aim) error {
	var target int64
	if plan.Target != nil {
		target = plan.Target.Number
	}
	switch {
	case to.among && !slices.Contains(t.countable(req.Paths), target):
		return fmt.Errorf("it is about %d, which is none of %v", target, t.countable(req.Paths))
	case to.among || req.Course == retake.CourseAdopt:
	case target != to.target:
		return fmt.Errorf("it is about %d, want %d", target, to.target)
	}
	for _, p := range to.left {
		if !named(plan, p) {
			return fmt.Errorf("%s stays, and the plan does not say so: %s", p, brief(plan))
		}
	}
	if asks := slices.ContainsFunc(plan.Obstacles, func(o retake.Obstacle) bool { return o.Class == retake.ObstacleGit }); !asks && t.now.Has(".git") && slices.ContainsFunc(touched(plan), inRepo) && req.Course == retake.CourseUndo && !req.Edits {
		return fmt.Errorf("git is moved, and nobody is asked: %s", brief(plan))
	}
	if req.Course != retake.CourseUndo || req.Edits || to.after == nil {
		return nil
	}
	return staysSaid(plan, to)
}

// staysSaid: the plan of an undo says which edits it leaves, and what comes next.
func staysSaid(plan retake.Plan, to aim) error {
	var checkpoints []int64
	unsaved := false
	if plan.Edits != nil {
		checkpoints, unsaved = slices.Sorted(slices.Values(plan.Edits.Checkpoints)), plan.Edits.Unsaved > 0
	}
	switch {
	case unsaved != to.unsaved:
		return fmt.Errorf("unsaved edits: the plan says %v, there are some: %v", unsaved, to.unsaved)
	case plan.Target.Return == nil && !slices.Equal(checkpoints, to.kept):
		return fmt.Errorf("automatic checkpoints that stay: the plan says %v, want %v", checkpoints, to.kept)
	case plan.Next != to.next && to.next != anyNext:
		return fmt.Errorf("next is %d, want %d (nothing left: %v; %s)", plan.Next, to.next, to.idle, brief(plan))
	}
	return nil
}

func inRepo(p string) bool { return strings.HasPrefix(p, ".git/") }

func touched(plan retake.Plan) []string {
	var out []string
	for _, s := range slices.Concat(plan.Writes, plan.Deletes, plan.Merges) {
		out = append(out, s.Path)
	}
	return out
}

// named reports whether a plan says that a path stays: itself, or with its directory.
func named(plan retake.Plan, path string) bool {
	return slices.ContainsFunc(plan.Keeps, func(k retake.Keep) bool {
		return k.Path == path || k.Path == path+"/" || strings.HasSuffix(k.Path, "/") && strings.HasPrefix(path, k.Path)
	})
}

// nothingElse: a path that the plan says nothing about is not touched.
func nothingElse(plan retake.Plan, before, after playbed.World) error {
	said := map[string]bool{}
	for _, p := range touched(plan) {
		said[p] = true
	}
	for _, k := range plan.Keeps {
		said[k.Side] = true
	}
	for p := range mergedKeys(before, after) {
		if (before[p] != after[p] || before.Has(p) != after.Has(p)) && !said[p] {
			return fmt.Errorf("%s was touched, and the plan does not mention it: %s", p, brief(plan))
		}
	}
	return nil
}

// arrived adds what was recorded to the oracle.
func (t *tale) arrived(req retake.PlanRequest, plan retake.Plan, res retake.RestoreResult, to aim, got playbed.World) error {
	before := t.latest()
	edited := len(t.unsaved()) > 0
	if res.Checkpoint.Number == before {
		return firstDifferences(t.now, got)
	}
	switch {
	case res.Safety.Number == before+1:
		t.automatic(t.now)
	case res.Safety.Number != before || edited:
		return fmt.Errorf("the safety checkpoint is %d of %d, edits: %v", res.Safety.Number, before, edited)
	}
	was := t.now
	t.now = maps.Clone(got)
	t.interrupted()
	switch {
	case req.Course == retake.CourseUndo || req.Course == retake.CourseRedo:
		t.ways[t.mark(got)] = true
		t.went(req, plan, to, was, got)
	default:
		t.recorded(was, got)
	}
	return t.numbered(res.Checkpoint)
}

// went notes what undo took back, or redo brought again.
func (t *tale) went(req retake.PlanRequest, plan retake.Plan, to aim, was, got playbed.World) {
	i := to.item
	switch {
	case req.Edits:
		i = t.owner[t.latest()-1]
	case to.among:
		i = t.owner[plan.Target.Number]
	}
	if req.Course == retake.CourseUndo {
		i.ways = append(i.ways, way{true, req.Paths})
		t.redo = append(t.redo, undone{i, req.Paths, was, maps.Clone(got), t.latest()})
		return
	}
	last := t.redo[len(t.redo)-1]
	i.ways = append(i.ways, way{false, last.paths})
	t.redo = t.redo[:len(t.redo)-1]
}

// brief is a plan in one line.
func brief(p retake.Plan) string {
	var out []string
	for _, s := range p.Writes {
		out = append(out, "+"+s.Path)
	}
	for _, s := range p.Deletes {
		out = append(out, "-"+s.Path)
	}
	for _, s := range p.Merges {
		out = append(out, "~"+s.Path)
	}
	for _, k := range p.Keeps {
		out = append(out, fmt.Sprintf("=%s(%s)", k.Path, k.Why))
	}
	return strings.Join(out, " ")
}
