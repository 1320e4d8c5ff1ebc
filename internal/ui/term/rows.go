package term

import (
	"fmt"
	"slices"
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

// RowSubject is what one line of a timeline stands for: one of its fields is set.
type RowSubject struct {
	Checkpoint *retake.Checkpoint
	Run        []retake.Checkpoint // quiet checkpoints, newest first
	Abandoned  []retake.Checkpoint // checkpoints that a restore left behind, folded
	Fork       *ForkLine
	Forks      int // forks that are not shown one by one
	Now        *retake.Counts
	Effect     *retake.Effect
}

// Key is the same for the same subject, also after rows came or went.
func (s RowSubject) Key() string {
	switch {
	case s.Checkpoint != nil:
		return string(s.Checkpoint.ID)
	case len(s.Run) > 0:
		return string(s.Run[len(s.Run)-1].ID)
	case len(s.Abandoned) > 0:
		return "left " + string(s.Abandoned[len(s.Abandoned)-1].ID)
	case s.Fork != nil:
		return string(s.Fork.ID)
	case s.Effect != nil:
		return "effect " + s.Effect.ID
	case s.Now != nil:
		return "now"
	}
	return "forks"
}

// ArrangeTimeline lays out a timeline. If folded, each run of abandoned checkpoints is one
// line.
func (l Style) ArrangeTimeline(v TimelineView, folded bool) *TimelineRows {
	out := &TimelineRows{}
	if len(v.Checkpoints) == 0 {
		return out
	}
	at := v.parentLookup()
	us, spots := v.timelineEntries(folded)
	behind := v.abandonedCheckpoints()
	var rows []row
	if v.hasNow() {
		r := l.nowRow(v)
		rows = append(rows, r)
		now := v.Now
		if now == nil {
			now = &retake.Counts{}
		}
		out.lines = append(out.lines, rowLine{r, RowSubject{Now: now}})
	}
	for i, u := range us {
		r := l.entryRow(u, v)
		r.graphCell = spots[i]
		if len(u.checkpoints) == 1 {
			r.setIdleTurn(l, u.checkpoints[0], at)
		}
		if u.checkpoints != nil && behind[u.checkpoints[0].ID] {
			r.abandoned, r.detached = true, true
		}
		rows = append(rows, r)
		out.lines = append(out.lines, rowLine{r, entrySubject(u)})
		for k := len(r.effects) - 1; k >= 0; k-- {
			out.lines = append(out.lines, rowLine{r, RowSubject{Effect: &r.effects[k]}})
		}
	}
	fitted := slices.DeleteFunc(rows, func(r row) bool { return r.fold })
	out.cols = fitColumns(l, fitted, countLanes(spots), v.hasVerifications())
	return out
}

func entrySubject(u timelineEntry) RowSubject {
	switch {
	case u.fork != nil:
		return RowSubject{Fork: u.fork}
	case u.abandoned:
		return RowSubject{Abandoned: u.checkpoints}
	case u.more > 0:
		return RowSubject{Forks: u.more}
	case len(u.checkpoints) > 1:
		return RowSubject{Run: u.checkpoints}
	}
	return RowSubject{Checkpoint: &u.checkpoints[0]}
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
		text = l.effectRow(r.cols, at.row, *at.subject.Effect)
	case at.row.fold:
		text = l.drawFoldRow(r.cols, at.row)
	default:
		text = l.drawBriefRow(r.cols, at.row)
	}
	return strings.TrimRight(text, " ")
}

// drawBriefRow is a row in one line. A flag stands where nothing was verified, or before what
// changed; its reason is on the card.
func (l Style) drawBriefRow(c columns, r row) string {
	brief := r
	if c.wide {
		own := r.lastColumn(true)
		room := c.story
		if own != "" {
			room -= termtext.Width(own) + termtext.Width(l.Separator())
		}
		return l.rowLine(c, brief, l.JoinFacts(l.Dim(own), l.drawPoints(r.points, room, r.abandoned)))
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
func (l Style) drawFoldRow(c columns, r row) string {
	room := c.number + 2 + c.when
	rest := c.title + 2 + c.verify + c.files + 2 + c.lead
	if c.wide {
		rest = c.title + 2 + c.verify + c.files + 2 + c.story
	}
	return l.drawGraphRow(r.graphCell, l.Dim(r.node), c.lanes) + l.Dim(termtext.PadLeft(r.number, room)+"  "+l.Glyphs.Cut(r.title, rest))
}

// abandonedRow is the row of checkpoints that were folded because a restore left them.
func (l Style) abandonedRow(u timelineEntry) row {
	newest, oldest := u.checkpoints[0].Number, u.checkpoints[len(u.checkpoints)-1].Number
	r := row{node: l.Glyphs.Dots, quiet: true, fold: true, number: CheckpointNumber(newest)}
	if oldest != newest {
		r.number = CheckpointNumber(oldest) + l.Glyphs.Dash + CheckpointNumber(newest)
	}
	var parts []string
	for i := len(u.checkpoints) - 1; i >= 0; i-- {
		for _, e := range u.checkpoints[i].Effects {
			parts = append(parts, termtext.Escape(e.ID))
		}
	}
	if n := len(parts); n > 4 {
		parts = []string{CountNoun(int64(n), "effect", "effects")}
	}
	if u.more > 0 {
		parts = append(parts, CountNoun(int64(u.more), "fork", "forks"))
	}
	r.title = abandonedText + " by a restore"
	if n := len(parts); n > 0 {
		with := parts[n-1]
		if n > 1 {
			with = strings.Join(parts[:n-1], ", ") + " and " + with
		}
		r.title += ", with " + with
	}
	r.title += fmt.Sprintf("; h shows %s", map[bool]string{true: "it", false: "them"}[oldest == newest])
	return r
}
