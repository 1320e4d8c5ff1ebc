package story

import (
	"cmp"
	"strings"

	"github.com/retake-dev/retake"
)

// maxRenameDepth bounds how many parent directories a rename is followed up.
const maxRenameDepth = 64

// dirRename is a deleted directory and the one that replaced it, both with "/".
type dirRename struct{ from, to string }

// foldDirRenames makes one item of a directory that was renamed with its contents. The item
// stands for all changes below the new name; at least half of them must be part of that
// rename.
func (t *storyBuilder) foldDirRenames(list []groupItem) []groupItem {
	counts := map[dirRename]int64{}
	for _, l := range list {
		if m := t.dirRenameOf(l.Item); m.to != "" {
			counts[m]++
		}
	}
	kept := mainDirRenames(counts, list)
	if len(kept) == 0 {
		return list
	}
	moved := map[string]int64{}
	out := foldByDir(list, func(l groupItem) string {
		dir := outermostRename(kept, l.Path)
		if dir != "" && t.dirRenameOf(l.Item) == kept[dir] {
			moved[dir]++
		}
		return dir
	})
	for i := range out {
		m, ok := kept[out[i].Path]
		if !ok {
			continue
		}
		out[i].What, out[i].From = retake.Renamed, m.from
		if rest := out[i].Files - moved[m.to]; rest > 0 {
			out[i].Note = strings.TrimPrefix(out[i].Note+", and "+fileCountText(rest)+" beside", ", ")
		}
	}
	return out
}

// mainDirRenames returns, by the new name, the directory renames that account for at least
// half of the changes below it.
func mainDirRenames(counts map[dirRename]int64, list []groupItem) map[string]dirRename {
	kept := map[string]dirRename{}
	for m, n := range counts {
		old, ok := kept[m.to]
		if n > 1 && (!ok || cmp.Or(cmp.Compare(n, counts[old]), cmp.Compare(old.from, m.from)) > 0) {
			kept[m.to] = m
		}
	}
	below := map[string]int64{}
	for _, l := range list {
		for i := range len(l.Path) {
			if l.Path[i] == '/' {
				if _, ok := kept[l.Path[:i+1]]; ok {
					below[l.Path[:i+1]]++
				}
			}
		}
	}
	for to, m := range kept {
		if 2*counts[m] < below[to] {
			delete(kept, to)
		}
	}
	return kept
}

// outermostRename returns the outermost parent of path that is in renames, or "".
func outermostRename(kept map[string]dirRename, path string) string {
	for i := range len(path) {
		if path[i] == '/' {
			if _, ok := kept[path[:i+1]]; ok {
				return path[:i+1]
			}
		}
	}
	return ""
}

// dirRenameOf returns the rename of the widest deleted directory that an item is part of.
// It is empty if that directory still exists.
func (t *storyBuilder) dirRenameOf(it retake.Item) dirRename {
	if it.What != retake.Renamed || it.From == "" {
		return dirRename{}
	}
	from, to := strings.Split(it.From, "/"), strings.Split(it.Path, "/")
	n := 0
	for n < maxRenameDepth && n < len(from)-1 && n < len(to)-1 && from[len(from)-1-n] == to[len(to)-1-n] {
		n++
	}
	for ; n > 0; n-- {
		old := strings.Join(from[:len(from)-n], "/")
		if t.deletedDirs[old] {
			return dirRename{old + "/", strings.Join(to[:len(to)-n], "/") + "/"}
		}
	}
	return dirRename{}
}
