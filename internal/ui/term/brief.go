package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// briefIndent is where the lines below the head of a brief begin.
const briefIndent = 4

// SubjectBrief describes one line of a timeline in at most n lines, from what was read
// already.
func (l Style) SubjectBrief(s RowSubject, n int) []string {
	if s.Effect != nil {
		return nil
	}
	var out []string
	switch r := s.Row; r.Kind {
	case retake.RowCheckpoint:
		out = checkpointBrief(l, r)
	case retake.RowQuiet:
		out = runBrief(l, r, l.EscapeText(r.Title))
	case retake.RowReplaced:
		out = runBrief(l, r, CountCheckpoints(r.Count)+" "+replacedText)
	case retake.RowFork:
		out = forkBrief(l, r)
	case retake.RowNow:
		out = append(out, l.Bold("now")+"  "+l.EscapeText(r.Title), indentBrief(l, l.Dim("the next checkpoint contains them")))
		out = append(out, flowPoints(l, r.Points, max(n-len(out), 1))...)
	case retake.RowMore:
		out = append(out, CountNoun(r.Count, "fork more", "forks more")+"  "+l.Dim("retake forks"))
	}
	return out[:min(len(out), n)]
}

func indentBrief(l Style, s string) string { return strings.Repeat(" ", briefIndent) + s }

func checkpointBrief(l Style, r *retake.TimelineRow) []string {
	title := l.EscapeText(r.Title)
	lead := termtext.Pad(CheckpointNumber(r.Number), briefIndent-2) + "  "
	marks := ""
	if ms := l.Badges(r.Answers); len(ms) > 0 {
		marks = strings.TrimRight(l.VerificationCell(ms, min(badgesWidth(ms), max(l.Width/3, 16)), Unpainted), " ")
	}
	right := l.ShownWidth(marks)
	title = l.Glyphs.Cut(title, max(l.Width-termtext.Width(lead)-right-2, 8))
	head := l.Bold(lead + title)
	if marks != "" {
		head = l.AlignEnds(head, marks, termtext.Width(lead)+termtext.Width(title), right)
	}
	out := []string{head, indentBrief(l, l.Dim(l.Glyphs.Cut(briefFacts(l, r), l.Width-briefIndent)))}
	for _, f := range paintFlags(l, r.Flags) {
		room := max(l.Width-briefIndent-termtext.Width(f.word)-2, 8)
		out = append(out, indentBrief(l, f.color(f.word)+"  "+l.Glyphs.Cut(f.why, room)))
	}
	return append(out, flowPoints(l, r.Points, 4)...)
}

// briefFacts are where a checkpoint stands among the others, and how whole it is.
func briefFacts(l Style, r *retake.TimelineRow) string {
	c := r.Checkpoint
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
	since := CountFiles(r.Files) + " changed"
	if r.Base > 0 {
		since = CountFiles(r.Files) + " since " + CheckpointNumber(r.Base)
	}
	if c.Trigger == retake.TriggerInit {
		since = CountFiles(c.Files)
	}
	return l.JoinFacts(tasks, who, since, termtext.Escape(string(c.Coverage.Grade)), effects, why)
}

// flowPoints sets points into lines, and counts what has no room in them. Deletions come
// first, so they are never among the counted ones before others are.
func flowPoints(l Style, ps []retake.Point, lines int) []string {
	const gap = "   "
	room := l.Width - briefIndent
	var out []string
	line, width := "", 0
	for i, p := range ps {
		text, shown := briefPoint(l, p, room)
		last := len(out) == lines-1
		rest := ""
		if more := countRest(ps[i:]); last && i < len(ps)-1 {
			rest = gap + termtext.Count(more) + " more"
		}
		switch {
		case width == 0:
			line, width = text, shown
		case width+len(gap)+shown+termtext.Width(rest) <= room:
			line, width = line+gap+text, width+len(gap)+shown
		case last:
			return append(out, indentBrief(l, line+gap+l.Dim(termtext.Count(countRest(ps[i:]))+" more")))
		default:
			out = append(out, indentBrief(l, line))
			line, width = text, shown
		}
	}
	if width > 0 {
		out = append(out, indentBrief(l, line))
	}
	return out
}

func briefPoint(l Style, p retake.Point, room int) (text string, width int) {
	name := l.Glyphs.Cut(l.EscapeText(p.Text), max(room-24, 12))
	lines := lineCountText(l, LineCount{Plus: p.Plus, Minus: p.Minus})
	if lines != "" {
		lines = " " + lines
	}
	width = termtext.Width(name) + l.ShownWidth(lines)
	if rest, ok := strings.CutPrefix(name, deletedWord+" "); ok && p.Theme == retake.ThemeDeleted {
		return l.Red(deletedWord) + " " + rest + lines, width
	}
	return name + lines, width
}

// runBrief tells of the checkpoints that a fold stands for.
func runBrief(l Style, r *retake.TimelineRow, what string) []string {
	when := l.ShortTime(r.Time)
	if r.Count > 1 {
		when += l.Glyphs.Dash + l.ShortTime(r.Until)
	}
	out := []string{l.Bold(numberText(l, r)) + "  " + what + "  " + l.Dim(when), indentBrief(l, l.Dim(l.Glyphs.Cut(l.EscapeText(r.About), l.Width-briefIndent)))}
	for _, inside := range r.Inside {
		for _, e := range inside.Checkpoint.Effects {
			out = append(out, indentBrief(l, l.Yellow(termtext.Escape(e.ID))+"  "+l.Glyphs.Cut(termtext.Escape(e.Text), max(l.Width-24, 16))+"  "+l.Dim(e.Word())))
		}
	}
	return out
}

func forkBrief(l Style, r *retake.TimelineRow) []string {
	f, from, back := r.Fork, "", ""
	if f.Origin != nil {
		from = fmt.Sprintf("forked from %d", f.Origin.Number)
	}
	if r.Adopted {
		back = "adopted"
	}
	marks := strings.TrimRight(l.VerificationCell(GravestBadges(l.Badges(r.Answers)), 20, Unpainted), " ")
	name := l.Glyphs.Cut("fork "+termtext.Escape(f.Name), max(l.Width-24, 12))
	out := []string{
		l.AlignEnds(l.Bold(name), marks, termtext.Width(name), l.ShownWidth(marks)),
		indentBrief(l, l.Dim(l.Glyphs.Cut(l.JoinFacts(from, CountCheckpoints(f.Count), back, l.DisplayPath(f.Root)), l.Width-briefIndent))),
	}
	if f.Latest != nil {
		title, _ := l.CheckpointTitle(*f.Latest, nil)
		out = append(out, indentBrief(l, "newest: "+l.Glyphs.Cut(title, max(l.Width-24, 12))))
	}
	return append(out, indentBrief(l, l.Dim("bring it home: retake adopt "+l.ShellPath(f.Name))))
}
