package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// GradeText is the one word, cyan when it is not the whole truth.
func GradeText(l Style, g retake.Grade) string {
	if g == retake.Partial {
		return l.Cyan(string(g))
	}
	return termtext.Escape(string(g))
}

// MaxNamedPaths is how many paths are named before the rest is counted.
const MaxNamedPaths = 3

// GapLines lists each reason with its first paths, and how many there are more.
func GapLines(l Style, gaps []retake.Gap, indent string) string {
	var b strings.Builder
	for _, group := range view.GroupGaps(gaps) {
		var names []string
		for _, g := range group[:min(MaxNamedPaths, len(group))] {
			names = append(names, termtext.Escape(g.Path))
		}
		text := strings.Join(names, ", ")
		if more := len(group) - len(names); more > 0 {
			text += fmt.Sprintf(", %s more", termtext.Count(int64(more)))
		}
		fmt.Fprintf(&b, "%s%s  %s\n", indent, termtext.Escape(view.GapCountText(group[0].Reason, len(group))), l.Dim(text))
	}
	return b.String()
}

// maxExcludedShown patterns are named on a card; --json has all.
const maxExcludedShown = 5

// policyFacts tells what is left out.
func policyFacts(l Style, p retake.Policy) string {
	var big, named, git string
	if p.GitIgnore {
		git = "git's ignore files are followed"
	}
	if p.MaxNewFile > 0 {
		big = "new files over " + termtext.Bytes(p.MaxNewFile) + " are left out"
	}
	if len(p.Exclude) > 0 {
		var escaped []string
		for _, e := range p.Exclude[:min(len(p.Exclude), maxExcludedShown)] {
			escaped = append(escaped, termtext.Escape(e))
		}
		named = "without " + strings.Join(escaped, ", ")
		if more := len(p.Exclude) - maxExcludedShown; more > 0 {
			named += " and " + CountNoun(int64(more), "pattern more", "patterns more")
		}
	}
	return l.JoinFacts(git, big, named)
}
