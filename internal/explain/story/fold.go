package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// A group with more items than maxItems is folded. The first level below the root may have
// up to maxRootItems, since no directory could stand for it; beyond that the root stands
// for all.
const (
	maxItems     = 12
	maxRootItems = 100
)

// foldItems replaces many items by directories, so that all of them are still counted.
func (t *storyBuilder) foldItems(th retake.Theme, list []groupItem) []groupItem {
	list = t.foldDirRenames(list)
	if th == retake.ThemePackages || len(list) > maxItems {
		list = foldByDir(list, func(l groupItem) string { return pathclass.DecidingDir(l.Path) })
	}
	if th == retake.ThemeDeleted && len(list) > maxItems {
		list = foldByDir(list, func(l groupItem) string { return t.deletedTopDir(l.Path) })
	}
	if len(list) > maxItems {
		list = expandDirs(list)
	}
	return list
}

// foldByDir combines the items for which key returns the same directory. Items with an
// empty key stay as they are.
func foldByDir(list []groupItem, key func(groupItem) string) []groupItem {
	var out []groupItem
	var dirs []string
	under := map[string][]groupItem{}
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
		out = append(out, combineItems(d, under[d]))
	}
	return out
}

// deletedTopDir returns the topmost deleted directory around a path, with "/", or "".
func (t *storyBuilder) deletedTopDir(path string) string {
	for i := range len(path) {
		if path[i] == '/' && t.deletedDirs[path[:i]] {
			return path[:i+1]
		}
	}
	return ""
}

// foldNode is a directory that stands for the items in it, or a single item.
type foldNode struct {
	dir    string
	items  []groupItem
	closed bool // cannot be opened further
	files  int64
}

func newFoldNode(dir string, leaves []groupItem) foldNode {
	n := foldNode{dir: dir, items: leaves, closed: len(leaves) == 1}
	for _, l := range leaves {
		n.files += l.Files
	}
	return n
}

// expandDirs splits directories from the root down, the fullest first, as long as the list
// stays short.
func expandDirs(list []groupItem) []groupItem {
	slices.SortFunc(list, func(a, b groupItem) int { return comparePaths(a.Path, b.Path) })
	nodes := newFoldNode("", list).splitByChild()
	if len(nodes) > maxRootItems {
		return []groupItem{combineItems("./", list)}
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
		if inner := nodes[at].splitByChild(); len(nodes)-1+len(inner) <= maxItems {
			nodes = slices.Replace(nodes, at, at+1, inner...)
		} else {
			nodes[at].closed = true
		}
	}
	out := make([]groupItem, len(nodes))
	for i, n := range nodes {
		if out[i] = n.items[0]; len(n.items) > 1 {
			out[i] = combineItems(n.dir, n.items)
		}
	}
	return out
}

// splitByChild splits a node by the next path element. A directory that holds only one
// other directory is skipped.
func (n foldNode) splitByChild() []foldNode {
	var out []foldNode
	for at := 0; at < len(n.items); {
		dir := childDir(n.dir, n.items[at].Path)
		end := at + 1
		for dir != "" && end < len(n.items) && strings.HasPrefix(n.items[end].Path, dir) {
			end++
		}
		if dir != "" {
			dir = commonDir(dir, n.items[at].Path, n.items[end-1].Path)
		}
		out = append(out, newFoldNode(dir, n.items[at:end]))
		at = end
	}
	return out
}

// childDir returns the directory directly below dir that path is in, with "/", or "" if
// path is directly in dir.
func childDir(dir, path string) string {
	i := strings.IndexByte(path[len(dir):], '/')
	if i < 0 || len(dir)+i+1 == len(path) {
		return ""
	}
	return path[:len(dir)+i+1]
}

// commonDir extends dir as long as both paths agree. In a sorted list, what the first and
// the last path share, all paths share.
func commonDir(dir, first, last string) string {
	for {
		next := childDir(dir, first)
		if next == "" || next != childDir(dir, last) {
			return dir
		}
		dir = next
	}
}

// comparePaths orders paths so that everything in one directory stays together.
func comparePaths(a, b string) int {
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
