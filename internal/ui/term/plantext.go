package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// planLines is how many lines a plan has at most: with a question below it, it
// fits a terminal of 24.
const planLines = 22

const (
	redCode    = "31"
	greenCode  = "32"
	yellowCode = "33"
)

// RenderPlan draws a plan: deletions first, then what comes back, what changes,
// what is kept, what asks and what stays done.
func RenderPlan(l Look, p *retake.Plan) string { return RenderPlanIn(l, p, planLines) }

// RenderPlanIn draws a plan into so many lines, or as few more as obstacles and effects
// need: none of these is left out.
func RenderPlanIn(l Look, p *retake.Plan, lines int) string {
	var b strings.Builder
	b.WriteString(planHead(l, p))
	files, talk := fileParts(p), talkParts(p)
	top := strings.Count(b.String(), "\n")
	if l.Width >= WideFrom {
		b.WriteString(wideParts(l, p, files, talk, lines-top-2))
		return b.String()
	}
	fixed := top + 2 // a blank line, and the last one
	if len(files) > 0 {
		fixed++
	}
	if len(talk) > 0 {
		fixed++
	}
	all := append(append([]part{}, files...), talk...)
	rows := allot(all, lines-fixed)
	c := columnsOf(all, rows)
	for i, s := range all {
		if i == 0 || i == len(files) {
			b.WriteString("\n")
		}
		b.WriteString(drawPart(l, s, c, l.Width, rows[i]))
	}
	fmt.Fprintf(&b, "\n%s\n", l.Hang(safetyText(l, p), 0))
	return b.String()
}

func planHead(l Look, p *retake.Plan) string {
	w := wordsOf(p.Course)
	what := w.now + " " + termtext.Escape(goal(p))
	right := "plan " + p.Short()
	about := aboutGoal(l, p)
	room := l.Width - termtext.Width(what) - termtext.Width(right) - 4
	if room < termtext.Width(about) {
		about = l.Glyphs.Cut(about, max(room, 0))
	}
	head, width := l.Bold(what), termtext.Width(what)
	if about != "" {
		head += "  " + about
		width += 2 + termtext.Width(about)
	}
	sentence := planSentence(l, p)
	if p.Lost == nil { // else it is in lines that fit
		sentence = l.Hang(sentence, 0)
	}
	lines := l.Ends(head, l.Dim(right), width, termtext.Width(right)) + "\n" + sentence
	if edits := editsText(p); edits != "" {
		gap := " "
		if l.ShownWidth(planSentence(l, p))+1+termtext.Width(edits) > l.Width {
			gap = "\n"
		}
		lines += gap + edits
	}
	return lines + "\n"
}

// editsText says which edits an undo leaves in place.
func editsText(p *retake.Plan) string {
	if p.Edits == nil {
		return ""
	}
	var in []string
	for _, n := range slices.Backward(p.Edits.Checkpoints) {
		in = append(in, fmt.Sprint(n))
	}
	if most := 3; len(in) > most {
		in = append(in[:most], fmt.Sprintf("%d more", len(in)-most))
	}
	those := strings.Join(in, ", ")
	switch {
	case len(in) == 0:
		return "Your unsaved edits stay."
	case p.Edits.Unsaved == 0:
		return "Your edits in " + those + " stay."
	default:
		return "Your unsaved edits and those in " + those + " stay."
	}
}

// aboutGoal tells more of where a plan leads, without color.
func aboutGoal(l Look, p *retake.Plan) string {
	var parts []string
	if p.Course == retake.CourseAdopt && p.Fork != nil {
		if o := p.Fork.Origin; o != nil {
			parts = append(parts, fmt.Sprintf("forked from %d", o.Number))
		}
		return strings.Join(append(parts, l.Path(p.Fork.Root)), "  ")
	}
	t := p.Target
	if t == nil {
		return ""
	}
	text, quoted := titleWith(*t, l.Goals)
	item := p.Course == retake.CourseUndo || p.Course == retake.CourseRedo
	if quoted && item {
		text = l.Glyphs.Quote(text)
	}
	parts = append(parts, l.Clock(t.Time), text)
	if item {
		parts = append(parts, l.Ago(t.Time))
	}
	if t.Coverage.Grade == retake.Partial {
		parts = append(parts, string(retake.Partial))
	}
	return strings.Join(parts, "  ")
}

// planSentence is the answer: how much, and that nothing happened yet.
func planSentence(l Look, p *retake.Plan) string {
	if Idle(p) {
		return idleText(p)
	}
	n := tallyOf(p).touched()
	where := ""
	if len(p.Paths) > 0 {
		names := make([]string, len(p.Paths))
		for i, path := range p.Paths {
			names[i] = termtext.Escape(path)
		}
		where = " in " + someNames(names, len(names), max(l.Width-62, 16))
	}
	if p.Lost != nil {
		return lostSentence(l, p)
	}
	return fmt.Sprintf("%s would change%s. %s", strings.Replace(Files(n), "no files", "No file", 1), where, l.Bold("Nothing has been changed yet."))
}

