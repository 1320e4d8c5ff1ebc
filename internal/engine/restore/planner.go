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

// Request is what a plan is made of. Trees reads all three trees.
type Request struct {
	Course   retake.Course
	Target   *retake.Checkpoint
	Paths    []string          // none: everything
	Git      bool              // also repositories that are there
	Steady   bool              // logs and build output that changed are left
	GitAlone bool              // git is all that the item changed, so it goes back and is asked about
	Plain    bool              // no merging of lines, no side copies: what differs is left
	Hunks    []retake.Hunk     // of the one path that is asked for, which alone are taken back
	Spare    map[string]Spared // by path: is left though it differs, and why
	Trees    store.Trees
	Now      retake.Entry
	Base     *retake.Entry // nil: whatever is there now gives way
	Want     retake.Entry
	NowGaps  []retake.Gap
	WantGaps []retake.Gap
	Loose    map[string]bool // changed since the last checkpoint; what it holds is asked about
	Volatile func(path string) bool
	Side     string // what names of side copies end in
	Files    int64  // that are there now
	World    World
}

// Spared is why a path is left: it is not, or not only, the work that is taken back.
type Spared struct {
	Why    retake.KeepReason
	Detail string
}

// Make makes the plan. It touches nothing.
func Make(ctx context.Context, r Request) (retake.Plan, error) {
	p := newPlanner(r)
	top := sides{now: &p.Now, base: r.Base, want: &p.Want}
	w := walk{trees: r.Trees, two: r.Base == nil, f: func(path string, s sides, kin map[string]string) (bool, error) {
		return p.visit(ctx, path, s, kin)
	}}
	if w.two {
		top.base = top.now
	}
	if len(r.Paths) == 0 {
		if err := p.settle(ctx, tree.Root, top, nil); err != nil {
			return p.plan, err
		}
	}
	if err := w.below(ctx, "", top); err != nil {
		return p.plan, err
	}
	if err := p.tidy(ctx); err != nil {
		return p.plan, err
	}
	return p.plan, p.close(ctx)
}

func newPlanner(r Request) *planner {
	p := &planner{Request: r, compared: map[[2]retake.ObjectID]bool{}, movedUnits: map[string]bool{}}
	p.dirs, p.now = map[string]*retake.Entry{"": &p.Now}, tree.NewFinder(r.Trees, r.Now)
	p.nowGaps, p.wantGaps = newGaps(r.NowGaps, false), newGaps(r.WantGaps, true)
	if p.Volatile == nil {
		p.Volatile = func(string) bool { return false }
	}
	p.plan = retake.Plan{
		Course: r.Course, Target: r.Target, Paths: r.Paths, Files: r.Files, Writes: []retake.Step{}, Deletes: []retake.Step{},
		Merges: []retake.Step{}, Times: []retake.Step{}, Keeps: []retake.Keep{}, Obstacles: []retake.Obstacle{}, Holders: []retake.Holder{}, Effects: []retake.Effect{},
	}
	return p
}

// close asks what stands in the way, and gives the plan its digest.
func (p *planner) close(ctx context.Context) error {
	if err := p.obstacles(ctx); err != nil {
		return err
	}
	p.plan.Digest = digest(&p.plan)
	return nil
}

// planner makes one plan.
type planner struct {
	Request
	plan              retake.Plan
	nowGaps, wantGaps gaps
	compared          map[[2]retake.ObjectID]bool
	dirs              map[string]*retake.Entry // directories on the way, as they are now
	now               *tree.Finder
	uncaptured        []string        // what would be in the way
	movedUnits        map[string]bool // databases of which a file changed that nobody asks about
	stays             []string        // what is there now and is in nobody's way
}

// World is what a plan asks of the machine.
type World struct {
	Root    fsx.Dir
	Free    int64                                                       // bytes on the disk of the workspace
	Holders func(ctx context.Context, files []fsx.Info) ([]Held, error) // nil: nobody is asked
}

// Held is a file that a process has open.
type Held struct {
	File    int // index of what was asked
	PID     int
	Command string
}

