package term

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// TimelineRows is a timeline with the graph laid out; each row is drawn in one line on
// request.
type TimelineRows struct {
	lines []rowLine
	cols  columns
}

type rowLine struct {
	row     row
	subject RowSubject
}

// RowSubject is what one line of a timeline stands for: a row, or an effect below it.
type RowSubject struct {
	Row    *retake.TimelineRow
	Effect *retake.Effect
}

// Key is the same for the same subject, also after rows came or went.
func (s RowSubject) Key() string {
	if s.Effect != nil {
		return "effect " + s.Effect.ID
	}
	return s.Row.Key
}

// Checkpoint is the checkpoint that the line is of; nil if it is not one.
func (s RowSubject) Checkpoint() *retake.Checkpoint {
	if s.Effect != nil {
		return nil
	}
	return s.Row.Checkpoint
}

// ArrangeTimeline lays out a timeline in lines.
func (l Style) ArrangeTimeline(v *retake.TimelineView) *TimelineRows {
	out := &TimelineRows{}
	var fitted []row
	for i := range v.Rows {
		r := timelineRow(l, &v.Rows[i])
		if !r.fold {
			fitted = append(fitted, r)
		}
		out.lines = append(out.lines, rowLine{r, RowSubject{Row: &v.Rows[i]}})
		for k := len(r.effects) - 1; k >= 0; k-- {
			out.lines = append(out.lines, rowLine{r, RowSubject{Row: &v.Rows[i], Effect: &r.effects[k]}})
		}
	}
	out.cols = fitColumns(l, fitted, v.Lanes, v.Checked)
	return out
}

// Len returns the number of lines.
func (r *TimelineRows) Len() int { return len(r.lines) }

// At returns what line i stands for.
func (r *TimelineRows) At(i int) RowSubject { return r.lines[i].subject }

// Head names the columns.
func (r *TimelineRows) Head(l Style) string { return l.Dim(r.cols.head()) }

// Draw draws line i.
func (r *TimelineRows) Draw(l Style, i int) string {
	at := r.lines[i]
	text := ""
	switch {
	case at.subject.Effect != nil:
		text = effectRow(l, r.cols, at.row, *at.subject.Effect)
	case at.row.fold:
		text = drawFoldRow(l, r.cols, at.row)
	default:
		text = drawBriefRow(l, r.cols, at.row)
	}
	return strings.TrimRight(text, " ")
}

// drawBriefRow is a row in one line. A flag stands where nothing was verified, or before what
// changed; its reason is on the card.
func drawBriefRow(l Style, c columns, r row) string {
	brief := r
	if c.wide {
		own := r.lastColumn(true)
		room := c.story
		if own != "" {
			room -= termtext.Width(own) + termtext.Width(l.Separator())
		}
		return l.rowLine(c, brief, l.JoinFacts(l.Dim(own), drawPoints(l, r.points, room, r.place.Replaced)))
	}
	lead := l.Dim(l.Glyphs.Cut(r.lastColumn(false), c.lead))
	if len(r.flags) > 0 && r.pins == "" {
		f := r.flags[0]
		if len(r.badges) == 0 && termtext.Width(f.word) <= c.verify-c.filesOverflow(r) {
			brief.badges = []Badge{{Text: f.word, Color: f.color, word: true}}
		} else {
			lead = f.color(l.Glyphs.Cut(f.word, c.lead))
		}
	}
	return l.rowLine(c, brief, lead)
}

// drawFoldRow tells of checkpoints that a restore left, in one line.
func drawFoldRow(l Style, c columns, r row) string {
	room := c.number + 2 + c.when
	rest := c.title + 2 + c.verify + c.files + 2 + c.lead
	if c.wide {
		rest = c.title + 2 + c.verify + c.files + 2 + c.story
	}
	return drawGraphRow(l, r.place, l.Dim(r.node), c.lanes) + l.Dim(termtext.PadLeft(r.number, room)+"  "+l.Glyphs.Cut(r.title, rest))
}
