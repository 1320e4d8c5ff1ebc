package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Limits of deletions that are done without being asked about.
const (
	maxDeletes     = 1000
	maxDeleteShare = 0.3
	minMassDelete  = 10 // fewer are never many, however few files there are
)

// findObstacles finds the reasons to ask for confirmation before the plan is applied.
func (p *planner) findObstacles(ctx context.Context) error {
	p.checkUncaptured()
	p.checkUnsaved()
	p.checkPartial()
	p.checkDamaged()
	p.checkMassDelete()
	p.checkOverlap()
	p.checkSetuid()
	p.checkGit()
	if p.plan.Bytes > p.Environment.Free && p.Environment.Root != nil {
		p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleSpace, Text: fmt.Sprintf("%s are to be written, and %s are free", termtext.Bytes(p.plan.Bytes), termtext.Bytes(p.Environment.Free))})
	}
	if p.Environment.Root == nil {
		return nil
	}
	return p.checkEnvironment(ctx)
}

// maxListedNames is the number of paths that an obstacle names; more are counted.
const maxListedNames = 2

// addObstacle adds an obstacle about paths. one is the text for one path, more the text for
// several.
func (p *planner) addObstacle(class string, paths []string, one, more string) {
	if len(paths) == 0 {
		return
	}
	slices.Sort(paths)
	who := termtext.Count(int64(len(paths))) + " paths"
	if len(paths) <= maxListedNames {
		who = strings.Join(paths[:len(paths)-1], ", ") + " and " + paths[len(paths)-1]
	}
	text := fmt.Sprintf(more, who)
	if len(paths) == 1 {
		text = fmt.Sprintf(one, paths[0])
	}
	p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: class, Text: text, Paths: paths})
}

// checkUncaptured reports files that no checkpoint contains, or not reliably: they could not
// be brought back.
func (p *planner) checkUncaptured() {
	var torn []string
	for _, s := range p.changingSteps() {
		if p.nowGaps.torn[s.Path] {
			torn = append(torn, s.Path)
		}
	}
	if len(p.uncaptured) > 0 {
		p.addObstacle(retake.ObstacleUncaptured, slices.Concat(p.uncaptured, torn), "%s is in the way and in no checkpoint; it stays", "%s are in the way and in no checkpoint, or only in part; they stay")
		return
	}
	p.addObstacle(retake.ObstacleUncaptured, torn, "%s changes each time it is read, and is kept only as it is caught", "%s change each time they are read, and are kept only as they are caught")
}

// checkUnsaved reports files that changed since the last checkpoint, which are somebody's work
// that no checkpoint shows yet.
func (p *planner) checkUnsaved() {
	if p.Base != nil {
		return
	}
	var paths []string
	for _, s := range p.changingSteps() {
		if p.Unsaved[s.Path] && s.Now != nil && !isDir(s.Now) && s.What != retake.Timed {
			paths = append(paths, s.Path)
		}
	}
	isNew := func(path string) bool {
		return slices.ContainsFunc(p.plan.Deletes, func(s retake.Step) bool { return s.Path == path })
	}
	if !slices.ContainsFunc(paths, func(path string) bool { return !isNew(path) }) {
		p.addObstacle(retake.ObstacleChanged, paths, "%s has unsaved edits and would be deleted", "%s have unsaved edits and would be deleted")
		return
	}
	p.addObstacle(retake.ObstacleChanged, paths, "%s has unsaved edits that would be overwritten", "%s have unsaved edits that would be overwritten")
}

func (p *planner) changingSteps() []retake.Step {
	return slices.Concat(p.plan.Deletes, p.plan.Writes, p.plan.Merges)
}

// checkPartial reports files that the target checkpoint contains only in part, or does not
// contain at all.
func (p *planner) checkPartial() {
	var paths []string
	for _, s := range p.plan.Writes {
		if p.wantGaps.torn[s.Path] && s.What != retake.Timed {
			paths = append(paths, s.Path)
		}
	}
	for _, k := range p.plan.Keeps {
		if k.Why == retake.KeepUnheld && !retake.Reason(k.Detail).Chosen() {
			paths = append(paths, k.Path)
		}
	}
	p.addObstacle(retake.ObstaclePartial, paths, "%s is incomplete in that checkpoint", "%s are incomplete in that checkpoint")
}

// checkDamaged reports paths whose stored bytes cannot be read.
func (p *planner) checkDamaged() {
	var paths []string
	for _, k := range p.plan.Keeps {
		if k.Why == retake.KeepDamaged {
			paths = append(paths, k.Path)
		}
	}
	p.addObstacle(retake.ObstacleDamaged, paths, "the stored bytes of %s are damaged; it stays as it is", "the stored bytes of %s are damaged; they stay as they are")
}

