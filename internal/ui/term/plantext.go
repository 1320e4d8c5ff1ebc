package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// maxPlanLines is how many lines a plan has at most: with a question below it, it
// fits a terminal of 24.
const maxPlanLines = 22

const (
	redCode    = "31"
	greenCode  = "32"
	yellowCode = "33"
)

// RenderPlan draws a plan: deletions first, then what comes back, what changes,
// what is kept, what asks and what stays done.
func RenderPlan(l Style, p *retake.Plan) string { return RenderPlanIn(l, p, maxPlanLines) }

// RenderPlanIn draws a plan into so many lines, or as few more as obstacles and effects
// need: none of these is left out.
func RenderPlanIn(l Style, p *retake.Plan, lines int) string {
	var b strings.Builder
	b.WriteString(planHead(l, p))
	files, talk := fileSections(p), noticeSections(p)
	top := strings.Count(b.String(), "\n")
	if l.Width >= WideFrom {
		b.WriteString(drawWideSections(l, p, files, talk, lines-top-2))
		return b.String()
	}
	fixed := top + 2 // a blank line, and the last one
	if len(files) > 0 {
		fixed++
	}
	if len(talk) > 0 {
		fixed++
	}
	all := append(append([]planSection{}, files...), talk...)
	rows := allotLines(all, lines-fixed)
	c := fitSectionColumns(all, rows)
	for i, s := range all {
		if i == 0 || i == len(files) {
			b.WriteString("\n")
		}
		b.WriteString(drawSection(l, s, c, l.Width, rows[i]))
	}
	fmt.Fprintf(&b, "\n%s\n", l.HangingIndent(safetyText(l, p), 0))
	return b.String()
}

func planHead(l Style, p *retake.Plan) string {
	w := wordsOfCourse(p.Course)
	what := w.now + " " + termtext.Escape(targetText(p))
	right := "plan " + p.Short()
	about := targetDetails(l, p)
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
		sentence = l.HangingIndent(sentence, 0)
	}
	lines := l.AlignEnds(head, l.Dim(right), width, termtext.Width(right)) + "\n" + sentence
	if edits := keptEditsText(p); edits != "" {
		gap := " "
		if l.ShownWidth(planSentence(l, p))+1+termtext.Width(edits) > l.Width {
			gap = "\n"
		}
		lines += gap + edits
	}
	return lines + "\n"
}

