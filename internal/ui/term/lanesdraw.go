package term

import (
	"slices"
	"strings"
)

// cornerGlyphs are the glyphs with which lines turn.
type cornerGlyphs struct{ across, end, start, up, down, cross string }

func (l Style) cornerGlyphs() cornerGlyphs {
	if l.ASCII {
		return cornerGlyphs{across: "-", end: "/", start: `\`, up: "+", down: "+", cross: "+"}
	}
	return cornerGlyphs{across: "─", end: "╯", start: "╮", up: "┴", down: "┬", cross: "┼"}
}

// paintStroke paints one glyph of a line; abandoned lines are dim.
func (l Style) paintStroke(s laneStroke, sign string) string {
	switch s {
	case nothing:
		return strings.Repeat(" ", l.ShownWidth(sign))
	case leftLine:
		return l.Dim(sign)
	case solid:
	}
	return sign
}

// drawGraphRow draws the graph at a row with its node, which is already painted. Each lane
// takes two columns, of which the last is a space.
func (l Style) drawGraphRow(s graphCell, node string, lanes int) string {
	c := l.cornerGlyphs()
	right := s.lane
	at := [maxLanes]string{}
	for _, k := range s.joins {
		at[k], right = c.up, max(right, k)
	}
	for _, k := range s.opens {
		at[k], right = c.down, max(right, k)
	}
	if right > s.lane {
		at[right] = c.end
		if slices.Contains(s.opens, right) {
			at[right] = c.start
		}
	}
	var b strings.Builder
	for k := range lanes {
		between := k > s.lane && k < right
		switch {
		case k == s.lane:
			b.WriteString(node)
		case at[k] != "":
			b.WriteString(l.paintStroke(s.joint[k], at[k]))
		case between && s.through[k] != nothing:
			b.WriteString(c.cross)
		case between:
			b.WriteString(l.paintStroke(s.strokeToRight(k, right), c.across))
		default:
			b.WriteString(l.paintStroke(s.through[k], l.Glyphs.Bar))
		}
		if k >= s.lane && k < right {
			b.WriteString(l.paintStroke(s.strokeToRight(k, right), c.across))
		} else {
			b.WriteString(" ")
		}
	}
	return b.String()
}

// strokeToRight returns the stroke from a lane to the right: dim if everything it leads to is
// abandoned.
func (s graphCell) strokeToRight(lane, right int) laneStroke {
	for k := lane + 1; k <= right; k++ {
		if s.joint[k] == solid {
			return solid
		}
	}
	return leftLine
}

// drawGraphBelow draws the graph between a row and the next. The sign is drawn in the lane of
// the row.
func (l Style) drawGraphBelow(s graphCell, sign string, lanes int) string {
	var b strings.Builder
	for k := range lanes {
		if k == s.lane && sign != "" {
			b.WriteString(sign)
		} else {
			b.WriteString(l.paintStroke(s.below[k], l.Glyphs.Bar))
		}
		b.WriteString(" ")
	}
	return b.String()
}
