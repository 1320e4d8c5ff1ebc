package term

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

// cornerGlyphs are the glyphs with which lines turn.
type cornerGlyphs struct{ across, end, start, up, down, cross string }

func (l Style) cornerGlyphs() cornerGlyphs {
	if l.ASCII {
		return cornerGlyphs{across: "-", end: "/", start: `\`, up: "+", down: "+", cross: "+"}
	}
	return cornerGlyphs{across: "─", end: "╯", start: "╮", up: "┴", down: "┬", cross: "┼"}
}

// paintStroke paints one glyph of a line; replaced lines are dim.
func paintStroke(l Style, s retake.Stroke, sign string) string {
	switch s {
	case retake.StrokeNone:
		return strings.Repeat(" ", l.ShownWidth(sign))
	case retake.StrokeReplaced:
		return l.Dim(sign)
	case retake.StrokeLine:
	}
	return sign
}

// drawGraphRow draws the graph at a row with its node, which is already painted. Each lane
// takes two columns, of which the last is a space.
func drawGraphRow(l Style, s retake.RowPlace, node string, lanes int) string {
	c := l.cornerGlyphs()
	right := s.Lane
	at := [view.MaxLanes]string{}
	for _, k := range s.Joins {
		at[k], right = c.up, max(right, k)
	}
	for _, k := range s.Opens {
		at[k], right = c.down, max(right, k)
	}
	if right > s.Lane {
		at[right] = c.end
		if slices.Contains(s.Opens, right) {
			at[right] = c.start
		}
	}
	var b strings.Builder
	for k := range lanes {
		between := k > s.Lane && k < right
		switch {
		case k == s.Lane:
			b.WriteString(node)
		case at[k] != "":
			b.WriteString(paintStroke(l, s.Joint.At(k), at[k]))
		case between && s.Through.At(k) != retake.StrokeNone:
			b.WriteString(c.cross)
		case between:
			b.WriteString(paintStroke(l, strokeToRight(s, k, right), c.across))
		default:
			b.WriteString(paintStroke(l, s.Through.At(k), l.Glyphs.Bar))
		}
		if k >= s.Lane && k < right {
			b.WriteString(paintStroke(l, strokeToRight(s, k, right), c.across))
		} else {
			b.WriteString(" ")
		}
	}
	return b.String()
}

// strokeToRight returns the stroke from a lane to the right: dim if everything it leads to is
// replaced.
func strokeToRight(s retake.RowPlace, lane, right int) retake.Stroke {
	for k := lane + 1; k <= right; k++ {
		if s.Joint.At(k) == retake.StrokeLine {
			return retake.StrokeLine
		}
	}
	return retake.StrokeReplaced
}

// drawGraphBelow draws the graph between a row and the next. The sign is drawn in the lane of
// the row.
func drawGraphBelow(l Style, s retake.RowPlace, sign string, lanes int) string {
	var b strings.Builder
	for k := range lanes {
		if k == s.Lane && sign != "" {
			b.WriteString(sign)
		} else {
			b.WriteString(paintStroke(l, s.Below.At(k), l.Glyphs.Bar))
		}
		b.WriteString(" ")
	}
	return b.String()
}
