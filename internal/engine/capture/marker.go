package capture

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// isOwnMarker reports whether a name is of our mark and therefore no part of the workspace: the
// marker directory when nothing but ours is in it, and in any other one the file that
// names this workspace. All else that lies there is captured. What a restore put aside is
// named in coverage: nobody can tell it from what somebody else hides under such a name.
func (v *visitor) isOwnMarker(name string) bool {
	switch {
	case !v.opts.Marker:
		return false
	case v.node.path == "" && name == marker.Dir:
		holds, alone := marker.HasOnlyOwnFiles(v.dir, v.opts.Workspace)
		for _, hold := range holds {
			v.addTrashGap(marker.Dir + "/" + hold)
		}
		return alone
	case v.node.path == marker.Dir && marker.IsMarkOf(v.dir, name, v.opts.Workspace):
		v.addGap(marker.Dir+"/"+name, retake.ReasonStore, "the mark of this workspace")
		return true
	case v.node.path == marker.Dir && marker.IsReplacedName(name):
		v.addTrashGap(marker.Dir + "/" + name)
		return true
	}
	return false
}

func (v *visitor) addTrashGap(path string) {
	v.addGap(path+"/", retake.ReasonStore, "what a restore replaced; it goes after a day")
}
