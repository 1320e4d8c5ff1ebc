package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// reconcile makes the decisions about single paths consistent with each other.
func (p *planner) reconcile(ctx context.Context) error {
	p.keepWholeUnits()
	p.keepOccupiedDirs()
	if err := p.addMissingParents(ctx); err != nil {
		return err
	}
	if err := p.nameSideCopies(ctx); err != nil {
		return err
	}
	p.addDirTimes()
	return nil
}

// addDirTimes resets the times of directories in which names change. In a three-way plan a
// directory that gains or loses names keeps its new time, so that programs watching it notice.
func (p *planner) addDirTimes() {
	timed, renamed := map[string]bool{}, map[string]bool{}
	for _, s := range slices.Concat(p.plan.Times, p.plan.Writes) {
		if isDir(s.Then) {
			timed[trimRoot(s.Path)] = true
		}
	}
	var dirs []string
	for _, o := range orderOps(&p.plan) {
		dir, _ := splitPath(o.path)
		renamed[dir] = renamed[dir] || o.step.Now == nil || o.step.Then == nil
		if p.currentDirs[dir] != nil && !timed[dir] {
			timed[dir] = true
			dirs = append(dirs, dir)
		}
	}
	going := map[string]bool{}
	for _, s := range p.changingSteps() {
		going[s.Path] = !isDir(s.Then)
	}
	for _, dir := range dirs {
		if going[dir] || renamed[dir] && p.Base != nil {
			continue
		}
		e := p.currentDirs[dir]
		p.plan.Times = append(p.plan.Times, retake.Step{Path: displayPath(dir), What: retake.Timed, Now: e, Then: e})
	}
	sortSteps(p.plan.Times)
}

func sortSteps(steps []retake.Step) {
	slices.SortFunc(steps, func(a, b retake.Step) int { return comparePaths(a.Path, b.Path) })
}

// keepWholeUnits keeps all files of a database if one of them is kept: half of a database is
// worse than either version.
func (p *planner) keepWholeUnits() {
	stays := map[string]retake.KeepReason{}
	for _, k := range p.plan.Keeps {
		for _, c := range append([]string{""}, retake.Companions...) {
			if base, ok := strings.CutSuffix(k.Path, c); ok {
				stays[base] = k.Why
			}
		}
	}
	for unit := range p.changedUnits {
		if _, known := stays[unit]; !known {
			stays[unit] = retake.KeepChanged
		}
	}
	drop := func(s retake.Step) bool {
		why, ok := stays[s.Unit]
		if s.Unit == "" || !ok {
			return false
		}
		p.plan.Keeps = append(p.plan.Keeps, retake.Keep{Path: s.Path, Why: why, Detail: "belongs to " + s.Unit})
		return true
	}
	p.plan.Writes = slices.DeleteFunc(p.plan.Writes, drop)
	p.plan.Deletes = slices.DeleteFunc(p.plan.Deletes, drop)
}

// keepOccupiedDirs keeps directories that contain something that stays, even if something else
// should take their place.
func (p *planner) keepOccupiedDirs() {
	stays := map[string]bool{}
	note := func(path string) {
		for dir, _ := splitPath(strings.TrimSuffix(path, "/")); dir != "" && !stays[dir]; dir, _ = splitPath(dir) {
			stays[dir] = true
		}
	}
	for _, k := range p.plan.Keeps {
		note(k.Path)
	}
	for _, path := range p.remaining {
		note(path)
	}
	occupied := func(s retake.Step) bool {
		if !isDir(s.Now) || isDir(s.Then) || !stays[s.Path] && !p.nowGaps.ancestors[s.Path] {
			return false
		}
		p.plan.Keeps = append(p.plan.Keeps, retake.Keep{Path: s.Path + "/", Why: retake.KeepOccupied, Detail: "something in it stays"})
		if p.nowGaps.ancestors[s.Path] {
			p.uncaptured = append(p.uncaptured, s.Path+"/")
		}
		return true
	}
	p.plan.Deletes = slices.DeleteFunc(p.plan.Deletes, occupied)
	p.plan.Writes = slices.DeleteFunc(p.plan.Writes, occupied)
	p.keepRepositories()
}