// lostSentence says what becomes of a directory that was deleted or replaced.
func lostSentence(l Look, p *retake.Plan) string {
	root := l.PathCut(l.Path(p.Lost.Root), max(l.Width-42, 20), false)
	text := root + " is created again and keeps its timeline."
	if p.Lost.There {
		text = "Another directory is at " + root + " now."
	}
	return text + "\n" + l.Bold("Nothing has been changed yet.")
}

// safetyText says how all that is there now comes back.
func safetyText(l Look, p *retake.Plan) string {
	if Idle(p) {
		return "No checkpoint is added."
	}
	n := l.Bold(fmt.Sprint(p.Safety.Number))
	if p.Lost != nil && p.Safety.There {
		return "Nothing is there to be saved first: checkpoint " + n + " is the last known state."
	}
	back := func(what string) string {
		if p.Course == retake.CourseUnwind {
			return "."
		}
		return "; " + l.Bold(wayBack(p.Course)) + " brings " + what + " back."
	}
	if p.Safety.There {
		return "Checkpoint " + n + " has everything you have now" + back("it")
	}
	return "First your files are saved as checkpoint " + n + back("them")
}

// wayBack is the command that takes a course back. Undo goes one further each
// time, so it does not take an undo back.
func wayBack(c retake.Course) string {
	if c == retake.CourseUndo {
		return "retake redo"
	}
	return "retake undo"
}

// fileParts are the sections about paths; empty ones are left out.
func fileParts(p *retake.Plan) []part {
	w := wordsOf(p.Course)
	var out []part
	brought, changed := written(p)
	if len(p.Deletes) > 0 {
		out = append(out, stepPart("DELETE", redCode, p.Deletes))
	}
	if len(brought) > 0 {
		out = append(out, stepPart(strings.ToUpper(w.bring), greenCode, brought))
	}
	if len(changed) > 0 {
		out = append(out, stepPart(strings.ToUpper(w.change), "", changed))
	}
	if len(p.Merges) > 0 {
		out = append(out, mergePart(p))
	}
	both, rest := conflicts(p)
	if len(both) > 0 {
		out = append(out, conflictPart(both))
	}
	if len(rest) > 0 {
		out = append(out, keepPart(rest))
	}
	return out
}

// conflicts parts the keeps into those of both sides and the rest.
func conflicts(p *retake.Plan) (both, rest []retake.Keep) {
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict {
			both = append(both, k)
		} else {
			rest = append(rest, k)
		}
	}
	return both, rest
}

// talkParts are the sections that need a word, or say what no plan can do.
func talkParts(p *retake.Plan) []part {
	var out []part
	if len(p.Obstacles) > 0 {
		out = append(out, asksPart(p))
	}
	if len(p.Effects) > 0 {
		out = append(out, donePart(p.Effects))
	}
	return out
}

// planColumns are the widths of the counts of sections and of their lines.
type planColumns struct{ count, number int }

// columnsOf leaves the counts of lines out where each path has a line of its own.
func columnsOf(parts []part, rows []int) planColumns {
	c := planColumns{count: 5}
	folded := false
	for i, s := range parts {
		c.count = max(c.count, len(termtext.Count(s.count)))
		folded = folded || s.paths > rows[i]
	}
	if folded {
		c.number = c.count
	}
	return c
}

// drawPart sets word and count before the lines of a section.
func drawPart(l Look, s part, c planColumns, width, n int) string {
	lead := l.loud(s.color, termtext.Pad(s.word, wordColumns))
	next := strings.Repeat(" ", wordColumns)
	g := grid{number: c.number, width: width - wordColumns}
	if s.count > 0 {
		lead += l.loud(s.color, termtext.PadLeft(termtext.Count(s.count), c.count)) + "   "
		next += strings.Repeat(" ", c.count+3)
		g.width -= c.count + 3
	}
	var b strings.Builder
	for _, line := range s.draw(l, g, n) {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(lead+line, " "))
		lead = next
	}
	return b.String()
}

// allot shares the lines: every section has what it must have, and what is left
// goes round, twice to the deletions.
func allot(parts []part, lines int) []int {
	rows := make([]int, len(parts))
	for i, s := range parts {
		rows[i] = s.least
		lines -= s.least
	}
	for more := true; more && lines > 0; {
		more = false
		for i, s := range parts {
			turns := 1
			if s.word == "DELETE" {
				turns = 2
			}
			for range turns {
				if lines > 0 && rows[i] < s.most {
					rows[i]++
					lines--
					more = true
				}
			}
		}
	}
	return rows
}
