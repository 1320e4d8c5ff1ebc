package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	deletedWord  = "deleted"
	replacedText = "replaced"
)

// row is one row of a timeline as it is drawn: its texts are escaped.
type row struct {
	RowText

	place   retake.RowPlace
	node    string
	newest  bool
	good    bool
	quiet   bool // no checkpoint, or one that nobody looks for
	fold    bool // checkpoints that a restore left behind
	when    string
	said    bool
	asked   bool // a verification could speak of it
	badges  []Badge
	lead    string
	flags   []flag
	points  []retake.Point // what really changed, in order
	heavy   bool           // the points matter more than the title tells
	effects []retake.Effect
}

// RowText is what a row says, without what depends on the time of day and the room.
type RowText struct {
	number, who, title, files, pins string
}

// flag is a word that a user must not miss, and the reason for it.
type flag struct {
	word  string
	color func(string) string
	why   string
}

// rowText returns the texts of a row.
func rowText(l Style, r *retake.TimelineRow) RowText {
	t := RowText{number: numberText(l, r), who: termtext.Escape(r.Who), title: l.EscapeText(r.Title), files: filesText(l, r)}
	if len(r.Pins) > 0 {
		t.pins = "pin " + termtext.Escape(strings.Join(r.Pins, ", "))
	}
	return t
}

// numberText is the number of a checkpoint, or the numbers that a fold stands for.
func numberText(l Style, r *retake.TimelineRow) string {
	switch {
	case r.Kind == retake.RowCheckpoint, r.First == r.Number && r.First > 0:
		return CheckpointNumber(r.Number)
	case r.First > 0:
		return CheckpointNumber(r.First) + l.Glyphs.Dash + CheckpointNumber(r.Number)
	}
	return ""
}

// filesText counts the files that changed. What always counts them has a dash where there are none.
func filesText(l Style, r *retake.TimelineRow) string {
	switch {
	case r.Files > 0:
		return termtext.Count(r.Files)
	case r.Kind == retake.RowCheckpoint, r.Kind == retake.RowFork, r.Kind == retake.RowNow:
		return l.Glyphs.Dash
	}
	return ""
}

// timelineRow is a row as it is drawn.
func timelineRow(l Style, v *retake.TimelineRow) row {
	r := row{
		RowText: rowText(l, v), place: v.Place, node: l.Glyphs.Dots, newest: v.Newest, good: v.Good, fold: v.Kind == retake.RowReplaced,
		said: v.Written, lead: l.EscapeText(v.Lead), flags: paintFlags(l, v.Flags), points: v.Points, heavy: v.Heavy,
	}
	if !v.Time.IsZero() {
		r.when = l.ShortTime(v.Time)
	}
	switch v.Kind {
	case retake.RowCheckpoint, retake.RowFork:
		r.node, r.asked, r.badges = nodeGlyph(l, v), true, l.Badges(v.Answers)
		if v.Checkpoint != nil {
			r.effects = v.Checkpoint.Effects
		}
		return r
	case retake.RowNow:
		r.when = "now"
	case retake.RowQuiet:
		r.title += ", until " + l.ShortTime(v.Until)
	case retake.RowReplaced:
		r.when = ""
		r.title += fmt.Sprintf("; h shows %s", map[bool]string{true: "it", false: "them"}[v.First == v.Number])
	case retake.RowMore:
	}
	r.quiet = true
	return r
}

func nodeGlyph(l Style, v *retake.TimelineRow) string {
	switch c := v.Checkpoint; {
	case v.Newest:
		return l.Glyphs.Point
	case c != nil && (c.Trigger == retake.TriggerSafety || c.Trigger == retake.TriggerRisk):
		return l.Glyphs.Diamond
	}
	return l.Glyphs.Ring
}

// paintFlags gives each flag the color of its tone.
func paintFlags(l Style, flags []retake.RowFlag) []flag {
	var out []flag
	for _, f := range flags {
		color := l.Cyan
		switch f.Tone {
		case retake.ToneMismatch:
			color = l.magenta
		case retake.ToneWarning:
			color = l.Yellow
		case retake.ToneNote:
		}
		out = append(out, flag{l.EscapeText(f.Word), color, l.EscapeText(f.Why)})
	}
	return out
}