// keepRepositories keeps the repository of a directory that was to be deleted and stays after
// all.
func (p *planner) keepRepositories() {
	if p.Git {
		return
	}
	kept := map[string]bool{}
	for _, k := range p.plan.Keeps {
		if repo := joinPath(strings.TrimSuffix(k.Path, "/"), gitDir); k.Why == retake.KeepOccupied && !p.isRequestedByName(repo) {
			kept[repo] = true
		}
	}
	affected := map[string]bool{}
	p.plan.Deletes = slices.DeleteFunc(p.plan.Deletes, func(s retake.Step) bool {
		for at := s.Path; at != ""; at, _ = splitPath(at) {
			if kept[at] {
				affected[at] = true
				return true
			}
		}
		return false
	})
	for _, repo := range sortedKeys(affected) {
		p.plan.Keeps = append(p.plan.Keeps, retake.Keep{Path: repo + "/", Why: retake.KeepGit, Detail: "its directory stays"})
	}
}

// addMissingParents adds the parent directories that a requested path needs.
func (p *planner) addMissingParents(ctx context.Context) error {
	if len(p.Paths) == 0 && p.Base == nil {
		return nil
	}
	have := map[string]bool{"": true}
	for _, s := range p.plan.Writes {
		if isDir(s.Then) {
			have[s.Path] = true
		}
	}
	var more []retake.Step
	for _, s := range p.plan.Writes {
		for dir, _ := splitPath(s.Path); !have[dir]; dir, _ = splitPath(dir) {
			have[dir] = true
			now, err := entryOrNil(p.nowFinder.Find(ctx, dir))
			if err != nil {
				return err
			}
			if isDir(now) {
				continue
			}
			want, err := entryOrNil(tree.Find(ctx, p.Trees, p.Want, dir))
			if err != nil {
				return err
			}
			if now != nil || want == nil {
				return fmt.Errorf("a file is in the way of %q", dir)
			}
			more = append(more, retake.Step{Path: dir, What: retake.Added, Then: want})
		}
	}
	p.plan.Writes = append(p.plan.Writes, more...)
	sortSteps(p.plan.Writes)
	return nil
}

// entryOrNil turns a not-found error into a nil entry.
func entryOrNil(e retake.Entry, err error) (*retake.Entry, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &e, err
}

// comparePaths sorts a directory before its contents and names by their bytes.
func comparePaths(a, b string) int {
	for {
		i, j := strings.IndexByte(a, '/'), strings.IndexByte(b, '/')
		if i < 0 || j < 0 || a[:i] != b[:j] {
			x, y := a, b
			if i >= 0 {
				x = a[:i]
			}
			if j >= 0 {
				y = b[:j]
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			return i - j // one of them ends here
		}
		a, b = a[i+1:], b[j+1:]
	}
}

// maxNameLen is the longest name that is allowed everywhere, less the room for a counter.
const maxNameLen = 255 - len("-99")

// fitSuffix appends a suffix to the last name of a path and shortens the name if both do not
// fit.
func fitSuffix(path, suffix string) string {
	dir, name := splitPath(path)
	for len(name)+len(suffix) > maxNameLen {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return joinPath(dir, name+suffix)
}

// nameSideCopies gives side copies names that are free.
func (p *planner) nameSideCopies(ctx context.Context) error {
	taken := map[string]bool{}
	for _, s := range p.plan.Writes {
		taken[s.Path] = true
	}
	for i := range p.plan.Keeps {
		k := &p.plan.Keeps[i]
		if k.Side == "" {
			continue
		}
		k.Side = fitSuffix(k.Path, p.SideSuffix)
		name := k.Side
		for n := 2; ; n++ {
			there, err := entryOrNil(p.nowFinder.Find(ctx, name))
			if err != nil {
				return err
			}
			if there == nil && !taken[name] && !p.nowGaps.covers(name) {
				break
			}
			name = fmt.Sprintf("%s-%d", k.Side, n)
		}
		taken[name], k.Side = true, name
		p.plan.Bytes += k.Then.Size
	}
	return nil
}
