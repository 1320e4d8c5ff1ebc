package term

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// isGenerated reports whether programs fill the place that a path lies in, as packages or as
// build output: nobody reads its lines.
func isGenerated(path string) bool {
	t := pathclass.Of(path).Theme()
	return t == retake.ThemePackages || t == retake.ThemeBuild
}

// sealGenerated shuts the directories that hold nothing but packages or build output. One file by
// itself keeps its name.
func (n *pathNode) sealGenerated() {
	for _, k := range n.children {
		if k.sum.files > 1 && k.isFilledBy(k.path+"/") {
			k.sealed = true
			continue
		}
		k.sealGenerated()
	}
}

// isFilledBy reports whether top decides for every file below: a weak name does not decide for
// what people write.
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
