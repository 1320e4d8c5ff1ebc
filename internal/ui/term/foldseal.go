package term

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// isGenerated reports whether a path is in a place that programs fill, such as packages or
// build output, whose lines nobody reads.
func isGenerated(path string) bool {
	t := pathclass.Of(path).Theme()
	return t == retake.ThemePackages || t == retake.ThemeBuild
}

// sealGenerated keeps directories closed that hold only packages or build output. A single
// file keeps its name.
func (n *pathNode) sealGenerated() {
	for _, k := range n.children {
		if k.sum.files > 1 && k.isFilledBy(k.path+"/") {
			k.sealed = true
			continue
		}
		k.sealGenerated()
	}
}

// isFilledBy reports whether every file below n is generated because of the directory top. An
// ambiguous name does not count for files that people write.
func (n *pathNode) isFilledBy(top string) bool {
	if len(n.children) == 0 {
		return n.change != nil && (n.change.IsDir() || isGenerated(n.change.Path) && pathclass.DecidingDir(n.change.Path) == top)
	}
	for _, k := range n.children {
		if !k.isFilledBy(top) {
			return false
		}
	}
	return true
}