// checkMassDelete reports deletions above the limits.
func (p *planner) checkMassDelete() {
	var n int
	for _, s := range p.plan.Deletes {
		if !isDir(s.Now) {
			n++
		}
	}
	switch {
	case n > maxDeletes:
		p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleMassDelete, Text: fmt.Sprintf("%s deletions, the limit is %s", termtext.Count(int64(n)), termtext.Count(maxDeletes))})
	case n > minMassDelete && float64(n) > maxDeleteShare*float64(p.FileCount):
		p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleMassDelete, Text: fmt.Sprintf("%s deletions, more than %.0f %% of all %s files", termtext.Count(int64(n)), maxDeleteShare*100, termtext.Count(p.FileCount))})
	}
}

// checkOverlap reports files that stay because they cannot be separated from the work of
// others, so that the item is not undone completely.
func (p *planner) checkOverlap() {
	var paths []string
	for _, k := range p.plan.Keeps {
		if k.Why == retake.KeepOverlap {
			paths = append(paths, k.Path)
		}
	}
	p.addObstacle(retake.ObstacleOverlap, paths, "%s may be the work of someone else; it stays", "%s may be the work of someone else; they stay")
}

// checkSetuid reports files that would run with the rights of their owners, or with capabilities.
func (p *planner) checkSetuid() {
	var paths []string
	for _, s := range p.plan.Writes {
		if s.Then.GrantsRights() && s.What != retake.Timed {
			paths = append(paths, s.Path)
		}
	}
	p.addObstacle(retake.ObstacleSetuid, paths, "%s would run with more rights than its user has", "%s would run with more rights than their user has")
}

// checkEnvironment reports what only the machine knows: which files are open, and which names
// are the same on this file system.
func (p *planner) checkEnvironment(ctx context.Context) error {
	w := newDirOpener(p.Environment.Root)
	defer w.closeAll()
	var files []fsx.Info
	var steps []retake.Step
	var clash []string
	for _, s := range p.changingSteps() {
		dir, name, err := w.openParent(s.Path)
		if err != nil {
			continue // not there yet, or moved: applying will find it
		}
		i, err := dir.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), err != nil:
		case s.Now == nil:
			clash = append(clash, s.Path)
		default:
			files, steps = append(files, i), append(steps, s)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	p.addObstacle(retake.ObstacleNames, clash, "%s can't be told apart from another name on this file system", "%s can't be told apart from other names on this file system")
	if p.Environment.Holders == nil || len(files) == 0 {
		return nil
	}
	held, err := p.Environment.Holders(ctx, files)
	if err != nil {
		return err
	}
	p.checkOpenFiles(held, steps)
	return nil
}

// checkOpenFiles reports files that a process has open, databases first.
func (p *planner) checkOpenFiles(held []OpenFile, steps []retake.Step) {
	texts, paths := map[string][]string{}, map[string][]string{}
	for _, h := range held {
		s := steps[h.File]
		p.plan.Holders = append(p.plan.Holders, retake.Holder{PID: h.PID, Command: h.Command, Path: s.Path})
		if s.What == retake.Timed || s.What == retake.Moded {
			continue
		}
		class := retake.ObstacleHeld
		if s.Unit != "" || isDatabase(s.Path) {
			class = retake.ObstacleDatabase
		}
		if len(paths[class]) == 0 {
			texts[class] = append(texts[class], fmt.Sprintf("%s is open in %s, pid %d", s.Path, h.Command, h.PID))
		}
		if !slices.Contains(paths[class], s.Path) {
			paths[class] = append(paths[class], s.Path)
		}
	}
	for _, class := range []string{retake.ObstacleDatabase, retake.ObstacleHeld} {
		if n := len(paths[class]); n > 0 {
			text := texts[class][0]
			if n > 1 {
				text += fmt.Sprintf(", and %d more are open", n-1)
			}
			p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: class, Text: text, Paths: paths[class]})
		}
	}
}

// isDatabase reports whether a path is a database by its name, or part of a Postgres cluster.
func isDatabase(path string) bool {
	dir, name := splitPath(path)
	for _, suffix := range []string{".db", ".sqlite", ".sqlite3", ".db3", ".mdb", ".ldb"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return name == "postmaster.pid" || strings.Contains("/"+dir+"/", "/pg_wal/") || strings.Contains("/"+dir+"/", "/base/")
}
