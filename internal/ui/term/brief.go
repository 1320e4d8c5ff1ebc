package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// briefIndent is where the lines below the head of a brief begin.
const briefIndent = 4

// Brief tells of one line of a timeline in at most n lines, without asking anybody.
func (l Look) Brief(v View, s Subject, n int) []string {
	var out []string
	switch {
	case s.Checkpoint != nil:
		out = l.checkpointBrief(v, *s.Checkpoint)
	case len(s.Run) > 0:
		out = l.runBrief(s.Run, Number(int64(len(s.Run)), "auto-checkpoint", "auto-checkpoints"), quietWords(s.Run))
	case len(s.Left) > 0:
		out = l.runBrief(s.Left, Number(int64(len(s.Left)), "checkpoint", "checkpoints")+" "+leftBehind, "nothing of it is lost: each can be looked at and gone back to")
	case s.Fork != nil:
		out = l.forkBrief(*s.Fork)
	case s.Now != nil:
		r := l.nowRow(v)
		out = append(out, l.Bold("now")+"  "+r.title, l.indented(l.Dim("the next checkpoint contains them")))
		out = append(out, l.pointFlow(r.points, max(n-len(out), 1))...)
	case s.Forks > 0:
		out = append(out, Number(int64(s.Forks), "fork more", "forks more")+"  "+l.Dim("retake forks"))
	}
	return out[:min(len(out), n)]
}

func (l Look) indented(s string) string { return strings.Repeat(" ", briefIndent) + s }

func (l Look) checkpointBrief(v View, c retake.Checkpoint) []string {
	f := v.Findings[c.ID]
	title, _ := l.Titled(c, v.Goals)
	lead := termtext.Pad(Numeral(c.Number), briefIndent-2) + "  "
	marks := ""
	if ms := l.Badges(f.Answers); len(ms) > 0 {
		marks = strings.TrimRight(l.VerifyCell(ms, min(badgesWidth(ms), max(l.Width/3, 16)), PlainText), " ")
	}
	right := l.ShownWidth(marks)
	title = l.Glyphs.Cut(title, max(l.Width-termtext.Width(lead)-right-2, 8))
	head := l.Bold(lead + title)
	if marks != "" {
		head = l.Ends(head, marks, termtext.Width(lead)+termtext.Width(title), right)
	}
	out := []string{head, l.indented(l.Dim(l.Glyphs.Cut(l.briefFacts(v, c), l.Width-briefIndent)))}
	for _, f := range l.flagsOf(c, f.Gist) {
		room := max(l.Width-briefIndent-termtext.Width(f.word)-2, 8)
		out = append(out, l.indented(f.color(f.word)+"  "+l.Glyphs.Cut(f.why, room)))
	}
	var r row
	r.tell(l, c, f.Gist)
	r.tellIdle(l, c, v.before())
	return append(out, l.pointFlow(r.points, 4)...)
}

// briefFacts are where a checkpoint stands among the others, and how whole it is.
func (l Look) briefFacts(v View, c retake.Checkpoint) string {
	tasks, who, effects, why := "", "", "", triggerWord(c.Trigger)
	if t := c.Turn; t != nil {
		who, effects, why = termtext.Escape(t.Agent), "no external actions", ""
		if t.Tasks != nil && t.Tasks.Total > 0 {
			tasks = fmt.Sprintf("%d of %d tasks done", t.Tasks.Done, t.Tasks.Total)
			if t.Tasks.Failed > 0 {
				tasks += fmt.Sprintf(", %d failed", t.Tasks.Failed)
			}
		}
	}
	if len(c.Effects) > 0 {
		effects = effectsText(c.Effects)
	}
	total := c.ChangedFiles(v.Findings[c.ID].Gist)
	since := Files(total) + " changed"
	if p := v.Goals[c.Parent]; p != "" {
		since = Files(total) + " since " + p
	}
	if c.Trigger == retake.TriggerInit {
		since = Files(c.Files)
	}
	return l.Facts(tasks, who, since, termtext.Escape(string(c.Coverage.Grade)), effects, why)
}

