package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// renderBisected is what a search found: the answer first, then its evidence.
func renderBisected(l term.Style, b *bisection) string {
	var s strings.Builder
	s.WriteString(bisectSummary(l, b))
	fmt.Fprintf(&s, "\n%s\n", renderStrip(l, b))
	if !b.Found {
		for _, row := range bisectRuns(l, b) {
			s.WriteString(row)
		}
		if len(b.Runs) > 0 && (b.Good != nil || b.Bad != nil) {
			s.WriteString("\n")
		}
	}
	s.WriteString(borderRows(l, b))
	if b.Story != nil {
		fmt.Fprintf(&s, "\n%s\n\n%s", l.Bold(fmt.Sprintf("What really changed from %d to %d", b.Good.Number, b.Bad.Number)), term.RenderStoryBrief(l, *b.Story))
	}
	s.WriteString(failingOutput(l, b.Output))
	return s.String()
}

func bisectSummary(l term.Style, b *bisection) string {
	sign, text := l.Red(l.Glyphs.No), ""
	switch {
	case b.Found:
		text = fmt.Sprintf("%d is the first checkpoint at which this fails", b.Bad.Number)
	case b.Good != nil && b.Bad == nil:
		sign, text = l.Green(l.Glyphs.Yes), b.Why
	default:
		sign, text = l.Cyan("?"), b.Why
	}
	var took time.Duration
	for _, v := range b.Runs {
		took += v.Took
	}
	right := termtext.Escape(term.TextOr(b.Name, b.Command)) + ", " + term.CountNoun(int64(len(b.Runs)), "run", "runs")
	if len(b.Runs) > 0 {
		right += ", " + termtext.Duration(took)
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	width := termtext.Width(l.Glyphs.No) + 1 + termtext.Width(text)
	if width+2+termtext.Width(right) > l.Width {
		return sign + " " + l.Bold(text) + "\n  " + l.Dim(l.Glyphs.Cut(right, l.Width-2)) + "\n"
	}
	return l.AlignEnds(sign+" "+l.Bold(text), l.Dim(right), width, termtext.Width(right)) + "\n"
}

// borderRows are the last checkpoint that passes and the first that fails.
func borderRows(l term.Style, b *bisection) string {
	var rows []borderRow
	if b.Good != nil {
		rows = append(rows, borderRow{b.Good, retake.Passed, "the last one that passes"})
	}
	if b.Bad != nil {
		later := "the first one that fails"
		if b.Good != nil {
			later = borderDistance(b)
		}
		rows = append(rows, borderRow{b.Bad, retake.Failed, later})
	}
	num, when, title := 0, 0, 0
	for _, r := range rows {
		text, _ := l.CheckpointTitle(*r.cp, b.titles)
		num, when, title = max(num, len(term.CheckpointNumber(r.cp.Number))), max(when, termtext.Width(l.ShortTime(r.cp.Time))), max(title, termtext.Width(text))
	}
	room := l.Width - 2 - termtext.Width(l.Glyphs.No) - 2 - num - 2 - when - 2
	title = max(min(title+3, room-26), 16)
	var s strings.Builder
	for _, r := range rows {
		sign, color := verdictMark(l, r.verdict)
		text, _ := l.CheckpointTitle(*r.cp, b.titles)
		fmt.Fprintf(&s, "  %s  %s  %s  %s  %s\n", color(termtext.Pad(sign, termtext.Width(l.Glyphs.No))), termtext.PadLeft(term.CheckpointNumber(r.cp.Number), num),
			l.Dim(termtext.Pad(l.ShortTime(r.cp.Time), when)), termtext.Pad(l.Glyphs.Cut(text, title), title), l.Dim(r.remark))
	}
	return s.String()
}

type borderRow struct {
	cp      *retake.Checkpoint
	verdict retake.Verdict
	remark  string
}

// borderDistance is how far the first that fails is from the last that passes.
func borderDistance(b *bisection) string {
	text := roughDuration(b.Bad.Time.Sub(b.Good.Time))
	if b.Story != nil {
		text += " and " + term.CountFiles(b.Story.Counts.Total())
	}
	return text + " later"
}

// roughDuration is a stretch of time in one unit.
func roughDuration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return termtext.Count(int64(d/(24*time.Hour))) + " d"
}

// failingLines is how much of a failing run is shown; the record has more.
const failingLines = 8

// failingOutput is the end of what the failing run printed.
func failingOutput(l term.Style, output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n\r\t "), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	var s strings.Builder
	head := l.Bold("The end of the failing run")
	if more := len(lines) - failingLines; more > 0 {
		head += "  " + l.Dim(term.CountNoun(int64(more), "line", "lines")+" before it")
		lines = lines[more:]
	}
	fmt.Fprintf(&s, "\n%s\n\n", head)
	for _, line := range lines {
		text := strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\r ")
		fmt.Fprintf(&s, "%s\n", strings.TrimRight("  "+l.Glyphs.Cut(termtext.Escape(text), l.Width-2), " "))
	}
	return s.String()
}

// bisectHints are what to do with the answer, label and command by turns.
func bisectHints(l term.Style, b *bisection) []string {
	switch {
	case b.Good != nil && b.Bad != nil:
		good, bad := b.Good.Number, b.Bad.Number
		hints := []string{"look", fmt.Sprintf("retake diff %d %d", good, bad), "go back", fmt.Sprintf("retake restore %d", good)}
		if path := term.SuspectFile(b.Story); path != "" {
			hints = append(hints, "only the file", fmt.Sprintf("retake restore %d -- %s", good, l.ShellPath(path)))
		}
		return hints
	case b.Good != nil:
		return []string{"the files may have changed since", "retake save", "then again", "retake bisect -- " + shellCommandText(l, b.Command)}
	case b.Bad != nil:
		return []string{"all checkpoints", "retake log", "try it here", b.Command}
	}
	return []string{"try it here", b.Command}
}

// printHintLines prints what to do next, one command per line.
func (f *commandLine) printHintLines(pairs []string) {
	if !f.ErrTTY || f.json {
		return
	}
	l, label := f.stderrStyle(), 0
	for i := 0; i+1 < len(pairs); i += 2 {
		label = max(label, termtext.Width(pairs[i]))
	}
	fmt.Fprintln(f.Err)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(f.Err, "%s%s %s\n", l.Dim(pairs[i]+":"), strings.Repeat(" ", label-termtext.Width(pairs[i])), pairs[i+1])
	}
}
