package term

import (
	"slices"
	"strings"
)

// corners are the signs that lines turn with.
type corners struct{ across, end, start, up, down, cross string }

func (l Look) corners() corners {
	if l.ASCII {
		return corners{across: "-", end: "/", start: `\`, up: "+", down: "+", cross: "+"}
	}
	return corners{across: "─", end: "╯", start: "╮", up: "┴", down: "┬", cross: "┼"}
}

// stroke paints one sign of a line; what was left behind is dim.
func (l Look) stroke(s stroke, sign string) string {
	switch s {
	case nothing:
		return strings.Repeat(" ", l.ShownWidth(sign))
	case leftLine:
		return l.Dim(sign)
	case solid:
	}
	return sign
}

// graphRow draws a row with its node, which is painted already. It takes two columns a
// lane, of which the last is a space.
func (l Look) graphRow(s spot, node string, lanes int) string {
	c := l.corners()
	right := s.lane
	at := [mostLanes]string{}
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
			b.WriteString(l.stroke(s.joint[k], at[k]))
		case between && s.through[k] != nothing:
			b.WriteString(c.cross)
		case between:
			b.WriteString(l.stroke(s.reach(k, right), c.across))
		default:
			b.WriteString(l.stroke(s.through[k], l.Glyphs.Bar))
		}
		if k >= s.lane && k < right {
			b.WriteString(l.stroke(s.reach(k, right), c.across))
		} else {
			b.WriteString(" ")
		}
	}
	return b.String()
}

// reach is the stroke from a lane to the right: dim when all that it leads to was left.
func (s spot) reach(lane, right int) stroke {
	for k := lane + 1; k <= right; k++ {
		if s.joint[k] == solid {
			return solid
		}
	}
	return leftLine
}

// graphBelow draws what lies between a row and the next one. A sign stands in the lane of
// the row, for what belongs to it.
func (l Look) graphBelow(s spot, sign string, lanes int) string {
	var b strings.Builder
	for k := range lanes {
		if k == s.lane && sign != "" {
			b.WriteString(sign)
		} else {
			b.WriteString(l.stroke(s.below[k], l.Glyphs.Bar))
		}
		b.WriteString(" ")
	}
	return b.String()
}
