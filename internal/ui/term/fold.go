package term

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// foldedLine is one line of a list of changes: a path, or a directory that stands for all
// changes below it.
type foldedLine struct {
	path   string // a directory ends in "/"; "./" stands for the files of the root
	files  int64  // changed paths that are no directories
	dirs   int64
	bytes  int64
	change *retake.Change // nil when it stands for several
}

// maxFoldedLines is how many lines a group may have before directories are folded.
const maxFoldedLines = 20

// foldChanges folds changes of one kind into at most maxFoldedLines lines if possible; if not,
// the files of the root share one line. It opens small directories first and never drops a
// path: the counts of the lines add up.
func foldChanges(changes []retake.Change) []foldedLine {
	root := buildTree(changes)
	root.sealGenerated()
	if all := root.appendLeaves(nil); len(all) <= maxFoldedLines {
		return all
	}
	lines := len(root.children)
	for {
		var best *pathNode
		for n := range openableNodes(root.children) {
			if lines+n.openingCost() <= maxFoldedLines && (best == nil || n.openingCost() < best.openingCost()) {
				best = n
			}
		}
		if best == nil {
			return root.openLines(lines > maxFoldedLines)
		}
		best.closed = false
		lines += best.openingCost()
	}
}

// pathNode is a node of the tree of changed paths.
type pathNode struct {
	path     string
	change   *retake.Change
	children []*pathNode
	closed   bool
	sealed   bool // programs fill it: it stays shut
	sum      foldedLine
}

func buildTree(changes []retake.Change) *pathNode {
	root := &pathNode{}
	index := map[string]*pathNode{"": root}
	var at func(path string) *pathNode
	at = func(path string) *pathNode {
		if n, ok := index[path]; ok {
			return n
		}
		dir := ""
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir = path[:i]
		}
		up := at(dir)
		n := &pathNode{path: path, closed: true}
		index[path] = n
		up.children = append(up.children, n)
		return n
	}
	for i := range changes {
		at(changes[i].Path).change = &changes[i]
	}
	root.countBelow()
	return root
}

func (n *pathNode) countBelow() foldedLine {
	if c := n.change; c != nil {
		if c.IsDir() {
			n.sum.dirs++
		} else {
			n.sum.files++
		}
		n.sum.bytes += changedBytes(c)
	}
	for _, k := range n.children {
		s := k.countBelow()
		n.sum.files += s.files
		n.sum.dirs += s.dirs
		n.sum.bytes += s.bytes
	}
	slices.SortFunc(n.children, func(a, b *pathNode) int { return cmp.Compare(a.path, b.path) })
	return n.sum
}

// openableNodes yields every closed directory that has a line now and could be opened.
func openableNodes(nodes []*pathNode) func(func(*pathNode) bool) {
	var walk func(nodes []*pathNode, yield func(*pathNode) bool) bool
	walk = func(nodes []*pathNode, yield func(*pathNode) bool) bool {
		for _, n := range nodes {
			if len(n.children) == 0 {
				continue
			}
			if n.sealed {
				continue
			}
			if n.closed && !yield(n) || !n.closed && !walk(n.children, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(*pathNode) bool) { walk(nodes, yield) }
}

// appendLeaves lists every change by itself.
func (n *pathNode) appendLeaves(out []foldedLine) []foldedLine {
	if n.sealed {
		return append(out, n.closedLine())
	}
	if n.needsOwnLine() {
		out = append(out, singleLine(n))
	}
	for _, k := range n.children {
		out = k.appendLeaves(out)
	}
	return out
}

// closedLine is a directory that stands for all below it.
func (n *pathNode) closedLine() foldedLine {
	n.sum.path = n.path + "/"
	return n.sum
}

// needsOwnLine reports whether the path needs a line besides those below it. A directory that
// was added or deleted says nothing that its children do not.
func (n *pathNode) needsOwnLine() bool {
	if n.change == nil || len(n.children) == 0 {
		return n.change != nil
	}
	return n.change.What != retake.Added && n.change.What != retake.Deleted
}

// openingCost returns how many lines opening n adds.
func (n *pathNode) openingCost() int {
	if n.needsOwnLine() {
		return len(n.children)
	}
	return len(n.children) - 1
}

func singleLine(n *pathNode) foldedLine {
	f := foldedLine{path: n.path, bytes: changedBytes(n.change), change: n.change}
	if n.path == "." {
		f.path, f.dirs = "./", 1
	} else if n.change.IsDir() {
		f.path, f.dirs = n.path+"/", 1
	} else {
		f.files = 1
	}
	return f
}

// openLines lists what is open; bunch puts the files of the root on one line.
func (n *pathNode) openLines(bunch bool) []foldedLine {
	var out []foldedLine
	here := foldedLine{path: "./"}
	for _, k := range n.children {
		switch {
		case len(k.children) == 0 && bunch && !k.change.IsDir():
			here.files++
			here.bytes += k.sum.bytes
		case len(k.children) == 0:
			out = append(out, singleLine(k))
		case k.closed:
			out = append(out, k.closedLine())
		default:
			if k.needsOwnLine() {
				out = append(out, singleLine(k))
			}
			out = append(out, k.openLines(false)...)
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

// changedBytes is how many bytes a change brought or took.
func changedBytes(c *retake.Change) int64 {
	var n int64
	if c.After != nil && c.After.Kind == retake.KindFile {
		n += c.After.Size
	}
	if c.Before != nil && c.Before.Kind == retake.KindFile {
		n -= c.Before.Size
	}
	return n
}
