package term

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/retake-dev/retake"
)

// HintLine joins labels and commands.
func (l Style) HintLine(pairs []string) string {
	var items []string
	for i := 0; i+1 < len(pairs); i += 2 {
		items = append(items, l.Dim(pairs[i]+":")+" "+pairs[i+1])
	}
	return strings.Join(items, "     ")
}

// TimelineHints lead to the checkpoint that asks to be looked at, and to one worth going back
// to. Files that are gone and in no checkpoint as deleted come first: the last checkpoint has
// them.
func TimelineHints(v *retake.TimelineView) []string {
	if r := &v.Rows[0]; r.Kind == retake.RowNow && r.Changed != nil && r.Changed.Deleted > 0 {
		return []string{"bring back", fmt.Sprintf("retake restore %d", v.Newest) + deletedPath(r.Points), "details", "retake diff", "all options", "retake help restore"}
	}
	var first, at, back int64
	for r := range v.Checkpoints {
		if first == 0 {
			first = r.Number
		}
		if at == 0 && (isMismatched(r) || hasFailing(r.Answers)) {
			at = r.Number
		}
		if back == 0 && r.Number != v.Newest {
			back = r.Number
		}
	}
	if at == 0 {
		at = first
	}
	if v.Good != nil && v.Good.Number != v.Newest && v.Tree {
		back = v.Good.Number
	}
	pairs := []string{"details", fmt.Sprintf("retake show %d", at)}
	if back != 0 {
		pairs = append(pairs, "go back (asks first)", fmt.Sprintf("retake restore %d", back))
	}
	switch {
	case !v.Tree:
		return append(pairs, "all of it", "retake log")
	case v.Checked:
		return append(pairs, "good only", "retake log --good")
	}
	return append(pairs, "since then", "retake diff")
}

// isMismatched reports whether words and facts disagree in a row.
func isMismatched(r *retake.TimelineRow) bool {
	return len(r.Flags) > 0 && r.Flags[0].Tone == retake.ToneMismatch
}

// deletedPathPattern is a fact about deleted files with a path that a shell takes as it is.
var deletedPathPattern = regexp.MustCompile(`^deleted (?:[\d,]+ in )?([A-Za-z0-9_][A-Za-z0-9._/-]*?)/?$`)

// deletedPath limits a restore to what was deleted, where that is one place.
func deletedPath(points []retake.Point) string {
	var places []string
	for _, p := range points {
		if strings.HasPrefix(p.Text, "deleted ") {
			places = append(places, p.Text)
		}
	}
	if len(places) == 1 {
		if m := deletedPathPattern.FindStringSubmatch(places[0]); m != nil && strings.Trim(m[1], "0123456789,") != "" { // else it may be a count
			return " -- " + m[1]
		}
	}
	return " --plan"
}

func hasFailing(answers []retake.Answer) bool {
	for _, a := range answers {
		if a.Verdict == retake.Failed && !a.Claim {
			return true
		}
	}
	return false
}
