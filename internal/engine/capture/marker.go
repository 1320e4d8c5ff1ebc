package capture

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// ours reports whether a name is of our mark and therefore no part of the workspace: the
// marker directory when nothing but ours is in it, and in any other one the file that
// names this workspace. All else that lies there is captured. What a restore put aside is
// named in coverage: nobody can tell it from what somebody else hides under such a name.
func (v *visitor) ours(name string) bool {
	switch {
	case !v.o.Marker:
		return false
	case v.n.path == "" && name == marker.Dir:
		holds, alone := marker.OnlyOurs(v.dir, v.o.Workspace)
		for _, hold := range holds {
			v.setAside(marker.Dir + "/" + hold)
		}
		return alone
	case v.n.path == marker.Dir && marker.IsOwn(v.dir, name, v.o.Workspace):
		v.gap(marker.Dir+"/"+name, retake.ReasonStore, "the mark of this workspace")
		return true
	case v.n.path == marker.Dir && marker.IsHold(name):
		v.setAside(marker.Dir + "/" + name)
		return true
	}
	return false
}

func (v *visitor) setAside(path string) {
	v.gap(path+"/", retake.ReasonStore, "what a restore replaced; it goes after a day")
}
