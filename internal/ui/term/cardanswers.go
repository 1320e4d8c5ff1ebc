package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// verificationLines returns the answers about a checkpoint, the gravest first, with the facts
// behind them and where they changed.
func verificationLines(l Style, c Card) []string {
	answers := slices.Clone(c.answers())
	slices.SortStableFunc(answers, func(a, b retake.Answer) int { return view.VerdictRank(a) - view.VerdictRank(b) })
	width, signs := 0, 0
	for _, a := range answers {
		sign, _ := l.VerdictMark(a.Verdict, a.Claim)
		width, signs = max(width, termtext.Width(termtext.Escape(a.Name))), max(signs, termtext.Width(sign))
	}
	var out []string
	for _, a := range answers {
		sign, color := l.VerdictMark(a.Verdict, a.Claim)
		head := color(sign) + strings.Repeat(" ", signs-termtext.Width(sign)+1) + termtext.Pad(termtext.Escape(a.Name), width)
		lead := signs + 1 + width + 3
		score, facts := answerFacts(l, a, sortOwnFirst(c.Verifications, cmp.Or(a.As, c.Checkpoint.Number)))
		for i, line := range wrapFacts(l, facts, max(l.Width-cardIndent-lead, 20)) {
			if i > 0 || a.Verdict != retake.Failed {
				score = ""
			}
			if i > 0 {
				head = strings.Repeat(" ", lead-3)
			}
			out = append(out, strings.TrimRight(head+"   "+withScore(l, score, line, color), " "))
		}
	}
	for _, a := range answers {
		if text := verdictChangeText(l, a, c); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// withScore is a line of facts that may begin with what a runner counted.
func withScore(l Style, score, line string, color func(string) string) string {
	rest, begins := strings.CutPrefix(line, score)
	if score == "" || !begins {
		return l.Dim(line)
	}
	return color(score) + l.Dim(rest)
}

// answerFacts are what is known of the run behind an answer: what was counted, which is
// the first of them too, and most about one that did not pass.
func answerFacts(l Style, a retake.Answer, vs []retake.Verification) (score string, facts []string) {
	i := slices.IndexFunc(vs, func(v retake.Verification) bool {
		return v.Name == a.Name && v.Verdict == a.Verdict && v.Claim == a.Claim
	})
	var out []string
	if i >= 0 {
		v := vs[i]
		score = termtext.Escape(v.Score)
		out = append(out, score)
		if !v.Claim || v.Why != v.By+" says so" { // whose word it is stands at the end
			out = append(out, l.EscapeText(v.Why))
		}
		if v.Verdict != retake.Passed || v.Claim {
			out = append(out, l.Glyphs.Cut(termtext.Escape(v.Command), 40))
		}
		if v.Verdict == retake.Failed && v.Exit != 0 {
			out = append(out, fmt.Sprintf("exit %d", v.Exit))
		}
		if v.Took > 0 {
			out = append(out, termtext.Duration(v.Took))
		}
		out = append(out, runSource(v))
	}
	if a.As != 0 {
		out = append(out, fmt.Sprintf("same files as %d", a.As))
	}
	return score, slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// runSource returns who made a verification and on which files; it is empty for a run of ours
// that passed.
func runSource(v retake.Verification) string {
	switch {
	case v.Claim:
		return termtext.Escape(v.By) + " says so; nothing confirms it"
	case v.Bisect:
		return "asked by bisect, decides nothing"
	case v.Where == retake.Elsewhere:
		return "in a fork at another path"
	case v.Where == retake.InFork:
		return "in a fork"
	case v.Verdict == retake.Failed:
		return "run by Retake"
	}
	return ""
}

// wrapFacts breaks a list of facts between them.
func wrapFacts(l Style, facts []string, width int) []string {
	var out []string
	line := ""
	for _, f := range facts {
		f = l.Glyphs.Cut(f, width)
		switch {
		case line == "":
			line = f
		case termtext.Width(line)+termtext.Width(l.Separator())+termtext.Width(f) <= width:
			line += l.Separator() + f
		default:
			out = append(out, line)
			line = f
		}
	}
	return append(out, line)
}

// verdictChangeText says where the verdict differed: at the nearest verified checkpoints
// before and after. It is empty if it was always the same.
func verdictChangeText(l Style, a retake.Answer, c Card) string {
	if a.Claim || !isDecided(a.Verdict) {
		return ""
	}
	before, after := nearestVerifications(a.Name, c)
	part := func(passed, failed, more string, v *retake.Verification) string {
		if v == nil || v.Verdict == a.Verdict {
			return ""
		}
		_, color := l.VerdictMark(v.Verdict, false)
		word := passed
		if v.Verdict == retake.Failed {
			word = failed
		}
		return color(word) + l.Dim(fmt.Sprintf("%s at %d", more, v.Number))
	}
	was, is := part("passed", "failed", "", before), part("passes", "fails", "", after)
	name := l.Dim(termtext.Escape(a.Name) + " ")
	switch {
	case was != "" && is != "":
		return name + was + l.Dim(" and ") + part("passes", "fails", " again", after)
	case was != "" || is != "":
		return name + was + is
	}
	return ""
}

// isDecided reports whether a verdict is about the files.
func isDecided(v retake.Verdict) bool { return v == retake.Passed || v == retake.Failed }

// nearestVerifications returns the verifications of the same name that are closest before and
// after a checkpoint, about other content.
func nearestVerifications(name string, c Card) (before, after *retake.Verification) {
	n := c.Checkpoint.Number
	for i, v := range c.Others {
		if v.Name != name || v.Claim || !isDecided(v.Verdict) || v.Content == c.Checkpoint.Content {
			continue
		}
		switch {
		case v.Number < n && (before == nil || v.Number > before.Number):
			before = &c.Others[i]
		case v.Number > n && (after == nil || v.Number < after.Number):
			after = &c.Others[i]
		}
	}
	return before, after
}
