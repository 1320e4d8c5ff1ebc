package restore

import (
	"strings"

	"github.com/retake-dev/retake"
)

// gapIndex finds paths that a checkpoint does not contain.
type gapIndex struct {
	reasons   map[string]retake.Reason // paths and directories, without the slash
	ancestors map[string]bool          // directories with a gap somewhere below
	torn      map[string]bool          // held, with bytes that may mix two points in time
}

// newGapIndex indexes the gaps of a checkpoint. With names, a directory that changed while it
// was listed counts as well: names may be missing.
func newGapIndex(list []retake.Gap, names bool) gapIndex {
	g := gapIndex{reasons: map[string]retake.Reason{}, ancestors: map[string]bool{}, torn: map[string]bool{}}
	for _, x := range list {
		path := strings.TrimSuffix(x.Path, "/")
		if x.Reason.Held() && (!names || x.Reason == retake.ReasonTorn) {
			if x.Reason == retake.ReasonTorn {
				g.torn[path] = true
			}
			continue
		}
		g.reasons[path] = x.Reason
		for dir, _ := splitPath(path); ; dir, _ = splitPath(dir) {
			g.ancestors[dir] = true
			if dir == "" {
				break
			}
		}
	}
	return g
}

// covers reports whether a path is a gap or below one.
func (g gapIndex) covers(path string) bool { return g.reason(path) != "" }

// reason returns why a path is missing, or "" if it is not.
func (g gapIndex) reason(path string) string {
	if len(g.reasons) == 0 {
		return ""
	}
	for at := path; ; at, _ = splitPath(at) {
		if r, ok := g.reasons[at]; ok && (at != "" || path == "") {
			return string(r)
		}
		if at == "" {
			_, ok := g.reasons[""]
			if ok {
				return string(g.reasons[""])
			}
			return ""
		}
	}
}
