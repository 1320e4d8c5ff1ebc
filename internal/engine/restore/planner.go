package restore

import (
	"context"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Request is the input of a plan. Trees reads all three trees.
type Request struct {
	Course        retake.Course
	Target        *retake.Checkpoint
	Paths         []string              // none: everything
	Git           bool                  // also repositories that are there
	KeepGenerated bool                  // logs and build output that changed are left
	OnlyGit       bool                  // git is all that the item changed, so it goes back and is asked about
	NoMerge       bool                  // no merging of lines, no side copies: what differs is left
	Hunks         []retake.Hunk         // of the one path that is asked for, which alone are taken back
	Protected     map[string]Protection // by path: is left though it differs, and why
	Trees         store.Trees
	Now           retake.Entry
	Base          *retake.Entry // nil: whatever is there now gives way
	Want          retake.Entry
	NowGaps       []retake.Gap
	WantGaps      []retake.Gap
	Unsaved       map[string]bool // changed since the last checkpoint; what it holds is asked about
	IsVolatile    func(path string) bool
	IsDamaged     func(id retake.ObjectID) bool // the stored bytes cannot be read; nil: all can
	SideSuffix    string                        // what names of side copies end in
	FileCount     int64                         // that are there now
	Environment   Environment
}

// Protection is the reason why a path is left: it is not, or not only, part of the work that
// is undone.
type Protection struct {
	Why    retake.KeepReason
	Detail string
}

// MakePlan makes the plan. It changes nothing.
func MakePlan(ctx context.Context, r Request) (retake.Plan, error) {
	p := newPlanner(r)
	top := sides{now: &p.Now, base: r.Base, want: &p.Want}
	w := treeWalker{trees: r.Trees, twoWay: r.Base == nil, visit: func(path string, s sides, kin map[string]string) (bool, error) {
		return p.visitPath(ctx, path, s, kin)
	}}
	if w.twoWay {
		top.base = top.now
	}
	if len(r.Paths) == 0 {
		if err := p.decidePath(ctx, tree.Root, top, nil); err != nil {
			return p.plan, err
		}
	}
	if err := w.walkDir(ctx, "", top); err != nil {
		return p.plan, err
	}
	if err := p.reconcile(ctx); err != nil {
		return p.plan, err
	}
	return p.plan, p.finishPlan(ctx)
}

func newPlanner(r Request) *planner {
	p := &planner{Request: r, equalCache: map[[2]retake.ObjectID]bool{}, changedUnits: map[string]bool{}}
	p.currentDirs, p.nowFinder = map[string]*retake.Entry{"": &p.Now}, tree.NewFinder(r.Trees, r.Now)
	p.nowGaps, p.wantGaps = newGapIndex(r.NowGaps, false), newGapIndex(r.WantGaps, true)
	if p.IsVolatile == nil {
		p.IsVolatile = func(string) bool { return false }
	}
	p.plan = retake.Plan{
		Course: r.Course, Target: r.Target, Paths: r.Paths, Files: r.FileCount, Writes: []retake.Step{}, Deletes: []retake.Step{},
		Merges: []retake.Step{}, Times: []retake.Step{}, Keeps: []retake.Keep{}, Obstacles: []retake.Obstacle{}, Holders: []retake.Holder{}, Effects: []retake.Effect{},
	}
	return p
}

// finishPlan finds the obstacles and gives the plan its digest.
func (p *planner) finishPlan(ctx context.Context) error {
	if err := p.findObstacles(ctx); err != nil {
		return err
	}
	p.plan.Digest = planDigest(&p.plan)
	return nil
}

// planner makes one plan.
type planner struct {
	Request
	plan              retake.Plan
	nowGaps, wantGaps gapIndex
	equalCache        map[[2]retake.ObjectID]bool
	currentDirs       map[string]*retake.Entry // directories on the way, as they are now
	nowFinder         *tree.Finder
	uncaptured        []string        // what would be in the way
	changedUnits      map[string]bool // databases of which a file changed that nobody asks about
	remaining         []string        // what is there now and is in nobody's way
}

// Environment is what a plan needs to know about the machine.
type Environment struct {
	Root    fsx.Dir
	Free    int64                                                           // bytes on the disk of the workspace
	Holders func(ctx context.Context, files []fsx.Info) ([]OpenFile, error) // nil: nobody is asked
}

// OpenFile is a file that a process has open.
type OpenFile struct {
	File    int // index of what was asked
	PID     int
	Command string
}

// visitPath decides about one path and reports whether to visit what is below it.
func (p *planner) visitPath(ctx context.Context, path string, s sides, kin map[string]string) (bool, error) {
	if isDir(s.now) {
		p.currentDirs[path] = s.now
	}
	if !p.isRequested(path, kin) {
		shut := p.isBlocked(path, s)
		if shut && p.mayMatchBelow(path) {
			p.addKeep(path, s, retake.KeepOccupied, "is in the way")
		}
		return !shut, nil
	}
	if kept, err := p.keepSubtree(ctx, path, s); kept || err != nil {
		return false, err
	}
	if err := p.decidePath(ctx, path, s, kin); err != nil {
		return false, err
	}
	return !p.isBlocked(path, s), nil
}

// keepSubtree reports whether a path stays with everything below it, and records why.
func (p *planner) keepSubtree(ctx context.Context, path string, s sides) (bool, error) {
	switch {
	case s.now == nil && s.want != nil && p.nowGaps.covers(path):
		p.addKeep(path, s, retake.KeepUncaptured, p.nowGaps.reason(path))
		p.uncaptured = append(p.uncaptured, path)
	case s.now != nil && s.want == nil && p.wantGaps.covers(path):
		p.addKeep(path, s, retake.KeepUnheld, p.wantGaps.reason(path))
	case p.isUnreadable(s):
		p.addKeep(path, s, retake.KeepDamaged, "")
	case p.isProtected(path, s):
		p.addKeep(path, s, p.Protected[path].Why, p.Protected[path].Detail)
	case p.isKeptRepository(path, s):
		if err := p.keepRepository(ctx, path, s); err != nil {
			return false, err
		}
	case isDir(s.base) && isDir(s.want) && s.now == nil && s.base.Object != s.want.Object: // it was deleted meanwhile
		p.addKeep(path, s, retake.KeepChanged, "is gone since")
	default:
		return false, nil
	}
	return true, nil
}

// isUnreadable reports whether what a path should become is damaged in the store. What is there
// stays: an old file is better than none.
func (p *planner) isUnreadable(s sides) bool {
	return p.IsDamaged != nil && s.want != nil && (s.now == nil || s.now.Object != s.want.Object) && p.IsDamaged(s.want.Object)
}

// isRequested reports whether a path is part of the request. A database includes its companion
// files.
func (p *planner) isRequested(path string, kin map[string]string) bool {
	if tree.Match(p.Paths, path) {
		return true
	}
	unit := kin[path]
	if unit == "" {
		return false
	}
	return tree.Match(p.Paths, unit) || slices.ContainsFunc(retake.Companions, func(c string) bool { return tree.Match(p.Paths, unit+c) })
}

// isBlocked reports whether nothing below a path can be restored because something that is not
// a directory stays there.
func (p *planner) isBlocked(path string, s sides) bool {
	return s.now != nil && !isDir(s.now) && isDir(s.want) && !p.isLastWrite(path)
}

// isLastWrite reports whether the most recent write of the plan is of this path.
func (p *planner) isLastWrite(path string) bool {
	n := len(p.plan.Writes)
	return n > 0 && p.plan.Writes[n-1].Path == path
}

// addKeep records that a path is left as it is.
func (p *planner) addKeep(path string, s sides, why retake.KeepReason, detail string) {
	if isDir(s.now) || s.now == nil && isDir(s.want) {
		path += "/"
	}
	p.plan.Keeps = append(p.plan.Keeps, retake.Keep{Path: path, Why: why, Detail: detail})
}

// isKeptRepository reports whether a repository stays. It does, unless its parent directory is
// deleted or the request names it.
func (p *planner) isKeptRepository(path string, s sides) bool {
	dir, name := splitPath(path)
	if name != gitDir || p.Git || s.now == nil || s.base == s.want || p.isRequestedByName(path) {
		return false
	}
	if s.want == nil && p.isDirRemoved(dir) {
		return false
	}
	return true
}

// isProtected reports whether a file is left because somebody else may have changed it too.
func (p *planner) isProtected(path string, s sides) bool {
	_, ok := p.Protected[path]
	return ok && !isDir(s.now) && !isDir(s.want)
}

// isRequestedByName reports whether a path of the request leads into a repository.
func (p *planner) isRequestedByName(path string) bool {
	for _, q := range p.Paths {
		if q = strings.Trim(q, "/"); q == path || strings.HasPrefix(q, path+"/") {
			return true
		}
	}
	return false
}

// mayMatchBelow reports whether a path of the request may be below this one.
func (p *planner) mayMatchBelow(path string) bool {
	for _, q := range p.Paths {
		if q = strings.Trim(q, "/"); strings.HasPrefix(q, path+"/") || strings.ContainsAny(q, "*?") {
			return true
		}
	}
	return false
}

// isDirRemoved reports whether a directory is deleted or replaced by something else.
func (p *planner) isDirRemoved(dir string) bool {
	for _, steps := range [][]retake.Step{p.plan.Deletes, p.plan.Writes} {
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i].Path == dir {
				return steps[i].Then == nil || !isDir(steps[i].Then)
			}
		}
	}
	return false
}

const gitDir = ".git"