// pointFlow sets points into lines, and counts what has no room in them. Deletions come
// first, so they are never among the counted ones before others are.
func (l Look) pointFlow(ps []retake.Point, lines int) []string {
	const gap = "   "
	room := l.Width - briefIndent
	var out []string
	line, width := "", 0
	for i, p := range ps {
		text, shown := l.briefPoint(p, room)
		last := len(out) == lines-1
		rest := ""
		if more := restOf(ps[i:]); last && i < len(ps)-1 {
			rest = gap + termtext.Count(more) + " more"
		}
		switch {
		case width == 0:
			line, width = text, shown
		case width+len(gap)+shown+termtext.Width(rest) <= room:
			line, width = line+gap+text, width+len(gap)+shown
		case last:
			return append(out, l.indented(line+gap+l.Dim(termtext.Count(restOf(ps[i:]))+" more")))
		default:
			out = append(out, l.indented(line))
			line, width = text, shown
		}
	}
	if width > 0 {
		out = append(out, l.indented(line))
	}
	return out
}

func (l Look) briefPoint(p retake.Point, room int) (text string, width int) {
	name := l.Glyphs.Cut(l.Words(p.Text), max(room-24, 12))
	lines := l.linesOf(LineCount{Plus: p.Plus, Minus: p.Minus})
	if lines != "" {
		lines = " " + lines
	}
	width = termtext.Width(name) + l.ShownWidth(lines)
	if rest, ok := strings.CutPrefix(name, deletedWord+" "); ok && p.Theme == retake.ThemeDeleted {
		return l.Red(deletedWord) + " " + rest + lines, width
	}
	return name + lines, width
}

func (l Look) runBrief(run []retake.Checkpoint, what, more string) []string {
	newest, oldest := run[0], run[len(run)-1]
	span := Numeral(oldest.Number)
	when := l.Clock(oldest.Time)
	if len(run) > 1 {
		span += l.Glyphs.Dash + Numeral(newest.Number)
		when += l.Glyphs.Dash + l.Clock(newest.Time)
	}
	out := []string{l.Bold(span) + "  " + what + "  " + l.Dim(when), l.indented(l.Dim(l.Glyphs.Cut(more, l.Width-briefIndent)))}
	for _, c := range run {
		for _, e := range c.Effects {
			out = append(out, l.indented(l.Yellow(termtext.Escape(e.ID))+"  "+l.Glyphs.Cut(termtext.Escape(e.Text), max(l.Width-24, 16))+"  "+l.Dim(e.Word())))
		}
	}
	return out
}

func (l Look) forkBrief(f ForkLine) []string {
	from := ""
	if f.Origin != nil {
		from = fmt.Sprintf("forked from %d", f.Origin.Number)
	}
	back := ""
	if len(f.Adopted) > 0 {
		back = "adopted"
	}
	marks := strings.TrimRight(l.VerifyCell(Gravest(l.Badges(f.Finding.Answers)), 20, PlainText), " ")
	name := l.Glyphs.Cut("fork "+termtext.Escape(f.Name), max(l.Width-24, 12))
	out := []string{
		l.Ends(l.Bold(name), marks, termtext.Width(name), l.ShownWidth(marks)),
		l.indented(l.Dim(l.Glyphs.Cut(l.Facts(from, Checkpoints(f.Count), back, l.Path(f.Root)), l.Width-briefIndent))),
	}
	if f.Latest != nil {
		title, _ := l.Titled(*f.Latest, nil)
		out = append(out, l.indented("newest: "+l.Glyphs.Cut(title, max(l.Width-24, 12))))
	}
	return append(out, l.indented(l.Dim("bring it home: retake adopt "+l.Word(f.Name))))
}
