package term

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// folded is one line of a list of changes: a path, or a directory that stands
// for all changes below it.
type folded struct {
	path   string // a directory ends in "/"; "./" stands for the files of the root
	files  int64  // changed paths that are no directories
	dirs   int64
	bytes  int64
	change *retake.Change // nil when it stands for several
	below  []*branch      // what a directory stands for
}

// foldOver is how many lines a group may have before directories are folded.
const foldOver = 20

// fold makes at most foldOver lines of changes of one kind where it can, and
// puts the files of the root on one line where it cannot.
func fold(changes []retake.Change) []folded {
	return foldTo(changes, foldOver, true)
}

// foldTo makes at most limit lines where it can. It opens small directories first
// and leaves the large ones shut, and never drops a path: the counts of the lines
// add up.
func foldTo(changes []retake.Change, limit int, bunch bool) []folded {
	root := grow(changes)
	if bunch {
		root.seal()
		if all := root.leaves(nil); len(all) <= limit {
			return all
		}
	}
	top := root.kids
	if !bunch {
		straighten(top)
	}
	lines := len(top)
	for {
		var best *branch
		for n := range open(top) {
			if (bunch || !n.whole()) && lines+n.cost() <= limit && (best == nil || n.cost() < best.cost()) {
				best = n
			}
		}
		if best == nil {
			return root.lines(bunch && lines > limit)
		}
		best.shut = false
		if !bunch {
			straighten(best.kids)
		}
		lines += best.cost()
	}
}

// straighten opens directories with one thing in them: it costs no line, and the
// name tells more.
func straighten(nodes []*branch) {
	for _, n := range nodes {
		for len(n.kids) > 0 && n.cost() == 0 {
			n.shut = false
			n = n.kids[0]
		}
	}
}

// branch is a node of the tree of changed paths.
type branch struct {
	path   string
	change *retake.Change
	kids   []*branch
	shut   bool
	sealed bool // programs fill it: it stays shut
	sum    folded
}

func grow(changes []retake.Change) *branch {
	root := &branch{}
	index := map[string]*branch{"": root}
	var at func(path string) *branch
	at = func(path string) *branch {
		if n, ok := index[path]; ok {
			return n
		}
		dir := ""
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir = path[:i]
		}
		up := at(dir)
		n := &branch{path: path, shut: true}
		index[path] = n
		up.kids = append(up.kids, n)
		return n
	}
	for i := range changes {
		at(changes[i].Path).change = &changes[i]
	}
	root.count()
	return root
}

func (n *branch) count() folded {
	if c := n.change; c != nil {
		if c.IsDir() {
			n.sum.dirs++
		} else {
			n.sum.files++
		}
		n.sum.bytes += weight(c)
	}
	for _, k := range n.kids {
		s := k.count()
		n.sum.files += s.files
		n.sum.dirs += s.dirs
		n.sum.bytes += s.bytes
	}
	slices.SortFunc(n.kids, func(a, b *branch) int { return cmp.Compare(a.path, b.path) })
	return n.sum
}

// open yields every branch that is a line now and has something below.
func open(nodes []*branch) func(func(*branch) bool) {
	var walk func(nodes []*branch, yield func(*branch) bool) bool
	walk = func(nodes []*branch, yield func(*branch) bool) bool {
		for _, n := range nodes {
			if len(n.kids) == 0 {
				continue
			}
			if n.sealed {
				continue
			}
			if n.shut && !yield(n) || !n.shut && !walk(n.kids, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(*branch) bool) { walk(nodes, yield) }
}

// leaves lists every change by itself.
func (n *branch) leaves(out []folded) []folded {
	if n.sealed {
		return append(out, n.closed())
	}
	if n.own() {
		out = append(out, single(n))
	}
	for _, k := range n.kids {
		out = k.leaves(out)
	}
	return out
}

// closed is a directory that stands for all below it.
func (n *branch) closed() folded {
	n.sum.path, n.sum.below = n.path+"/", n.kids
	return n.sum
}

// own reports whether the path needs a line beside those below it: a directory
// that came or went says nothing that its children do not say.
func (n *branch) own() bool {
	if n.change == nil || len(n.kids) == 0 {
		return n.change != nil
	}
	return n.change.What != retake.Added && n.change.What != retake.Deleted
}

// whole reports whether a directory came or went with all that is in it: one line says
// it better than many.
func (n *branch) whole() bool {
	return n.change != nil && n.change.IsDir() && !n.own() && n.sum.files > 1
}

// cost is how many lines opening n adds.
func (n *branch) cost() int {
	if n.own() {
		return len(n.kids)
	}
	return len(n.kids) - 1
}

func single(n *branch) folded {
	f := folded{path: n.path, bytes: weight(n.change), change: n.change}
	if n.path == "." {
		f.path, f.dirs = "./", 1
	} else if n.change.IsDir() {
		f.path, f.dirs = n.path+"/", 1
	} else {
		f.files = 1
	}
	return f
}

// lines lists what is open; bunch puts the files of the root on one line.
func (n *branch) lines(bunch bool) []folded {
	var out []folded
	here := folded{path: "./"}
	for _, k := range n.kids {
		switch {
		case len(k.kids) == 0 && bunch && !k.change.IsDir():
			here.files++
			here.bytes += k.sum.bytes
		case len(k.kids) == 0:
			out = append(out, single(k))
		case k.shut:
			out = append(out, k.closed())
		default:
			if k.own() {
				out = append(out, single(k))
			}
			out = append(out, k.lines(false)...)
		}
	}
	if here.files > 0 {
		out = append(out, here)
	}
	return out
}

func isLink(c *retake.Change) bool {
	e := c.After
	if e == nil {
		e = c.Before
	}
	return e != nil && e.Kind == retake.KindSymlink
}

// weight is how many bytes a change brought or took.
func weight(c *retake.Change) int64 {
	var n int64
	if c.After != nil && c.After.Kind == retake.KindFile {
		n += c.After.Size
	}
	if c.Before != nil && c.Before.Kind == retake.KindFile {
		n -= c.Before.Size
	}
	return n
}
