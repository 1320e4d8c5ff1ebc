package view

import (
	"cmp"
	"slices"
)

// laneBunch is the side lines that share rows, while their lanes are assigned.
type laneBunch struct {
	g           *graphLayout
	lines       []*graphLine           // in the order of all lines
	short       []*graphLine           // the same, the shorter ones first
	upper       []*graphLine           // the same, the upper ones first
	first, size int                    // the rows that they touch
	taken       [MaxLanes][]*graphLine // the line that has a lane at a row, from first on
	runs        []laneRun
}

// sortLines sorts the lines once: lanes may be assigned several times.
func (b *laneBunch) sortLines() {
	slices.SortFunc(b.lines, func(x, y *graphLine) int { return x.index - y.index })
	b.short = slices.SortedFunc(slices.Values(b.lines), func(x, y *graphLine) int {
		return cmp.Or(x.depth-y.depth, (x.bottom()-x.top())-(y.bottom()-y.top()), x.index-y.index)
	})
	b.upper = slices.SortedFunc(slices.Values(b.lines), func(x, y *graphLine) int {
		return cmp.Or(x.depth-y.depth, x.top()-y.top(), x.index-y.index)
	})
}

// assignLanes assigns all lanes. If a row finds none, because lines pass it on every lane, the
// longest of these is detached and it returns false: the caller must try again. Without such
// lines every row finds a lane, so this ends.
func (b *laneBunch) assignLanes() bool {
	b.clear()
	for _, x := range b.short { // short ones are whole before long ones
		x.whole = x.whole && b.assignWholeLane(x)
	}
	b.compactLanes()
	for _, x := range b.short {
		if !x.whole && !b.assignDetachedLanes(x) {
			return false
		}
	}
	return true
}

// compactLanes assigns the lanes of whole lines again, the upper ones to the left, if all of
// them fit that way.
func (b *laneBunch) compactLanes() {
	var whole []*graphLine
	var lanes []int
	for _, x := range b.lines {
		if x.whole {
			whole, lanes = append(whole, x), append(lanes, x.lane)
		}
	}
	b.clear()
	for _, x := range b.upper {
		if !x.whole || b.assignWholeLane(x) {
			continue
		}
		b.clear()
		for i, y := range whole {
			b.occupyLane(y, lanes[i])
		}
		return
	}
}

func (b *laneBunch) clear() {
	for lane := 1; lane < MaxLanes; lane++ {
		if b.taken[lane] == nil {
			b.taken[lane] = make([]*graphLine, b.size)
		}
		clear(b.taken[lane])
	}
	b.runs = nil
}

// assignWholeLane finds a lane for an entire line, to the right of its parent and of the line
// that adopted it, so that no line turns back.
func (b *laneBunch) assignWholeLane(x *graphLine) bool {
	first := 1
	for _, other := range []*graphLine{x.parent, x.adopter} {
		if other == nil {
			continue
		}
		if !other.whole {
			return false
		}
		first = max(first, other.lane+1)
	}
	for lane := first; lane < MaxLanes; lane++ {
		if b.isLaneFree(lane, x.top(), x.bottom()) {
			b.occupyLane(x, lane)
			return true
		}
	}
	return false
}

// rowsAt are the lines on a lane from one row to another.
func (b *laneBunch) rowsAt(lane, top, bottom int) []*graphLine {
	return b.taken[lane][top-b.first : min(bottom-b.first+1, b.size)]
}

func (b *laneBunch) isLaneFree(lane, top, bottom int) bool {
	return !slices.ContainsFunc(b.rowsAt(lane, top, bottom), func(x *graphLine) bool { return x != nil })
}

func (b *laneBunch) occupyLane(x *graphLine, lane int) {
	x.lane = lane
	rows := b.rowsAt(lane, x.top(), x.bottom())
	for i := range rows {
		rows[i] = x
	}
	for _, row := range x.rows {
		b.g.lanes[row] = lane
	}
}

// assignDetachedLanes gives each run of neighboring rows a lane of its own.
func (b *laneBunch) assignDetachedLanes(x *graphLine) bool {
	for i := 0; i < len(x.rows); {
		end := i + 1
		for end < len(x.rows) && x.rows[end] == x.rows[end-1]+1 {
			end++
		}
		if !b.assignDetachedRun(x, x.rows[i], x.rows[end-1]) {
			return false
		}
		i = end
	}
	return true
}

func (b *laneBunch) assignDetachedRun(x *graphLine, top, bottom int) bool {
	for lane := 1; lane < MaxLanes; lane++ {
		if !b.isLaneFree(lane, top, bottom) {
			continue
		}
		rows := b.rowsAt(lane, top, bottom)
		for i := range rows {
			rows[i], b.g.lanes[top+i] = x, lane
		}
		b.runs = append(b.runs, laneRun{lane, top, bottom})
		return true
	}
	var longest *graphLine
	for lane := 1; lane < MaxLanes; lane++ {
		for _, y := range b.rowsAt(lane, top, bottom) {
			if y != nil && y.whole && (longest == nil || y.bottom()-y.top() > longest.bottom()-longest.top()) {
				longest = y
			}
		}
	}
	longest.whole = false // only whole lines pass rows that are not theirs
	return false
}
