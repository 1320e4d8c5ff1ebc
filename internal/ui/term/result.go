package term

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// RenderResult renders what was done: deletions first, how to get it back, and what went
// wrong.
func RenderResult(l Style, p *retake.Plan, res retake.RestoreResult, took time.Duration) string {
	v := view.OfPlan(p)
	var b strings.Builder
	b.WriteString(resultHead(l, p, v, res, took) + "\n\n")
	b.WriteString("  " + resultCounts(l, p, res) + "\n")
	field := func(name, text string) {
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad(name, wordColumns)), text)
	}
	if res.Safety.ID != "" {
		had := "everything you had"
		if p.Lost != nil && p.Safety.There {
			had = "the last known state"
		}
		field("before", "checkpoint "+l.Bold(fmt.Sprint(res.Safety.Number))+", "+had)
	}
	if res.Checkpoint.ID != "" {
		field("now", currentStateText(l, p, res))
	}
	if text := v.Edits; text != "" {
		field("edits", strings.ToLower(text[:1])+strings.TrimSuffix(text[1:], "."))
	}
	for i, line := range meaningLines(l, p) {
		field([]string{"content", ""}[min(i, 1)], line)
	}
	for _, g := range res.Git {
		for i, line := range gitLeftLines(l, g) {
			field([]string{"git", ""}[min(i, 1)], line)
		}
	}
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict && k.Side != "" {
			field("beside", termtext.Escape(k.Side)+l.Dim("  the other version of "+termtext.Escape(k.Path)))
		}
	}
	for _, h := range res.Holders {
		field("running", fmt.Sprintf("%s %d still has the old %s open: restart it", termtext.Escape(h.Command), h.PID, termtext.Escape(h.Path)))
	}
	for _, e := range p.Effects {
		field("external", termtext.Escape(e.ID)+" "+termtext.Escape(e.Text)+l.Dim("  "+e.Word()))
	}
	for _, f := range res.Failed {
		fmt.Fprintf(&b, "  %s%s  %s\n", l.Red(termtext.Pad("left", wordColumns)), termtext.Escape(f.Path), l.Dim(termtext.Escape(f.Why)))
	}
	return b.String()
}

// maxMeanings are told in a result; more are counted.
const maxMeanings = 4

// meaningLines say what was done to the content of files: rows, packages, settings.
func meaningLines(l Style, p *retake.Plan) []string {
	all := slices.DeleteFunc(slices.Concat(p.Writes, p.Deletes), func(s retake.Step) bool { return s.Means == "" })
	var out []string
	for _, s := range all[:min(len(all), maxMeanings)] {
		out = append(out, l.Glyphs.Cut(termtext.Escape(s.Path)+"  "+l.EscapeText(s.Means), l.Width-2-wordColumns))
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, l.Dim("and "+CountFiles(int64(more))+" more"))
	}
	return out
}

// gitLeftLines says where a repository is and was, and how it is moved too.
func gitLeftLines(l Style, g retake.GitLeft) []string {
	text := "stays on " + termtext.Escape(g.Now.String())
	if g.Path != ".git" {
		text = termtext.Escape(g.Path) + " " + text
	}
	then := fmt.Sprintf("it was %s", termtext.Escape(g.Then.String()))
	if g.Checkpoint > 0 {
		then = fmt.Sprintf("in checkpoint %d %s", g.Checkpoint, then)
	}
	lines := Wrap(text+"; "+then, l.Width-2-wordColumns)
	if c := g.Command(); c != "" {
		lines = append(lines, l.Dim("move it too: ")+termtext.Escape(c))
	}
	return lines
}

func resultHead(l Style, p *retake.Plan, v retake.PlanView, res retake.RestoreResult, took time.Duration) string {
	sign := l.Green(l.Glyphs.Yes)
	if len(res.Failed) > 0 {
		sign = l.Yellow(termtext.Pad("!", termtext.Width(l.Glyphs.Yes)))
	}
	what := termtext.Escape(v.Done)
	right := termtext.Duration(took)
	room := l.Width - termtext.Width(l.Glyphs.Yes) - 1 - termtext.Width(what) - termtext.Width(right) - 4
	about := l.Glyphs.Cut(targetDetails(l, p), max(room, 0))
	head := sign + " " + l.Bold(what)
	width := termtext.Width(l.Glyphs.Yes) + 1 + termtext.Width(what)
	if about != "" {
		head += "  " + about
		width += 2 + termtext.Width(about)
	}
	return l.AlignEnds(head, l.Dim(right), width, termtext.Width(right))
}

// resultCounts are the numbers of the plan without what was left.
func resultCounts(l Style, p *retake.Plan, res retake.RestoreResult) string {
	text := l.JoinFacts(view.DoneNumbers(p, res.Failed)...)
	if len(p.Writes)+len(p.Merges) == 0 || !res.ReadBack {
		return text
	}
	const note = "every byte read back"
	gap := l.Width - 2 - termtext.Width(text) - len(note)
	if gap < 2 {
		return text + "\n  " + l.Dim(note)
	}
	return text + strings.Repeat(" ", gap) + l.Dim(note)
}

func currentStateText(l Style, p *retake.Plan, res retake.RestoreResult) string {
	text := "checkpoint " + l.Bold(fmt.Sprint(res.Checkpoint.Number))
	to := p.Course == retake.CourseRestore || p.Course == retake.CourseFinish
	switch same := res.Checkpoint.Content != "" && res.Checkpoint.Content == res.Target.Content; {
	case to && same:
		return text + fmt.Sprintf(", same files as %d", res.Target.Number)
	case to && len(p.Keeps) > 0 && len(p.Paths) == 0 && len(res.Failed) == 0:
		return text + fmt.Sprintf(", as %d but for what was kept", res.Target.Number)
	}
	if res.Checkpoint.Content != "" && res.Checkpoint.Content == res.Safety.Content {
		text += fmt.Sprintf(", same files as %d", res.Safety.Number)
	}
	return text
}

// PartlyDoneError returns the error of a plan that was not applied in full.
func PartlyDoneError(res retake.RestoreResult) *retake.Error {
	n := int64(len(res.Failed))
	verb := "were"
	if n == 1 {
		verb = "was"
	}
	e := &retake.Error{
		Kind: retake.Partly, What: fmt.Sprintf("%s %s left as found", CountNoun(n, "path", "paths"), verb), Safe: "All else is done.",
		Hint: "undo it: retake undo\nsee what changed: retake diff",
	}
	if res.Safety.ID != "" {
		e.Safe += fmt.Sprintf(" Checkpoint %d has everything from before.", res.Safety.Number)
	}
	return e
}
