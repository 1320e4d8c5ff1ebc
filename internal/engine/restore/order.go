package restore

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// opKind is the kind of change that an operation makes.
type opKind uint8

const (
	opPut         opKind = iota + 1 // something new comes to a name, with or without something else there
	opSetMetadata                   // mode, owner, attributes and time of a file alone
	opDelete                        // a name goes, and what it named with it
	opRemoveDir                     // an empty directory goes
)

// op is the change of one name.
type op struct {
	kind opKind
	path string
	step retake.Step
}

// orderOps turns a plan into operations: first deletions that make room for something of
// another kind, then everything that is written, then the other deletions. A directory is
// created before its contents and deleted after them; the files of a database stay together.
func orderOps(p *retake.Plan) []op {
	var out []op
	retyped := map[string]bool{}
	for _, s := range p.Writes {
		if isDir(s.Now) && !isDir(s.Then) {
			retyped[s.Path] = true
		}
	}
	going := deepestFirst(p.Deletes)
	var first, last []retake.Step
	for _, s := range going {
		if hasAncestorIn(retyped, s.Path) {
			first = append(first, s)
		} else {
			last = append(last, s)
		}
	}
	for _, s := range first {
		out = append(out, deleteOp(s))
	}
	units := map[string][]op{}
	last = slices.DeleteFunc(last, func(s retake.Step) bool {
		if s.Unit != "" {
			units[s.Unit] = append(units[s.Unit], deleteOp(s))
		}
		return s.Unit != ""
	})
	for _, o := range writeOps(p) {
		if u := o.step.Unit; u != "" {
			units[u] = append(units[u], o)
		} else {
			out = append(out, o)
		}
	}
	for _, u := range sortedKeys(units) {
		out = append(out, units[u]...)
	}
	for _, s := range last {
		out = append(out, deleteOp(s))
	}
	return out
}

// writeOps returns the operations that write something, by path: writes, merges and side
// copies. Directories that only get other metadata have none, because that is done at the end.
func writeOps(p *retake.Plan) []op {
	var out []op
	for _, s := range slices.Concat(p.Writes, p.Merges) {
		switch {
		case s.Path == tree.Root || isDir(s.Now) && isDir(s.Then):
		case s.What == retake.Moded && changesOnlyMetadata(s) || s.What == retake.Timed:
			out = append(out, op{kind: opSetMetadata, path: s.Path, step: s})
		default:
			out = append(out, op{kind: opPut, path: s.Path, step: s})
		}
	}
	for _, k := range p.Keeps {
		if k.Side != "" {
			out = append(out, op{kind: opPut, path: k.Side, step: retake.Step{Path: k.Side, What: retake.Added, Then: k.Then}})
		}
	}
	slices.SortStableFunc(out, func(a, b op) int { return comparePaths(a.path, b.path) })
	return out
}

// changesOnlyMetadata reports whether a step needs no new file. Other links or other holes do.
func changesOnlyMetadata(s retake.Step) bool {
	x, y := extraOf(s.Now), extraOf(s.Then)
	return x.Group == y.Group && slices.Equal(x.Holes, y.Holes)
}

func deleteOp(s retake.Step) op {
	if isDir(s.Now) {
		return op{kind: opRemoveDir, path: s.Path, step: s}
	}
	return op{kind: opDelete, path: s.Path, step: s}
}

func deepestFirst(steps []retake.Step) []retake.Step {
	out := slices.Clone(steps)
	slices.SortStableFunc(out, func(a, b retake.Step) int { return comparePaths(b.Path, a.Path) })
	return out
}

// hasAncestorIn reports whether a directory above path is in the set.
func hasAncestorIn(set map[string]bool, path string) bool {
	if len(set) == 0 {
		return false
	}
	for dir, _ := splitPath(path); dir != ""; dir, _ = splitPath(dir) {
		if set[dir] {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
