package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// renderBisecting is the screen while a search runs.
func renderBisecting(l term.Style, b *bisection) string {
	var s strings.Builder
	s.WriteString(bisectHead(l, b))
	for _, row := range bisectRuns(l, b) {
		s.WriteString(row)
	}
	fmt.Fprintf(&s, "\n%s\n", l.Dim("ctrl-c stops; results so far are kept"))
	return s.String()
}

// bisectHead says what is searched, and how long it may take.
func bisectHead(l term.Style, b *bisection) string {
	contents, known := map[retake.ContentID]bool{}, 0
	for _, p := range b.Points {
		if !contents[p.Content] && p.Stored {
			known++
		}
		contents[p.Content] = true
	}
	stored := fmt.Sprintf("%s of them %s a stored result.", termtext.Count(int64(known)), singularOrPlural(known, "has", "have"))
	switch known {
	case 0:
		stored = "None has a stored result yet."
	case len(contents):
		stored = "All results are stored."
	}
	var s strings.Builder
	head := fmt.Sprintf("%s on this line %s %s. %s", term.CountCheckpoints(int64(len(b.candidates))), singularOrPlural(len(b.candidates), "holds", "hold"), term.CountNoun(int64(len(contents)), "tree", "different trees"), stored)
	fmt.Fprintln(&s, strings.Join(term.Wrap(head, l.Width), "\n"))
	if most := b.search.MaxRuns() + len(b.Runs); most > 0 {
		each := "each in a fork"
		if most == 1 {
			each = "in a fork"
		}
		head = fmt.Sprintf("At most %s, %s that is thrown away. Your files are not touched.", term.CountNoun(int64(most), "run", "runs"), each)
		fmt.Fprintln(&s, strings.Join(term.Wrap(head, l.Width), "\n"))
	}
	fmt.Fprintf(&s, "\n%s\n", renderStrip(l, b))
	return s.String()
}

func singularOrPlural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// bisectRuns has one row for each run, the one that goes on last.
func bisectRuns(l term.Style, b *bisection) []string {
	num, took := 2, 6
	for _, v := range b.Runs {
		num, took = max(num, len(term.CheckpointNumber(v.Number))), max(took, termtext.Width(termtext.Duration(v.Took))+1)
	}
	count := len(term.CheckpointNumber(int64(len(b.Runs) + 1)))
	row := func(i int, n int64, verdict retake.Verdict, text string, d time.Duration, remark string) string {
		sign, color := verdictMark(l, verdict)
		head := fmt.Sprintf("  run %s   %s   ", termtext.Pad(term.CheckpointNumber(int64(i)), count), termtext.PadLeft(term.CheckpointNumber(n), num))
		body := termtext.Pad(text, 15) + termtext.PadLeft(termtext.Duration(d), took)
		room := l.Width - termtext.Width(head) - termtext.Width(sign) - 1 - termtext.Width(body) - 3
		return strings.TrimRight(head+color(sign)+" "+body+"   "+l.Dim(l.Glyphs.Cut(remark, room)), " ") + "\n"
	}
	var out []string
	for i, v := range b.Runs {
		text, remark := runText(v), withDash(l, sameContentText(b, v))
		out = append(out, row(i+1, v.Number, v.Verdict, text, v.Took, remark))
	}
	if b.running < 0 {
		return out
	}
	d := max(l.Now.Sub(b.began), 0)
	return append(out, row(len(b.Runs)+1, b.Points[b.running].Numbers[0], retake.Running, "running", d, remainingText(b, d)))
}

func runText(v retake.Verification) string {
	switch v.Verdict {
	case retake.Passed:
		return "passes"
	case retake.Failed:
		return fmt.Sprintf("fails, exit %d", v.Exit)
	default:
		return "could not run"
	}
}

// sameContentText says what a run is worth beside its own checkpoint.
func sameContentText(b *bisection, v retake.Verification) string {
	var parts []string
	if v.Verdict != retake.Passed && v.Verdict != retake.Failed {
		parts = append(parts, termtext.Escape(term.TextOr(noVerdictReason(v), "says nothing")))
	}
	if v.Where == retake.Elsewhere {
		parts = append(parts, "ran at another path")
	}
	for _, p := range b.Points {
		if rest := slices.DeleteFunc(slices.Clone(p.Numbers), func(n int64) bool { return n == v.Number }); p.Content == v.Content && len(rest) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s the same files", checkpointRange(rest), singularOrPlural(len(rest), "has", "have")))
		}
	}
	return strings.Join(parts, ", ")
}

