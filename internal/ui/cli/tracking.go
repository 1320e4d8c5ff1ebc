package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// trackingRow is what the status says about how changes are known: a sign, a
// line, and lines below it.
func trackingRow(l term.Style, signs rowMarks, t retake.Tracking) (sign, text string, below []string) {
	if t.Check != nil && len(t.Check.Missed) > 0 {
		return trackingMissedRow(l, signs, t)
	}
	sign = signs.yes
	mode := termtext.Escape(string(t.Mode))
	if t.Mode == retake.TrackingScan {
		sign, mode = signs.none, "scan, every save looks at every file"
	}
	told, doubts, checked := "", "", ""
	if t.Events > 0 {
		told = term.CountNoun(t.Events, "change", "changes") + " seen"
	}
	if t.Doubts > 0 {
		doubts = term.CountNoun(t.Doubts, "doubt", "doubts")
	}
	if t.Check != nil {
		checked = fmt.Sprintf("checked %s, %s", l.ShortTime(t.Check.At), term.CountFiles(t.Check.Files))
	}
	if t.Why != "" {
		below = append(below, l.Dim(termtext.Escape(t.Why)))
	}
	return sign, l.JoinFacts(mode, told, doubts, checked), below
}

// unseenText is for who wants to know everything: nothing is lost by it, and there is
// nothing to do.
func unseenText(l term.Style, t retake.Tracking) string {
	if t.Unseen == 0 {
		return ""
	}
	text := fmt.Sprintf("%s may not be looked into. A file that one keeps in memory while it writes counts as changed when it is closed, or at the next comparison of all files.",
		term.CountNoun(t.Unseen, "process of this machine", "processes of this machine"))
	return "\n" + l.Dim(strings.Join(term.Wrap(text, l.Width), "\n")) + "\n"
}

// trackingMissedRow is loud: a change that nobody told of is a change that a save
// could have missed.
func trackingMissedRow(l term.Style, signs rowMarks, t retake.Tracking) (sign, text string, below []string) {
	n := int64(len(t.Check.Missed))
	text = l.Red(fmt.Sprintf("%s MISSED %s at %s", strings.ToUpper(termtext.Escape(string(t.Mode))), term.CountFiles(n), l.ShortTime(t.Check.At)))
	for _, p := range t.Check.Missed[:min(maxMissedShown, len(t.Check.Missed))] {
		below = append(below, termtext.Escape(p))
	}
	if more := n - maxMissedShown; more > 0 {
		below = append(below, termtext.Count(more)+" more, all in --json")
	}
	below = append(below, "the next save checks every file; please report this")
	if t.Why != "" {
		below = append(below, l.Dim(termtext.Escape(t.Why)))
	}
	return signs.no, text, below
}

const maxMissedShown = 5

// rowMarks are the signs before a row, of one width.
type rowMarks struct{ yes, no, none string }
