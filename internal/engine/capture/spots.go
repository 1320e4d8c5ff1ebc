package capture

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// scanTarget is a place that may have changed, and the way to it from the root. A
// directory with a spot is visited; of its names only those with spots are looked
// at, unless all below it is in question.
type scanTarget struct {
	mark     track.Mark
	children map[string]*scanTarget
}

func newScanTargets(paths map[string]track.Mark) *scanTarget {
	root := &scanTarget{}
	for p, m := range paths {
		root.ensurePath(p).mark |= m
	}
	return root
}

// ensurePath gives the spot of a path and makes it when there is none.
func (s *scanTarget) ensurePath(path string) *scanTarget {
	if path == "" {
		return s
	}
	for part := range strings.SplitSeq(path, "/") {
		kid := s.children[part]
		if kid == nil {
			if s.children == nil {
				s.children = map[string]*scanTarget{}
			}
			kid = &scanTarget{}
			s.children[part] = kid
		}
		s = kid
	}
	return s
}

func (s *scanTarget) child(name string) *scanTarget {
	if s == nil {
		return nil
	}
	return s.children[name]
}

func (s *scanTarget) isMapped() bool { return s != nil && s.mark&track.MarkMapped != 0 }

// namesToScan answers the names to look at in a directory that we know; false: all.
func (n *dirNode) namesToScan(old []row) ([]string, bool) {
	if n.scanAll || n.record == nil || n.target != nil && n.target.mark&track.MarkTree != 0 {
		return nil, false
	}
	if n.target == nil {
		return nil, true
	}
	names := slices.Sorted(maps.Keys(n.target.children))
	return withCompanions(names, old), true
}

// withCompanions adds the other files of each database, because they are one unit.
func withCompanions(names []string, old []row) []string {
	var more []string
	for _, name := range names {
		base := name
		for _, c := range retake.Companions {
			if b, ok := strings.CutSuffix(name, c); ok && b != "" {
				base = b
			}
		}
		for _, c := range append([]string{""}, retake.Companions...) {
			if findRow(old, base+c) != nil {
				more = append(more, base+c)
			}
		}
	}
	if len(more) == 0 {
		return names
	}
	names = append(names, more...)
	slices.Sort(names)
	return slices.Compact(names)
}

func findRow(rows []row, name string) *row {
	i, ok := slices.BinarySearchFunc(rows, name, func(r row, n string) int { return strings.Compare(r.entry.Name, n) })
	if !ok {
		return nil
	}
	return &rows[i]
}

// NeedsNoScan reports whether nothing needs a look when nothing is told: everything was
// looked at once by this process, and no file has names elsewhere.
func (x *Index) NeedsNoScan() bool { return x.complete && len(x.externalInodes) == 0 }

// HasTransientGaps reports whether one of the gaps may be gone without anybody telling.
func HasTransientGaps(gaps []retake.Gap) bool {
	return slices.ContainsFunc(gaps, func(g retake.Gap) bool { return isTransient(g.Reason) })
}

// isTransient gaps may be gone by now without anybody telling; the others stay until
// their path is looked at again.
func isTransient(r retake.Reason) bool {
	return r == retake.ReasonTorn || r == retake.ReasonMoving || r == retake.ReasonBudget || r == retake.ReasonUnreadable
}

// dirtyPaths answers the places that the caller names when they can be trusted to be all:
// the index must be of a look at everything, and no file of rules may have changed
// what is to be left out elsewhere.
func (x *Index) dirtyPaths(o Options) map[string]track.Mark {
	if !x.complete || o.Policy.GitIgnore {
		return nil
	}
	return o.Dirty
}

// scanTargets are the paths in question: those the caller names, those that were not
// taken last time, and the other names of their inodes.
func (w *walker) scanTargets() (*scanTarget, error) {
	s := newScanTargets(w.opts.Dirty)
	for _, g := range w.opts.Gaps {
		if !isTransient(g.Reason) {
			continue
		}
		path, isDir := strings.CutSuffix(g.Path, "/")
		s.ensurePath(path).mark |= track.MarkName
		if isDir {
			s.ensurePath(path).mark |= track.MarkTree
		}
	}
	for ino := range w.index.externalInodes {
		for _, p := range w.index.links[ino] {
			s.ensurePath(p).mark |= track.MarkName
		}
	}
	if err := w.addInodeTargets(s); err != nil {
		return nil, err
	}
	return s, w.addLinkTargets(s)
}

// markVisited notes that everything at and below a path was looked at, or the name alone.
func (w *walker) markVisited(path string, below bool) {
	if w.opts.Dirty == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visited[path] = w.visited[path] || below
}

// carryOverGaps keeps the gaps of the last capture where this one did not look.
func (w *walker) carryOverGaps() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.opts.Gaps {
		if !w.wasVisited(strings.TrimSuffix(g.Path, "/")) {
			w.gaps = append(w.gaps, g)
		}
	}
}

func (w *walker) wasVisited(path string) bool {
	if _, ok := w.visited[path]; ok {
		return true
	}
	for path != "" {
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			path = path[:i]
		} else {
			path = ""
		}
		if w.visited[path] {
			return true
		}
	}
	return false
}
