package capture

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// scanTarget is a path that may have changed, or leads to one. A directory with a target is
// visited; only its names with targets are examined, unless everything below it may have
// changed.
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

// ensurePath returns the target at a path and creates it if there is none.
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

// namesToScan returns the names to examine in a known directory, or false for all.
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

// withCompanions adds the other files of each database, since they are captured as one unit.
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

// NeedsNoScan reports whether a workspace without reported changes is unchanged: this process
// has scanned everything, and no file has names outside.
func (x *Index) NeedsNoScan() bool { return x.complete && len(x.externalInodes) == 0 }

// HasTransientGaps reports whether one of the gaps may disappear without an event.
func HasTransientGaps(gaps []retake.Gap) bool {
	return slices.ContainsFunc(gaps, func(g retake.Gap) bool { return isTransient(g.Reason) })
}

// isTransient reports whether a gap may disappear without an event; other gaps stay until
// their path is scanned again.
func isTransient(r retake.Reason) bool {
	return r == retake.ReasonTorn || r == retake.ReasonMoving || r == retake.ReasonBudget || r == retake.ReasonUnreadable
}

// dirtyPaths returns the paths that the caller reports as changed, if they can be trusted to
// be all: the index must come from a full scan, and no ignore file may have changed what is
// excluded elsewhere.
func (x *Index) dirtyPaths(o Options) map[string]track.Mark {
	if !x.complete || o.Policy.GitIgnore {
		return nil
	}
	return o.Dirty
}

// scanTargets returns the paths to scan: those the caller names, those that were not captured
// last time, and the other names of their inodes.
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

// markVisited records that a name was scanned, or everything at and below it.
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

// wasVisited reports whether a path was scanned, itself or with a directory above it.
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
