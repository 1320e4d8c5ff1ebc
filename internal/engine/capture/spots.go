package capture

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// spot is a place that may have changed, and the way to it from the root. A
// directory with a spot is visited; of its names only those with spots are looked
// at, unless all below it is in question.
type spot struct {
	mark track.Mark
	kids map[string]*spot
}

func plant(paths map[string]track.Mark) *spot {
	root := &spot{}
	for p, m := range paths {
		root.at(p).mark |= m
	}
	return root
}

// at gives the spot of a path and makes it when there is none.
func (s *spot) at(path string) *spot {
	if path == "" {
		return s
	}
	for part := range strings.SplitSeq(path, "/") {
		kid := s.kids[part]
		if kid == nil {
			if s.kids == nil {
				s.kids = map[string]*spot{}
			}
			kid = &spot{}
			s.kids[part] = kid
		}
		s = kid
	}
	return s
}

func (s *spot) kid(name string) *spot {
	if s == nil {
		return nil
	}
	return s.kids[name]
}

func (s *spot) mapped() bool { return s != nil && s.mark&track.Mapped != 0 }

// some answers the names to look at in a directory that we know; false: all.
func (n *node) some(old []row) ([]string, bool) {
	if n.all || n.base == nil || n.only != nil && n.only.mark&track.Deep != 0 {
		return nil, false
	}
	if n.only == nil {
		return nil, true
	}
	names := slices.Sorted(maps.Keys(n.only.kids))
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
			if knownName(old, base+c) != nil {
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

func knownName(rows []row, name string) *row {
	i, ok := slices.BinarySearchFunc(rows, name, func(r row, n string) int { return strings.Compare(r.entry.Name, n) })
	if !ok {
		return nil
	}
	return &rows[i]
}

// Still reports whether nothing needs a look when nothing is told: everything was
// looked at once by this process, and no file has names elsewhere.
func (x *Index) Still() bool { return x.whole && len(x.outside) == 0 }

// Passing reports whether one of the gaps may be gone without anybody telling.
func Passing(gaps []retake.Gap) bool {
	return slices.ContainsFunc(gaps, func(g retake.Gap) bool { return passing(g.Reason) })
}

// passing gaps may be gone by now without anybody telling; the others stay until
// their path is looked at again.
func passing(r retake.Reason) bool {
	return r == retake.ReasonTorn || r == retake.ReasonMoving || r == retake.ReasonBudget || r == retake.ReasonUnreadable
}

// only answers the places that the caller names when they can be trusted to be all:
// the index must be of a look at everything, and no file of rules may have changed
// what is to be left out elsewhere.
func (x *Index) only(o Options) map[string]track.Mark {
	if !x.whole || o.Policy.GitIgnore {
		return nil
	}
	return o.Only
}

// spots are the paths in question: those the caller names, those that were not
// taken last time, and the other names of their inodes.
func (w *walker) spots() (*spot, error) {
	s := plant(w.o.Only)
	for _, g := range w.o.Gaps {
		if !passing(g.Reason) {
			continue
		}
		path, isDir := strings.CutSuffix(g.Path, "/")
		s.at(path).mark |= track.Name
		if isDir {
			s.at(path).mark |= track.Deep
		}
	}
	for ino := range w.x.outside {
		for _, p := range w.x.links[ino] {
			s.at(p).mark |= track.Name
		}
	}
	if err := w.inodeSpots(s); err != nil {
		return nil, err
	}
	return s, w.linkSpots(s)
}

// seen notes that everything at and below a path was looked at, or the name alone.
func (w *walker) seen(path string, below bool) {
	if w.o.Only == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.covered[path] = w.covered[path] || below
}

// carryGaps keeps the gaps of the last capture where this one did not look.
func (w *walker) carryGaps() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.o.Gaps {
		if !w.looked(strings.TrimSuffix(g.Path, "/")) {
			w.gaps = append(w.gaps, g)
		}
	}
}

func (w *walker) looked(path string) bool {
	if _, ok := w.covered[path]; ok {
		return true
	}
	for path != "" {
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			path = path[:i]
		} else {
			path = ""
		}
		if w.covered[path] {
			return true
		}
	}
	return false
}
