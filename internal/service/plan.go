package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// PlanRestore says what going back, sideways or forward would do. It touches nothing.
func (s *Service) PlanRestore(ctx context.Context, req retake.PlanRequest) (retake.Plan, error) {
	at, err := s.openPlace(ctx, req)
	if err != nil {
		return retake.Plan{}, err
	}
	defer at.close()
	if err := s.prepareAdopt(ctx, req); err != nil {
		return retake.Plan{}, err
	}
	p, err := s.planLocked(ctx, at, req)
	if err == nil {
		s.sayMeanings(ctx, &p)
	}
	return p, fault("no plan could be made", unchanged, err)
}

// planLocked makes the plan and remembers it, while nobody saves.
func (s *Service) planLocked(ctx context.Context, at *place, req retake.PlanRequest) (retake.Plan, error) {
	l := s.liveOf(at.ws.ID)
	l.lock()
	defer l.mu.Unlock()
	_, p, _, err := s.planNow(ctx, l, at, req, nil)
	if err == nil && p.Total() <= maxShown {
		l.shown, l.shownAt = &p, s.p.Clock.Now()
	}
	return p, err
}

// planNow makes the plan from what is there now. With shown, what that plan says of
// processes stands.
func (s *Service) planNow(ctx context.Context, l *live, at *place, req retake.PlanRequest, shown *retake.Plan) (journey, retake.Plan, view, error) {
	v, err := s.seenAt(ctx, l, at)
	if err != nil {
		return journey{}, retake.Plan{}, v, err
	}
	w := restore.Environment{Root: at.root, Holders: s.holders}
	if w.Free, err = s.freeAt(at); err != nil {
		return journey{}, retake.Plan{}, v, err
	}
	if shown != nil {
		w.Holders = nil
	}
	j, err := s.travel(ctx, at.ws, req, v)
	if err != nil {
		return j, retake.Plan{}, v, err
	}
	p, err := s.planFor(ctx, at.ws, j, v, w)
	if err == nil {
		p.Effects, err = s.crossed(ctx, at.ws.ID, j)
		s.askWorking(req, &p)
	}
	if err == nil {
		err = s.sayWhatStays(ctx, j, &p, v)
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
	if p.Lost = at.lost; v.still || at.bare() {
		p.Safety = retake.Safety{Number: v.tip.Number, There: true}
	}
	return j, p, v, err
}

// sayWhatStays adds to the plan of an undo which edits it leaves, and which item comes next
// when nothing of this one is left to take back.
func (s *Service) sayWhatStays(ctx context.Context, j journey, p *retake.Plan, v view) error {
	if j.req.Course != retake.CourseUndo || j.loose || len(j.req.Hunks) > 0 {
		return nil
	}
	if n := len(v.loose); n > 0 || len(j.edits) > 0 {
		p.Edits = &retake.KeptEdits{Unsaved: int64(n), Checkpoints: j.edits}
	}
	if !onlyTimes(p) || j.req.Ref != "" {
		return nil
	}
	next, err := s.itemBefore(ctx, j.req, s.walkBack(j.req.Paths), j.target.Number)
	if retake.IsKind(err, retake.NotFound) {
		return nil
	}
	p.Next = next.Number
	return err
}

// planFor makes the plan of a journey from one view of the workspace.
func (s *Service) planFor(ctx context.Context, ws retake.Workspace, j journey, v view, w restore.Environment) (retake.Plan, error) {
	r := restore.Request{
		Course: j.req.Course, Target: j.target, Paths: j.req.Paths, Git: j.req.Git, Trees: v.trees,
		Now: v.root, Base: j.base, Want: j.want, NowGaps: v.gaps, WantGaps: j.gaps, Unsaved: v.loose,
		Protected: j.spare, Hunks: j.req.Hunks, IsVolatile: restore.IsVolatile, SideSuffix: j.side, FileCount: v.root.Sum.Files + v.root.Sum.Symlinks, Environment: w,
	}
	if j.cut != nil {
		r.Paths = nil
		p, err := restore.PlanRecovery(ctx, r, j.cut)
		p.Workspace = ws.ID
		return p, err
	}
	if j.loose {
		now := v.root
		r.Base, r.Want = &now, j.want
		r.KeepGenerated = true
	}
	p, err := restore.MakePlan(ctx, r)
	if along := j.req.Course == retake.CourseUndo || j.req.Course == retake.CourseRedo; err == nil && along && len(r.Hunks) == 0 && onlyTimes(&p) {
		r.OnlyGit = !r.Git
		r.KeepGenerated, r.Git = false, true // logs and git are all there is to take back: then exactly these
		p, err = restore.MakePlan(ctx, r)
	}
	p.Workspace, p.Fork = ws.ID, j.fork
	for _, cp := range j.also {
		p.Also = append(p.Also, cp.Number)
	}
	for i := range p.Git {
		p.Git[i].Checkpoint = j.from
	}
	return p, err
}

// onlyTimes reports whether a plan changes no content: it is empty, or puts times back.
func onlyTimes(p *retake.Plan) bool {
	beside := func(k retake.Keep) bool { return k.Side != "" }
	more := func(s retake.Step) bool { return s.What != retake.Timed }
	return !slices.ContainsFunc(steps(p), more) && !slices.ContainsFunc(p.Keeps, beside)
}

// holders asks which processes have these files open.
func (s *Service) holders(ctx context.Context, files []fsx.Info) ([]restore.OpenFile, error) {
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

// sameDigest compares a digest with what people type of it.
func sameDigest(full, typed string) bool {
	typed = plainDigest(typed)
	return len(typed) >= shortDigest && strings.HasPrefix(full, typed)
}

// shortDigest is as much of a digest as people type.
const shortDigest = 8

func plainDigest(typed string) string { return strings.ReplaceAll(strings.ToLower(typed), "-", "") }

// maxShown is the longest plan that is remembered, to say what moved since.
const maxShown = 20_000

// movedFrom says what moved since a plan was shown, if that is still known.
func (l *live) movedFrom(digest string, now retake.Plan) error {
	if l.shown == nil || !sameDigest(l.shown.Digest, digest) {
		return moved(retake.Plan{}, retake.Plan{})
	}
	return moved(*l.shown, now)
}

func moved(before, after retake.Plan) error {
	paths := differingPaths(before, after)
	text := ""
	if n := len(paths); n > 0 {
		text = fmt.Sprintf(" %d of its paths differ now: %s.", n, strings.Join(paths[:min(n, 5)], ", "))
	}
	return &retake.Error{
		Kind: retake.Moved, What: "files changed since this plan was made", Safe: unchanged + text,
		Hint: "make a new plan and apply it\nsee what changed: retake diff",
	}
}

// differingPaths are the paths of which two plans do not say the same.
func differingPaths(a, b retake.Plan) []string {
	said := map[string]string{}
	var out []string
	for i, p := range []retake.Plan{a, b} {
		for _, s := range steps(&p) {
			text := fmt.Sprintf("%s %+v %+v", s.What, look(s.Now), look(s.Then))
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

// look is what people see of an entry.
func look(e *retake.Entry) retake.Entry {
	if e == nil {
		return retake.Entry{}
	}
	return retake.Entry{Kind: e.Kind, Mode: e.Mode, Size: e.Size, ModTime: e.ModTime}
}

func steps(p *retake.Plan) []retake.Step {
	return slices.Concat(p.Deletes, p.Writes, p.Merges)
}
