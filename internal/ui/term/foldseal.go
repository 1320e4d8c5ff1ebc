package term

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// made reports whether programs fill the place that a path lies in, as packages or as
// build output: nobody reads its lines.
func made(path string) bool {
	t := pathclass.Of(path).Theme()
	return t == retake.ThemePackages || t == retake.ThemeBuild
}

// seal shuts the directories that hold nothing but packages or build output. One file by
// itself keeps its name.
func (n *branch) seal() {
	for _, k := range n.kids {
		if k.sum.files > 1 && k.filled(k.path+"/") {
			k.sealed = true
			continue
		}
		k.seal()
	}
}

// filled reports whether top decides for every file below: a weak name does not decide for
// what people write.
func (n *branch) filled(top string) bool {
	if len(n.kids) == 0 {
		return n.change != nil && (n.change.IsDir() || made(n.change.Path) && pathclass.DecidingDir(n.change.Path) == top)
	}
	for _, k := range n.kids {
		if !k.filled(top) {
			return false
		}
	}
	return true
}
