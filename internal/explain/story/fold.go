package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// A group of more items than many is folded. The first level below the root may have
// more, since nothing else could stand for it; beyond most, the root stands for all.
const (
	many = 12
	most = 100
)

// fold makes directories of many items, so that all of them are still counted.
func (t *teller) fold(th retake.Theme, list []leaf) []leaf {
	list = t.foldRenames(list)
	if th == retake.ThemePackages || len(list) > many {
		list = bundle(list, func(l leaf) string { return pathclass.Top(l.Path) })
	}
	if th == retake.ThemeDeleted && len(list) > many {
		list = bundle(list, func(l leaf) string { return t.endedTop(l.Path) })
	}
	if len(list) > many {
		list = unfold(list)
	}
	return list
}

// bundle folds what key gives the same directory to; an empty one leaves it alone.
func bundle(list []leaf, key func(leaf) string) []leaf {
	var out []leaf
	var dirs []string
	under := map[string][]leaf{}
	for _, l := range list {
		dir := key(l)
		if dir == "" {
			out = append(out, l)
			continue
		}
		if under[dir] == nil {
			dirs = append(dirs, dir)
		}
		under[dir] = append(under[dir], l)
	}
	for _, d := range dirs {
		out = append(out, together(d, under[d]))
	}
	return out
}

// endedTop is the topmost directory around a path that went as a whole, with "/".
func (t *teller) endedTop(path string) string {
	for i := range len(path) {
		if path[i] == '/' && t.ended[path[:i]] {
			return path[:i+1]
		}
	}
	return ""
}

// node is a directory that stands for the leaves in it, or one leaf.
type node struct {
	dir    string
	leaves []leaf
	closed bool // cannot be opened further
	files  int64
}

func newNode(dir string, leaves []leaf) node {
	n := node{dir: dir, leaves: leaves, closed: len(leaves) == 1}
	for _, l := range leaves {
		n.files += l.Files
	}
	return n
}

// unfold opens directories from the root on, the fullest first, as long as the list stays
// short.
func unfold(list []leaf) []leaf {
	slices.SortFunc(list, func(a, b leaf) int { return byParts(a.Path, b.Path) })
	nodes := newNode("", list).open()
	if len(nodes) > most {
		return []leaf{together("./", list)}
	}
	for {
		at := -1
		for i, n := range nodes {
			if !n.closed && (at < 0 || n.files > nodes[at].files) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		if inner := nodes[at].open(); len(nodes)-1+len(inner) <= many {
			nodes = slices.Replace(nodes, at, at+1, inner...)
		} else {
			nodes[at].closed = true
		}
	}
	out := make([]leaf, len(nodes))
	for i, n := range nodes {
		if out[i] = n.leaves[0]; len(n.leaves) > 1 {
			out[i] = together(n.dir, n.leaves)
		}
	}
	return out
}

// open splits a node by the next name. A directory that holds only one other is passed.
func (n node) open() []node {
	var out []node
	for at := 0; at < len(n.leaves); {
		dir := below(n.dir, n.leaves[at].Path)
		end := at + 1
		for dir != "" && end < len(n.leaves) && strings.HasPrefix(n.leaves[end].Path, dir) {
			end++
		}
		if dir != "" {
			dir = shared(dir, n.leaves[at].Path, n.leaves[end-1].Path)
		}
		out = append(out, newNode(dir, n.leaves[at:end]))
		at = end
	}
	return out
}

// below is the directory in dir that path lies in, with "/"; empty for what lies in dir
// itself.
func below(dir, path string) string {
	i := strings.IndexByte(path[len(dir):], '/')
	if i < 0 || len(dir)+i+1 == len(path) {
		return ""
	}
	return path[:len(dir)+i+1]
}

// shared makes dir as long as both paths go the same way. In a sorted list what the first
// and the last share, all share.
func shared(dir, first, last string) string {
	for {
		next := below(dir, first)
		if next == "" || next != below(dir, last) {
			return dir
		}
		dir = next
	}
}

// byParts sorts paths so that what lies in one directory stays together.
func byParts(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		}
		return int(a[i]) - int(b[i])
	}
	return len(a) - len(b)
}
