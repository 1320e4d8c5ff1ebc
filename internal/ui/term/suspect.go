package term

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// SuspectFile is the one file to look at first: the only one that people write, or the first
// of settings or source that a fact speaks of. It is empty where that would be a guess.
func SuspectFile(st *retake.Story) string {
	if st == nil {
		return ""
	}
	for _, theme := range []retake.Theme{retake.ThemeSettings, retake.ThemeSource} {
		for _, g := range st.Groups {
			for _, x := range themeBrief(*st, g) {
				if g.Theme == theme && (len(x.facts) > 0 || hasFact(st, x.path)) && !strings.HasSuffix(x.path, "/") {
					return x.path
				}
			}
		}
	}
	return onlyWrittenFile(st)
}

func hasFact(st *retake.Story, path string) bool {
	return slices.ContainsFunc(st.Facts, func(f retake.Fact) bool { return f.Path == path && f.Kind != retake.FactPackage })
}

// onlyWrittenFile is the single file that changed beside packages, build output and what moves
// by itself.
func onlyWrittenFile(st *retake.Story) string {
	var files int64
	path := ""
	for _, g := range st.Groups {
		switch g.Theme {
		case retake.ThemePackages, retake.ThemeBuild, retake.ThemeMoving, retake.ThemeGit, retake.ThemeMachine:
			continue
		default:
		}
		files += g.Files
		for _, it := range g.Items {
			if isGenerated(it.Path) {
				files -= it.Files
			} else {
				path = it.Path
			}
		}
	}
	if files != 1 || strings.HasSuffix(path, "/") {
		return ""
	}
	return path
}