// keptEditsText says which edits an undo leaves in place.
func keptEditsText(p *retake.Plan) string {
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

// targetDetails returns more about the target of a plan, without color.
func targetDetails(l Style, p *retake.Plan) string {
	var parts []string
	if p.Course == retake.CourseAdopt && p.Fork != nil {
		if o := p.Fork.Origin; o != nil {
			parts = append(parts, fmt.Sprintf("forked from %d", o.Number))
		}
		return strings.Join(append(parts, l.DisplayPath(p.Fork.Root)), "  ")
	}
	t := p.Target
	if t == nil {
		return ""
	}
	text, quoted := checkpointTitle(*t, l.Titles)
	item := p.Course == retake.CourseUndo || p.Course == retake.CourseRedo
	if quoted && item {
		text = l.Glyphs.Quote(text)
	}
	parts = append(parts, l.ShortTime(t.Time), text)
	if item {
		parts = append(parts, l.Ago(t.Time))
	}
	if t.Coverage.Grade == retake.Partial {
		parts = append(parts, string(retake.Partial))
	}
	return strings.Join(parts, "  ")
}

// planSentence is the answer: how much, and that nothing happened yet.
func planSentence(l Style, p *retake.Plan) string {
	if IsIdlePlan(p) {
		return idleText(p)
	}
	n := countPlan(p).total()
	where := ""
	if len(p.Paths) > 0 {
		names := make([]string, len(p.Paths))
		for i, path := range p.Paths {
			names[i] = termtext.Escape(path)
		}
		where = " in " + joinSomeNames(names, len(names), max(l.Width-62, 16))
	}
	if p.Lost != nil {
		return lostDirSentence(l, p)
	}
	return fmt.Sprintf("%s would change%s. %s", strings.Replace(CountFiles(n), "no files", "No file", 1), where, l.Bold("Nothing has been changed yet."))
}

// lostDirSentence says what becomes of a directory that was deleted or replaced.
func lostDirSentence(l Style, p *retake.Plan) string {
	root := l.CutPath(l.DisplayPath(p.Lost.Root), max(l.Width-42, 20), false)
	text := root + " is created again and keeps its timeline."
	if p.Lost.There {
		text = "Another directory is at " + root + " now."
	}
	return text + "\n" + l.Bold("Nothing has been changed yet.")
}

// safetyText says how all that is there now comes back.
func safetyText(l Style, p *retake.Plan) string {
	if IsIdlePlan(p) {
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
		return "; " + l.Bold(undoCommand(p.Course)) + " brings " + what + " back."
	}
	if p.Safety.There {
		return "Checkpoint " + n + " has everything you have now" + back("it")
	}
	return "First your files are saved as checkpoint " + n + back("them")
}

// undoCommand is the command that takes a course back. Undo goes one further each
// time, so it does not take an undo back.
func undoCommand(c retake.Course) string {
	if c == retake.CourseUndo {
		return "retake redo"
	}
	return "retake undo"
}

// fileSections are the sections about paths; empty ones are left out.
func fileSections(p *retake.Plan) []planSection {
	w := wordsOfCourse(p.Course)
	var out []planSection
	brought, changed := splitWrites(p)
	if len(p.Deletes) > 0 {
		out = append(out, stepSection("DELETE", redCode, p.Deletes))
	}
	if len(brought) > 0 {
		out = append(out, stepSection(strings.ToUpper(w.bring), greenCode, brought))
	}
	if len(changed) > 0 {
		out = append(out, stepSection(strings.ToUpper(w.change), "", changed))
	}
	if len(p.Merges) > 0 {
		out = append(out, mergeSection(p))
	}
	both, rest := splitConflicts(p)
	if len(both) > 0 {
		out = append(out, conflictSection(both))
	}
	if len(rest) > 0 {
		out = append(out, keepSection(rest))
	}
	return out
}

// splitConflicts parts the keeps into those of both sides and the rest.
func splitConflicts(p *retake.Plan) (both, rest []retake.Keep) {
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict {
			both = append(both, k)
		} else {
			rest = append(rest, k)
		}
	}
	return both, rest
}

// noticeSections are the sections that need a word, or say what no plan can do.
func noticeSections(p *retake.Plan) []planSection {
	var out []planSection
	if len(p.Obstacles) > 0 {
		out = append(out, obstacleSection(p))
	}
	if len(p.Effects) > 0 {
		out = append(out, effectSection(p.Effects))
	}
	return out
}

// sectionColumns are the widths of the counts of sections and of their lines.
type sectionColumns struct{ count, number int }

// fitSectionColumns leaves the counts of lines out where each path has a line of its own.
func fitSectionColumns(parts []planSection, rows []int) sectionColumns {
	c := sectionColumns{count: 5}
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

// drawSection sets word and count before the lines of a section.
func drawSection(l Style, s planSection, c sectionColumns, width, n int) string {
	lead := l.boldColor(s.color, termtext.Pad(s.word, wordColumns))
	next := strings.Repeat(" ", wordColumns)
	g := sectionGrid{number: c.number, width: width - wordColumns}
	if s.count > 0 {
		lead += l.boldColor(s.color, termtext.PadLeft(termtext.Count(s.count), c.count)) + "   "
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

// allotLines distributes the lines: every section gets its minimum, and the rest goes round,
// with two at a time for deletions.
func allotLines(parts []planSection, lines int) []int {
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