// visit decides about one path, and whether to go below it.
func (p *planner) visit(ctx context.Context, path string, s sides, kin map[string]string) (bool, error) {
	if isDir(s.now) {
		p.dirs[path] = s.now
	}
	if !p.chosen(path, kin) {
		shut := p.shut(path, s)
		if shut && p.leadsBelow(path) {
			p.keep(path, s, retake.KeepOccupied, "is in the way")
		}
		return !shut, nil
	}
	if kept, err := p.keptWhole(ctx, path, s); kept || err != nil {
		return false, err
	}
	if err := p.settle(ctx, path, s, kin); err != nil {
		return false, err
	}
	return !p.shut(path, s), nil
}

// keptWhole leaves a path with all that lies below it.
func (p *planner) keptWhole(ctx context.Context, path string, s sides) (bool, error) {
	switch {
	case s.now == nil && s.want != nil && p.nowGaps.holds(path):
		p.keep(path, s, retake.KeepUncaptured, p.nowGaps.why(path))
		p.uncaptured = append(p.uncaptured, path)
	case s.now != nil && s.want == nil && p.wantGaps.holds(path):
		p.keep(path, s, retake.KeepUnheld, p.wantGaps.why(path))
	case p.spares(path, s):
		p.keep(path, s, p.Spare[path].Why, p.Spare[path].Detail)
	case p.keepsGit(path, s):
		if err := p.leaveGit(ctx, path, s); err != nil {
			return false, err
		}
	case isDir(s.base) && isDir(s.want) && s.now == nil && s.base.Object != s.want.Object: // it went meanwhile
		p.keep(path, s, retake.KeepChanged, "is gone since")
	default:
		return false, nil
	}
	return true, nil
}

// chosen reports whether a path is asked for. With a database come its companions.
func (p *planner) chosen(path string, kin map[string]string) bool {
	if tree.Match(p.Paths, path) {
		return true
	}
	unit := kin[path]
	if unit == "" {
		return false
	}
	return tree.Match(p.Paths, unit) || slices.ContainsFunc(retake.Companions, func(c string) bool { return tree.Match(p.Paths, unit+c) })
}

// shut reports whether nothing below can be reached: something that stays is not a
// directory.
func (p *planner) shut(path string, s sides) bool {
	return s.now != nil && !isDir(s.now) && isDir(s.want) && !p.written(path)
}

// written reports whether the newest write is of this path.
func (p *planner) written(path string) bool {
	n := len(p.plan.Writes)
	return n > 0 && p.plan.Writes[n-1].Path == path
}

func (p *planner) keep(path string, s sides, why retake.KeepReason, detail string) {
	if isDir(s.now) || s.now == nil && isDir(s.want) {
		path += "/"
	}
	p.plan.Keeps = append(p.plan.Keeps, retake.Keep{Path: path, Why: why, Detail: detail})
}

// keepsGit: a repository that is there stays, unless the directory it lies in goes, or it is
// asked for by name.
func (p *planner) keepsGit(path string, s sides) bool {
	dir, name := split(path)
	if name != gitDir || p.Git || s.now == nil || s.base == s.want || p.named(path) {
		return false
	}
	if s.want == nil && p.going(dir) {
		return false
	}
	return true
}

// spares reports whether a file is left because somebody else may have changed it too.
func (p *planner) spares(path string, s sides) bool {
	_, ok := p.Spare[path]
	return ok && !isDir(s.now) && !isDir(s.want)
}

// named reports whether a path of the request leads into a repository.
func (p *planner) named(path string) bool {
	for _, q := range p.Paths {
		if q = strings.Trim(q, "/"); q == path || strings.HasPrefix(q, path+"/") {
			return true
		}
	}
	return false
}

// leadsBelow reports whether a path of the request may lie below this one.
func (p *planner) leadsBelow(path string) bool {
	for _, q := range p.Paths {
		if q = strings.Trim(q, "/"); strings.HasPrefix(q, path+"/") || strings.ContainsAny(q, "*?") {
			return true
		}
	}
	return false
}

// going reports whether a directory is deleted, or becomes something else.
func (p *planner) going(dir string) bool {
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
