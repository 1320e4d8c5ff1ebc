package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
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
	v := view.OfPlan(p)
	var b strings.Builder
	b.WriteString(planHead(l, p, v))
	files, talk := pathSections(v), noticeSections(p)
	top := strings.Count(b.String(), "\n")
	if l.Width >= WideFrom {
		b.WriteString(drawWideSections(l, p, v, files, talk, lines-top-2))
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
	fmt.Fprintf(&b, "\n%s\n", l.HangingIndent(safetyText(l, p, v), 0))
	return b.String()
}

// RenderIdlePlan renders that there is nothing to do, and what is kept anyway.
func RenderIdlePlan(l Style, p *retake.Plan) string {
	v := view.OfPlan(p)
	out := planSentence(l, p, v) + "\n"
	if len(p.Keeps) == 0 {
		return out
	}
	for _, s := range pathSections(v) {
		out += "\n" + drawSection(l, s, fitSectionColumns([]planSection{s}, []int{s.most}), l.Width, s.most)
	}
	return out
}

func planHead(l Style, p *retake.Plan, v retake.PlanView) string {
	what := termtext.Escape(v.Action)
	right := ""
	if p.Digest != "" {
		right = "plan " + p.Short()
	}
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
	sentence := planSentence(l, p, v)
	shown := l.ShownWidth(sentence)
	if p.Lost == nil { // else it is in lines that fit
		sentence = l.HangingIndent(sentence, 0)
	}
	lines := l.AlignEnds(head, l.Dim(right), width, termtext.Width(right)) + "\n" + sentence
	if v.Edits != "" {
		gap := " "
		if shown+1+termtext.Width(v.Edits) > l.Width {
			gap = "\n"
		}
		lines += gap + v.Edits
	}
	return lines + "\n"
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
	text, quoted := view.PlainTitle(t, l.Titles)
	text = termtext.Escape(text)
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
func planSentence(l Style, p *retake.Plan, v retake.PlanView) string {
	headline := termtext.Escape(v.Headline)
	switch {
	case v.Idle && p.Next > 0:
		return headline + fmt.Sprintf(" The change before it: retake undo %d", p.Next)
	case v.Idle:
		return headline
	case p.Lost != nil:
		root := l.CutPath(l.DisplayPath(p.Lost.Root), max(l.Width-42, 20), false)
		return strings.Replace(headline, termtext.Escape(p.Lost.Root), root, 1) + "\n" + l.Bold(v.Untouched)
	}
	where := ""
	if p.To != "" {
		where = " to " + l.CutPath(l.DisplayPath(p.To), max(l.Width-62, 20), false)
	} else if len(p.Paths) > 0 {
		names := make([]string, len(p.Paths))
		for i, path := range p.Paths {
			names[i] = termtext.Escape(path)
		}
		where = " in " + joinSomeNames(names, len(names), max(l.Width-62, 16))
	}
	return headline + where + ". " + l.Bold(v.Untouched)
}

// safetyText says how all that is there now comes back.
func safetyText(l Style, p *retake.Plan, v retake.PlanView) string {
	n := fmt.Sprint(p.Safety.Number)
	text := strings.Replace(v.Safety.Text, "heckpoint "+n, "heckpoint "+l.Bold(n), 1)
	if v.Safety.Course != "" {
		text += "; " + l.Bold("retake "+string(v.Safety.Course)) + " " + v.Safety.Brings
	}
	return text + "."
}

func pathSections(v retake.PlanView) []planSection {
	var out []planSection
	for _, s := range v.Sections {
		out = append(out, pathSection(s))
	}
	return out
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