// remainingText guesses from the runs before.
func remainingText(b *bisection, d time.Duration) string {
	var sum time.Duration
	for _, v := range b.Runs {
		sum += v.Took
	}
	if n := len(b.Runs); n > 0 && sum/time.Duration(n)-d >= time.Second {
		return "about " + termtext.Duration((sum/time.Duration(n) - d).Round(time.Second)) + " left"
	}
	return ""
}

// numberRange names checkpoints: 1–9, or 14,19,20.
func numberRange(numbers []int64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		switch {
		case j-i+1 >= 3 || i == 0 && j == len(numbers)-1 && j > i:
			parts = append(parts, term.CheckpointNumber(numbers[i])+"–"+term.CheckpointNumber(numbers[j]))
		default:
			for _, n := range numbers[i : j+1] {
				parts = append(parts, term.CheckpointNumber(n))
			}
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// checkpointRange is span for a sentence.
func checkpointRange(numbers []int64) string {
	if len(numbers) == 2 {
		return term.CheckpointNumber(numbers[0]) + " and " + term.CheckpointNumber(numbers[1])
	}
	return numberRange(numbers)
}

// stripStop is one place of the strip.
type stripStop struct {
	label   string
	first   int64
	last    int64
	verdict retake.Verdict
	border  bool
}

// renderStrip draws the points as a row, each with its answer below. Neighbours with the same
// answer are folded when there is no room for all.
func renderStrip(l term.Style, b *bisection) string {
	var stops []stripStop
	for i, p := range b.Points {
		s := stripStop{label: withDash(l, numberRange(p.Numbers)), first: p.Numbers[0], last: p.Numbers[len(p.Numbers)-1], verdict: p.Verdict}
		if i == b.running {
			s.verdict = retake.Running
		}
		s.border = i == b.border[0] || i == b.border[1]
		stops = append(stops, s)
	}
	if stripWidth(stops) > l.Width {
		stops = foldStops(l, stops)
	}
	return drawStrip(l, stops)
}

const (
	stripIndent = 2
	stripJoin   = 5 // columns between two labels
)

func stripWidth(stops []stripStop) int {
	n := stripIndent
	for i, s := range stops {
		if n += termtext.Width(s.label); i > 0 {
			n += stripJoin
		}
	}
	return n
}

func foldStops(l term.Style, stops []stripStop) []stripStop {
	var out []stripStop
	for _, s := range stops {
		if n := len(out); n > 0 && out[n-1].verdict == s.verdict && !s.border && !out[n-1].border && s.verdict != retake.Running {
			out[n-1].last = s.last
			out[n-1].label = withDash(l, term.CheckpointNumber(out[n-1].first)+"–"+term.CheckpointNumber(s.last))
			continue
		}
		out = append(out, s)
	}
	return out
}

// withDash writes a range with what the screen can draw.
func withDash(l term.Style, s string) string { return strings.ReplaceAll(s, "–", l.Glyphs.Dash) }

// drawStrip breaks the row where the screen ends.
func drawStrip(l term.Style, stops []stripStop) string {
	var b strings.Builder
	for len(stops) > 0 {
		n, width := 0, stripIndent
		for n < len(stops) && (n == 0 || width+stripJoin+termtext.Width(stops[n].label) <= l.Width) {
			if width += termtext.Width(stops[n].label); n > 0 {
				width += stripJoin
			}
			n++
		}
		above, below := "  ", "  "
		for i, s := range stops[:n] {
			if i > 0 {
				above += " " + l.Dim(strings.Repeat(ruleGlyph(l), stripJoin-2)) + " "
				below += strings.Repeat(" ", stripJoin)
			}
			sign, color := verdictMark(l, s.verdict)
			label, w := s.label, termtext.Width(s.label)
			if s.border && s.verdict == retake.Failed {
				label = l.Bold(label)
			}
			left := max(w-termtext.Width(sign), 0) / 2
			above += label
			below += strings.Repeat(" ", left) + color(sign) + strings.Repeat(" ", max(w-left-termtext.Width(sign), 0))
		}
		fmt.Fprintf(&b, "%s\n%s\n", above, strings.TrimRight(below, " "))
		stops = stops[n:]
	}
	return b.String()
}

// ruleGlyph is a piece of a line that joins two points.
func ruleGlyph(l term.Style) string {
	if l.ASCII {
		return "-"
	}
	return "─"
}
