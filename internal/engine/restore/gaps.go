package restore

import (
	"strings"

	"github.com/retake-dev/retake"
)

// gaps are the places that a checkpoint does not hold.
type gaps struct {
	at    map[string]retake.Reason // paths and directories, without the slash
	above map[string]bool          // directories with a gap somewhere below
	torn  map[string]bool          // held, with bytes that may mix two points in time
}

// newGaps takes the gaps of a checkpoint apart. With names, a directory that moved while
// it was listed counts as well: names may be missing in it.
func newGaps(list []retake.Gap, names bool) gaps {
	g := gaps{at: map[string]retake.Reason{}, above: map[string]bool{}, torn: map[string]bool{}}
	for _, x := range list {
		path := strings.TrimSuffix(x.Path, "/")
		if x.Reason.Held() && (!names || x.Reason == retake.ReasonTorn) {
			if x.Reason == retake.ReasonTorn {
				g.torn[path] = true
			}
			continue
		}
		g.at[path] = x.Reason
		for dir, _ := split(path); ; dir, _ = split(dir) {
			g.above[dir] = true
			if dir == "" {
				break
			}
		}
	}
	return g
}

// holds reports whether a path is a gap, or lies below one.
func (g gaps) holds(path string) bool { return g.why(path) != "" }

func (g gaps) why(path string) string {
	if len(g.at) == 0 {
		return ""
	}
	for at := path; ; at, _ = split(at) {
		if r, ok := g.at[at]; ok && (at != "" || path == "") {
			return string(r)
		}
		if at == "" {
			_, ok := g.at[""]
			if ok {
				return string(g.at[""])
			}
			return ""
		}
	}
}
