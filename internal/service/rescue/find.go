package rescue

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// group is what is destroyed in one directory.
type group struct {
	dir   string
	names []string
}

// finder resolves the targets of one call.
type finder struct {
	svc        *Rescuer
	req        Request
	plan       *Plan
	roots      []retake.Workspace // all protected directories
	data       string             // the directory of the history
	groups     map[string]*group
	others     map[retake.WorkspaceID]*retake.Rescue
	otherOrder []retake.Workspace
}

// findAll resolves all targets.
func (f *finder) findAll(ctx context.Context) {
	all, err := f.svc.workspaces.Catalog.Workspaces(ctx) // roots are not looked at: one may hang
	if err != nil {
		all = nil // their files count as any others then
	}
	for _, w := range all {
		if w.Workspace.Ended == nil {
			f.roots = append(f.roots, w.Workspace)
			f.plan.skip = append(f.plan.skip, w.Workspace.Root)
		}
	}
	f.data = f.svc.workspaces.DataDir
	if real, err := workspace.RealPath(f.data); err == nil {
		f.data = real
	}
	unknown := []string{}
	for _, t := range f.req.Targets {
		if len(t.Paths) == 0 {
			unknown = append(unknown, t.Name)
		}
		for _, p := range t.Paths {
			f.addPath(p, t)
		}
	}
	if len(unknown) > 0 || f.req.More {
		f.plan.addUnknown(unknown)
	}
	f.plan.dropNested()
}

// addPath adds one path of a target.
func (f *finder) addPath(p string, t risk.Target) {
	for _, at := range f.absolutePaths(p) {
		if !t.Glob {
			f.addPlace(at, t.Follow)
			continue
		}
		matches, whole := f.expandGlob(at)
		for _, m := range matches {
			f.addPlace(m, t.Follow)
		}
		if !whole {
			f.plan.addNotSaved(at, "it stands for too many names")
		}
	}
}

// absolutePaths returns the absolute forms of a path as the call may mean it.
func (f *finder) absolutePaths(p string) []string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		return []string{joinThroughLinks(f.svc.workspaces.HomeDir, p[1:])}
	case filepath.IsAbs(p):
		return []string{joinThroughLinks("/", p)}
	}
	var out []string
	for _, base := range f.req.Bases {
		if at := joinThroughLinks(base, p); !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// joinThroughLinks joins a path as the kernel does: a ".." after a link leads to where the link points.
func joinThroughLinks(base, p string) string {
	for e := range strings.SplitSeq(p, "/") {
		if e != ".." {
			base = filepath.Join(base, e)
			continue
		}
		if real, err := workspace.RealPath(base); err == nil {
			base = real
		}
		base = filepath.Dir(base)
	}
	return base
}

// expandGlob returns the paths that a pattern matches, and whether these are all. A pattern with **
// stands for everything in the directory before it.
func (f *finder) expandGlob(pattern string) (matches []string, whole bool) {
	elements := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	matches = []string{"/"}
	for i, e := range elements {
		if e == "**" {
			return matches, true
		}
		var next []string
		for _, dir := range matches {
			names, err := f.matchNames(dir, e, i == len(elements)-1)
			if err != nil || len(next)+len(names) > maxMatches {
				return next, false
			}
			next = append(next, names...)
		}
		matches = next
	}
	return matches, true
}

// matchNames returns the paths in a directory that match one element of a pattern.
func (f *finder) matchNames(dir, element string, last bool) ([]string, error) {
	if !strings.ContainsAny(element, "*?[") {
		return []string{filepath.Join(dir, element)}, nil
	}
	real, err := workspace.RealPath(dir) // the shell goes through links
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := f.svc.workspaces.FS.OpenRoot(real)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsx.ErrNotDir) {
			return nil, nil
		}
		return nil, err
	}
	defer d.Close() //nolint:errcheck // only read
	names, err := d.Names()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(element, ".") && !last {
			continue // a shell does not match hidden names; at the end they are taken along, because some are told to
		}
		if ok, err := path.Match(element, name); err != nil || ok { // a pattern that we do not know may match all
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out, nil
}

// addPlace adds one absolute path, if something is there.
func (f *finder) addPlace(at string, follow bool) {
	parent, err := workspace.RealPath(filepath.Dir(at))
	if err != nil {
		return // nothing is there
	}
	if at != "/" {
		at = filepath.Join(parent, filepath.Base(at))
	}
	if follow {
		if at, err = workspace.RealPath(at); err != nil {
			return
		}
	}
	dir, err := f.svc.workspaces.FS.OpenRoot(filepath.Dir(at))
	if err != nil {
		f.plan.addNotSaved(at, "it cannot be read: "+fsx.CauseText(err))
		return
	}
	defer dir.Close() //nolint:errcheck // only looked
	if _, err := dir.Lstat(filepath.Base(at)); at != "/" && err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.plan.addNotSaved(at, "it cannot be read: "+fsx.CauseText(err))
		}
		return
	}
	f.classify(at)
}

// classify decides who saves a path that exists.
func (f *finder) classify(at string) {
	switch {
	case isWithin(f.req.Workspace.Root, at):
		return // the checkpoint has it
	case isWithin(f.data, at):
		f.plan.addNotSaved(at, "it belongs to Retake's own history")
		return
	}
	if owner := f.innermostRoot(at); owner != nil {
		f.addOther(*owner, at)
		return
	}
	for _, w := range f.roots { // what lies below has its own checkpoint
		if w.ID != f.req.Workspace.ID && isWithin(at, w.Root) {
			f.addOther(w, w.Root)
		}
	}
	if isWithin(at, f.data) {
		f.plan.addNotSaved(f.data, "it is Retake's own history: no checkpoint will be left")
	}
	dir := filepath.Dir(at)
	g := f.groups[dir]
	if g == nil {
		if len(f.groups) >= maxRescues {
			f.plan.addNotSaved(at, "the command names too many directories")
			return
		}
		g = &group{dir: dir}
		f.groups[dir] = g
		f.plan.groups = append(f.plan.groups, g)
	}
	if name := filepath.Base(at); !slices.Contains(g.names, name) {
		g.names = append(g.names, name)
	}
}

// innermostRoot returns the other workspace that a path is in, or nil.
func (f *finder) innermostRoot(at string) *retake.Workspace {
	var found *retake.Workspace
	for i, w := range f.roots {
		if w.ID != f.req.Workspace.ID && isWithin(w.Root, at) && (found == nil || len(w.Root) > len(found.Root)) {
			found = &f.roots[i]
		}
	}
	return found
}

// addOther adds a path that another workspace has.
func (f *finder) addOther(w retake.Workspace, at string) {
	r := f.others[w.ID]
	if r == nil {
		r = &retake.Rescue{Dir: w.Root, Workspace: w.ID}
		f.others[w.ID] = r
		f.otherOrder = append(f.otherOrder, w)
	}
	if r.Count++; len(r.Names) < retake.MaxRescueNames {
		name, err := filepath.Rel(w.Root, at)
		if err == nil {
			r.Names = append(r.Names, filepath.ToSlash(name))
		}
	}
}

// isWithin reports whether a path is a directory or below it.
func isWithin(dir, at string) bool {
	rel, err := filepath.Rel(dir, at)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
