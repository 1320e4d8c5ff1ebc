package capture

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// isOwnMarker reports whether a name is our marker and therefore not part of the workspace:
// the marker directory if it contains nothing else, otherwise the file that names this
// workspace. Everything else there is captured. The trash of restores is listed as a gap,
// since it cannot be distinguished from files that somebody hides under such a name.
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
