package rewind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// PlanRestore returns what a restore, undo, redo or adopt would do. It changes nothing.
func (s *Rewinder) PlanRestore(ctx context.Context, req retake.PlanRequest) (retake.Plan, error) {
	if s.canSpread(req) {
		return spreader{s}.planSpread(ctx, req)
	}
	return s.planHere(ctx, req)
}

// planHere is PlanRestore in one workspace.
func (s *Rewinder) planHere(ctx context.Context, req retake.PlanRequest) (retake.Plan, error) {
	if o, err := s.findOutside(ctx, req); err != nil || o != nil {
		if err == nil {
			err = o.makePlan(ctx)
		}
		return o.planOrNone(), workspace.WrapError("no plan could be made", workspace.Unchanged, err)
	}
	at, err := s.openRestoreRoot(ctx, req)
	if err != nil {
		return retake.Plan{}, err
	}
	defer at.close()
	if err := s.prepareAdopt(ctx, req); err != nil {
		return retake.Plan{}, err
	}
	p, err := s.planAndRemember(ctx, at, req)
	if err == nil {
		s.insight.AddPlanFacts(ctx, &p)
	}
	return p, workspace.WrapError("no plan could be made", workspace.Unchanged, err)
}

// planAndRemember makes a plan under the workspace lock and remembers it.
func (s *Rewinder) planAndRemember(ctx context.Context, at *rootLocation, req retake.PlanRequest) (retake.Plan, error) {
	l := s.workspaces.CacheFor(at.ws.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	_, p, _, err := s.planCurrent(ctx, l, at, req, nil)
	if err == nil && p.Total() <= maxRememberedSteps {
		l.LastPlan, l.LastPlanAt = &p, s.workspaces.Clock.Now()
	}
	return p, err
}

// planCurrent makes a plan from the current files. With shown, the open files of that plan
// are reused.
func (s *Rewinder) planCurrent(ctx context.Context, l *workspace.Cache, at *rootLocation, req retake.PlanRequest, shown *retake.Plan) (resolvedRestore, retake.Plan, workspaceSnapshot, error) {
	v, err := s.snapshotRoot(ctx, l, at)
	if err != nil {
		return resolvedRestore{}, retake.Plan{}, v, err
	}
	w := restore.Environment{Root: at.root, Holders: s.findHolders}
	if w.Free, err = s.freeSpaceAt(at); err != nil {
		return resolvedRestore{}, retake.Plan{}, v, err
	}
	if shown != nil {
		w.Holders = nil
	}
	j, err := s.resolveRestore(ctx, at.ws, req, v)
	if err != nil {
		return j, retake.Plan{}, v, err
	}
	p, err := s.makePlan(ctx, at.ws, j, v, w)
	if err == nil {
		p.Effects, err = s.remainingEffects(ctx, at.ws.ID, j)
		s.addWorkingObstacle(req, &p)
	}
	if err == nil {
		err = s.addKeptEdits(ctx, j, &p, v)
	}
	if shown != nil {
		p.Holders = shown.Holders
		for _, o := range shown.Obstacles {
			if o.Class == retake.ObstacleHeld || o.Class == retake.ObstacleDatabase {
				p.Obstacles = append(p.Obstacles, o)
			}
		}
	}
	p.Safety = retake.Safety{Number: v.tip.Number + 1}
	if p.Lost = at.lost; v.isUnchanged || at.isEmpty() {
		p.Safety = retake.Safety{Number: v.tip.Number, There: true}
	}
	return j, p, v, err
}

// addKeptEdits adds to the plan of an undo which edits it keeps and, if nothing of this
// item is left to undo, which item is next.
func (s *Rewinder) addKeptEdits(ctx context.Context, j resolvedRestore, p *retake.Plan, v workspaceSnapshot) error {
	if j.req.Course != retake.CourseUndo || j.unsavedOnly || len(j.req.Hunks) > 0 {
		return nil
	}
	if n := len(v.unsaved); n > 0 || len(j.keptEdits) > 0 {
		p.Edits = &retake.KeptEdits{Unsaved: int64(n), Checkpoints: j.keptEdits}
	}
	if !changesOnlyTimes(p) || j.req.Ref != "" {
		return nil
	}
	next, err := s.findItemBefore(ctx, j.req, s.history.NewTimelineWalk(j.req.Paths), j.target.Number)
	if retake.IsKind(err, retake.NotFound) {
		return nil
	}
	p.Next = next.Number
	return err
}

// makePlan makes the plan of a resolved restore from a snapshot of the workspace.
func (s *Rewinder) makePlan(ctx context.Context, ws retake.Workspace, j resolvedRestore, v workspaceSnapshot, w restore.Environment) (retake.Plan, error) {
	r := restore.Request{
		Course: j.req.Course, Target: j.target, Paths: j.req.Paths, Git: j.req.Git, Trees: v.trees,
		Now: v.root, Base: j.base, Want: j.want, NowGaps: v.gaps, WantGaps: j.wantGaps, Unsaved: v.unsaved,
		Protected: j.protected, Hunks: j.req.Hunks, IsVolatile: restore.IsVolatile, IsDamaged: s.damageOf(ctx), SideSuffix: j.sideSuffix, FileCount: v.root.Sum.Files + v.root.Sum.Symlinks, Environment: w,
	}
	if j.interrupted != nil {
		r.Paths = nil
		p, err := restore.PlanRecovery(ctx, r, j.interrupted)
		p.Workspace = ws.ID
		return p, err
	}
	if j.unsavedOnly {
		now := v.root
		r.Base, r.Want = &now, j.want
		r.KeepGenerated = true
	}
	p, err := restore.MakePlan(ctx, r)
	if along := j.req.Course == retake.CourseUndo || j.req.Course == retake.CourseRedo; err == nil && along && len(r.Hunks) == 0 && changesOnlyTimes(&p) {
		r.OnlyGit = !r.Git
		r.KeepGenerated, r.Git = false, true // only logs and git differ: undo exactly these
		p, err = restore.MakePlan(ctx, r)
	}
	p.Workspace, p.Fork = ws.ID, j.fork
	for _, cp := range j.olderItems {
		p.Also = append(p.Also, cp.Number)
	}
	for i := range p.Git {
		p.Git[i].Checkpoint = j.wantNumber
	}
	return p, err
}

// damageOf returns the function that tells which stored objects cannot be read, or nil if no
// damage is known.
func (s *Rewinder) damageOf(ctx context.Context) func(retake.ObjectID) bool {
	st := s.workspaces.StoreIfOpen()
	if st == nil {
		return nil
	}
	d := st.Damage()
	if d.Parts == 0 {
		return nil
	}
	known := map[retake.ObjectID]bool{}
	return func(id retake.ObjectID) bool {
		if !d.Touches(id) {
			return false
		}
		bad, asked := known[id]
		if !asked {
			bad = !isReadable(ctx, st, id)
			known[id] = bad
		}
		return bad
	}
}

// isReadable reads an object to its end. A directory is an object like any other.
func isReadable(ctx context.Context, st store.Store, id retake.ObjectID) bool {
	f, err := st.File(ctx, id)
	if err != nil {
		return !errors.Is(err, store.ErrDamaged)
	}
	defer f.Close() //nolint:errcheck // only read
	_, err = io.Copy(io.Discard, f)
	return !errors.Is(err, store.ErrDamaged)
}

// changesOnlyTimes reports whether a plan changes no content.
func changesOnlyTimes(p *retake.Plan) bool {
	beside := func(k retake.Keep) bool { return k.Side != "" }
	more := func(s retake.Step) bool { return s.What != retake.Timed }
	return !slices.ContainsFunc(insight.PlanSteps(p), more) && !slices.ContainsFunc(p.Keeps, beside)
}

// findHolders finds the processes that have files open.
func (s *Rewinder) findHolders(ctx context.Context, files []fsx.Info) ([]restore.OpenFile, error) {
	want, at := map[proc.Inode]bool{}, map[proc.Inode]int{}
	for i, f := range files {
		n := proc.Inode{Dev: f.Dev, Ino: f.Ino}
		want[n], at[n] = true, i
	}
	found, _, err := proc.FindFileUsers(ctx, want)
	var out []restore.OpenFile
	for _, h := range found {
		out = append(out, restore.OpenFile{File: at[h.Inode], PID: h.PID, Command: h.Command})
	}
	return out, err
}

// matchesDigest compares a digest with the prefix that a person typed.
func matchesDigest(full, typed string) bool {
	typed = normalizeDigest(typed)
	return len(typed) >= minDigestLen && strings.HasPrefix(full, typed)
}

// minDigestLen is the shortest prefix of a digest that is accepted.
const minDigestLen = 8

func normalizeDigest(typed string) string { return strings.ReplaceAll(strings.ToLower(typed), "-", "") }

// maxRememberedSteps bounds the plans that are remembered to explain later differences.
const maxRememberedSteps = 20_000

// planChangedError says what changed since a plan was shown, if that plan is still known.
func planChangedError(l *workspace.Cache, digest string, now retake.Plan) error {
	if l.LastPlan == nil || !matchesDigest(l.LastPlan.Digest, digest) {
		return planMovedError(retake.Plan{}, retake.Plan{})
	}
	return planMovedError(*l.LastPlan, now)
}

// planMovedError says that the files changed between two plans, and lists some paths.
func planMovedError(before, after retake.Plan) error {
	paths := differingPaths(before, after)
	text := ""
	if n := len(paths); n > 0 {
		text = fmt.Sprintf(" %d of its paths differ now: %s.", n, strings.Join(paths[:min(n, 5)], ", "))
	}
	return &retake.Error{
		Kind: retake.Moved, What: "files changed since this plan was made", Safe: workspace.Unchanged + text,
		Hint: "make a new plan and apply it\nsee what changed: retake diff",
	}
}

// differingPaths returns the paths for which two plans differ.
func differingPaths(a, b retake.Plan) []string {
	said := map[string]string{}
	var out []string
	for i, p := range []retake.Plan{a, b} {
		for _, s := range insight.PlanSteps(&p) {
			text := fmt.Sprintf("%s %+v %+v", s.What, visibleAttributes(s.Now), visibleAttributes(s.Then))
			if i == 0 {
				said[s.Path] = text
			} else if said[s.Path] == text {
				delete(said, s.Path)
			} else if _, ok := said[s.Path]; !ok {
				out = append(out, s.Path)
			}
		}
	}
	for p := range said {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// visibleAttributes returns the part of an entry that people see.
func visibleAttributes(e *retake.Entry) retake.Entry {
	if e == nil {
		return retake.Entry{}
	}
	return retake.Entry{Kind: e.Kind, Mode: e.Mode, Size: e.Size, ModTime: e.ModTime}
}
