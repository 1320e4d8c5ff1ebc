package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"

	"github.com/retake-dev/retake"
)

// PlanRecovery makes the plan that ends an interrupted restore, by finishing it or by undoing
// what was done. It changes only paths that are in a state that the restore can have left them
// in; all others are kept and listed.
func PlanRecovery(ctx context.Context, r Request, cut *InterruptedRestore) (retake.Plan, error) {
	r.NoMerge, r.Base = true, &retake.Entry{} // three-way, whatever the base
	p := newPlanner(r)
	finish := r.Course == retake.CourseFinish
	for i, o := range orderOps(&cut.Plan) {
		if err := p.recoverPath(ctx, o.step, finish, cut.HasSplit && i >= cut.Done); err != nil {
			return p.plan, err
		}
	}
	for _, steps := range [][]retake.Step{cut.Plan.Writes, cut.Plan.Times} {
		for _, s := range steps {
			if isDir(s.Then) && (isDir(s.Now) || s.Path == displayPath("")) {
				if err := p.recoverPath(ctx, s, finish, false); err != nil {
					return p.plan, err
				}
			}
		}
	}
	sortSteps(p.plan.Writes)
	sortSteps(p.plan.Deletes)
	if err := p.findRemaining(ctx); err != nil {
		return p.plan, err
	}
	if err := p.findNewCompanions(ctx, &cut.Plan); err != nil {
		return p.plan, err
	}
	p.keepWholeUnits()
	p.keepOccupiedDirs()
	return p.plan, p.finishPlan(ctx)
}

// findRemaining finds files in directories that would be deleted which the plan does not
// delete. They stay, and so do the directories.
func (p *planner) findRemaining(ctx context.Context) error {
	going := map[string]bool{}
	for _, s := range p.plan.Deletes {
		going[s.Path] = true
	}
	for _, s := range slices.Concat(p.plan.Deletes, p.plan.Writes) {
		if !isDir(s.Now) || isDir(s.Then) {
			continue
		}
		entries, err := p.Trees.Dir(ctx, s.Now.Object)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if path := joinPath(s.Path, e.Name); !going[path] {
				p.remaining = append(p.remaining, path)
			}
		}
	}
	return nil
}

// findNewCompanions keeps databases that got a companion file since: it belongs to the bytes
// that are there now.
func (p *planner) findNewCompanions(ctx context.Context, cut *retake.Plan) error {
	known := map[string]bool{}
	for _, s := range slices.Concat(cut.Writes, cut.Deletes) { // one of these was decided about already
		known[s.Path] = true
	}
	for i, s := range p.plan.Writes {
		if s.Now == nil || s.Now.Kind != retake.KindFile || s.What != retake.Edited {
			continue
		}
		for _, c := range retake.Companions {
			e, err := entryOrNil(p.nowFinder.Find(ctx, s.Path+c))
			if err != nil {
				return err
			}
			if e != nil && !known[s.Path+c] {
				p.plan.Writes[i].Unit, p.changedUnits[s.Path] = s.Path, true
			}
		}
	}
	return nil
}

// recoverPath decides about one path of the interrupted plan. open means that the file may
// have been moved away without a replacement, because names could not be exchanged.
func (p *planner) recoverPath(ctx context.Context, s retake.Step, finish, open bool) error {
	now, err := entryOrNil(p.nowFinder.Find(ctx, trimRoot(s.Path)))
	if err != nil {
		return err
	}
	if now == nil && p.nowGaps.covers(s.Path) {
		p.addKeep(s.Path, sides{want: s.Then}, retake.KeepUncaptured, p.nowGaps.reason(s.Path))
		return nil
	}
	if s.Merge != nil {
		return p.recoverMerge(ctx, s, now, finish)
	}
	three := sides{now: now, base: s.Now, want: s.Then}
	if !finish {
		three.base, three.want = s.Then, s.Now
	}
	if isDir(now) && isDir(three.base) { // its metadata is set last of all
		three.base = now
	}
	if isDir(now) && isDir(three.want) {
		return p.recoverDir(ctx, s, now, three.want)
	}
	half, err := p.isHalfDone(ctx, now, s, open)
	if err != nil {
		return err
	}
	if half {
		three.base = now
	}
	return p.decidePath(ctx, s.Path, three, stepUnits(s))
}

// isHalfDone reports whether a path is in a state that only an interruption within one step
// leaves.
func (p *planner) isHalfDone(ctx context.Context, now *retake.Entry, s retake.Step, open bool) (bool, error) {
	if open && now == nil && s.Now != nil && s.Then != nil {
		return true, nil
	}
	return p.hasPartialMetadata(ctx, now, s)
}

// hasPartialMetadata reports whether a file whose metadata alone was to change has a mixture
// of the old and the new metadata.
func (p *planner) hasPartialMetadata(ctx context.Context, now *retake.Entry, s retake.Step) (bool, error) {
	if now == nil || s.Now == nil || s.Then == nil || s.What != retake.Moded || isDir(now) {
		return false, nil
	}
	same, err := p.sameBytes(ctx, now, s.Then)
	return same && (now.Mode == s.Now.Mode || now.Mode == s.Then.Mode) && (sameXattrs(now, s.Now) || sameXattrs(now, s.Then)), err
}

// recoverDir sets the metadata of a directory. Its time is always reset, since we may change
// names in it.
func (p *planner) recoverDir(ctx context.Context, s retake.Step, now, want *retake.Entry) error {
	before := len(p.plan.Writes) + len(p.plan.Times)
	if err := p.addStep(ctx, s.Path, now, want, nil); err != nil {
		return err
	}
	if len(p.plan.Writes)+len(p.plan.Times) == before {
		p.plan.Times = append(p.plan.Times, retake.Step{Path: s.Path, What: retake.Timed, Now: now, Then: want})
	}
	return nil
}

func stepUnits(s retake.Step) map[string]string {
	if s.Unit == "" {
		return nil
	}
	return map[string]string{s.Path: s.Unit}
}

// recoverMerge decides about a merged file. Merged text is not stored, so it is recognized by
// its digest.
func (p *planner) recoverMerge(ctx context.Context, s retake.Step, now *retake.Entry, finish bool) error {
	before, err := p.isAlike(ctx, now, s.Now)
	if err != nil {
		return err
	}
	after, err := p.hasDigest(ctx, now, s.Merge.Digest)
	switch {
	case err != nil:
		return err
	case finish && after, !finish && before:
	case finish && before:
		s.Now = now
		p.plan.Merges = append(p.plan.Merges, s)
	case !finish && (after || now == nil):
		return p.addStep(ctx, s.Path, now, s.Now, nil)
	default:
		p.addKeep(s.Path, sides{now: now}, retake.KeepChanged, "changed since")
	}
	return nil
}

func (p *planner) hasDigest(ctx context.Context, e *retake.Entry, digest string) (bool, error) {
	if e == nil || e.Kind != retake.KindFile || e.Size > maxTextBytes {
		return false, nil
	}
	f, err := p.Trees.File(ctx, e.Object)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == digest, nil
}
