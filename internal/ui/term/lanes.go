package term

import (
	"cmp"
	"slices"
)

// maxLanes is how many lanes the graph has at most; each takes two columns.
const maxLanes = 3

// graphRow is one row of a timeline, reduced to what the graph needs.
type graphRow struct {
	parent    int  // the row it grew from, which is further down; len of all: below what is shown; -1: nothing
	adoptedAt int  // the row that took it in, which is further up; -1: none
	fork      bool // it is of a fork, and nobody left it
}

// laneStroke is what is drawn in a lane at one row.
type laneStroke int

const (
	nothing laneStroke = iota
	solid
	leftLine // a line that was left behind
)

// graphCell is the place of one row in the graph, with all that is drawn beside it.
type graphCell struct {
	lane      int
	abandoned bool                 // its line was left behind
	detached  bool                 // no line is drawn to what it grew from: there was no lane left
	joins     []int                // lanes that end here: what grew from this row
	opens     []int                // lanes that begin here: what was taken in
	through   [maxLanes]laneStroke // what passes by
	joint     [maxLanes]laneStroke // what ends or begins here
	below     [maxLanes]laneStroke // what goes on to the next row
}

// graphLine is a run of rows, newest first, of which each is the parent of the one before.
type graphLine struct {
	rows      []int
	target    int // the row it grew from; -1: none, or len of all rows: further down
	adoptedAt int
	fork      bool
	depth     int // 0 is the one that the files stand on
	parent    *graphLine
	adopter   *graphLine
	whole     bool // it is drawn from its first row to its target
	lane      int
}

// top returns the first row that the line touches.
func (x *graphLine) top() int {
	if x.adoptedAt >= 0 {
		return x.adoptedAt
	}
	return x.rows[0]
}

// bottom returns the last row that the line touches, or the number of rows if it goes on below
// them.
func (x *graphLine) bottom() int { return max(x.target, x.rows[len(x.rows)-1]) }

// graphLayout is the state while lanes are assigned.
type graphLayout struct {
	rows      []graphRow
	lines     []*graphLine
	lineOfRow []*graphLine           // by row
	lanes     []int                  // by row
	taken     [maxLanes][]*graphLine // the line that has a lane at a row
	runs      [maxLanes][][2]int     // of detached lines
}

// layoutGraph places every row on a lane. The line of tip has the first lane. An abandoned
// line or a fork has a lane from its newest row down to its parent and crosses no row on the
// way; if no lane is free for that, it is detached.
func layoutGraph(twigs []graphRow, tip int) []graphCell {
	if len(twigs) == 0 {
		return nil
	}
	g := &graphLayout{rows: twigs, lineOfRow: make([]*graphLine, len(twigs)), lanes: make([]int, len(twigs))}
	g.addLine(tip)
	for i := range twigs {
		if g.lineOfRow[i] == nil {
			g.addLine(i)
		}
	}
	for !g.assignLanes() {
	}
	return g.cells()
}

// addLine adds the line that starts at a row, and follows parents until one belongs to another
// line.
func (g *graphLayout) addLine(at int) {
	x := &graphLine{target: -1, adoptedAt: g.rows[at].adoptedAt, fork: g.rows[at].fork, whole: true}
	g.lines = append(g.lines, x)
	for {
		x.rows = append(x.rows, at)
		g.lineOfRow[at] = x
		x.target = g.rows[at].parent
		if x.target < 0 || x.target >= len(g.rows) || g.lineOfRow[x.target] != nil {
			break
		}
		at = x.target
	}
	if len(g.lines) == 1 {
		x.adoptedAt = -1
		return
	}
	x.depth = 1
	if x.target >= 0 && x.target < len(g.rows) {
		x.parent = g.lineOfRow[x.target]
		x.depth = x.parent.depth + 1
	}
	if x.adoptedAt >= 0 {
		if x.adopter = g.lineOfRow[x.adoptedAt]; x.adopter == nil || x.adopter == x || x.adoptedAt >= x.rows[0] {
			x.adopter, x.adoptedAt = nil, -1
		} else {
			x.depth = max(x.depth, x.adopter.depth+1)
		}
	}
}

// assignLanes assigns all lanes. If a row finds none, because lines pass it on every lane, the
// longest of these is detached and it returns false: the caller must try again. Without such
// lines every row finds a lane, so this ends.
func (g *graphLayout) assignLanes() bool {
	side := g.lines[1:]
	short := slices.SortedStableFunc(slices.Values(side), func(a, b *graphLine) int {
		return cmp.Or(a.depth-b.depth, (a.bottom()-a.top())-(b.bottom()-b.top()))
	})
	g.clearLanes()
	for _, x := range short { // short ones are whole before long ones
		x.whole = x.whole && g.assignWholeLane(x)
	}
	g.compactLanes()
	for _, x := range short {
		if !x.whole && !g.assignDetachedLanes(x) {
			return false
		}
	}
	return true
}

// compactLanes assigns the lanes of whole lines again, the upper ones to the left, if all of
// them fit that way.
func (g *graphLayout) compactLanes() {
	lanes := map[*graphLine]int{}
	var whole []*graphLine
	for _, x := range g.lines[1:] {
		if x.whole {
			whole, lanes[x] = append(whole, x), x.lane
		}
	}
	slices.SortStableFunc(whole, func(a, b *graphLine) int { return cmp.Or(a.depth-b.depth, a.top()-b.top()) })
	g.clearLanes()
	for _, x := range whole {
		if g.assignWholeLane(x) {
			continue
		}
		g.clearLanes()
		for y, lane := range lanes {
			g.occupyLane(y, lane)
		}
		return
	}
}

func (g *graphLayout) clearLanes() {
	for i := range g.taken {
		g.taken[i], g.runs[i] = make([]*graphLine, len(g.rows)), nil
	}
	g.occupyLane(g.lines[0], 0)
}

// assignWholeLane finds a lane for an entire line, to the right of its parent and of the line
// that adopted it, so that no line turns back.
func (g *graphLayout) assignWholeLane(x *graphLine) bool {
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
	for lane := first; lane < maxLanes; lane++ {
		if g.isLaneFree(lane, x.top(), x.bottom()) {
			g.occupyLane(x, lane)
			return true
		}
	}
	return false
}

func (g *graphLayout) isLaneFree(lane, top, bottom int) bool {
	for i := top; i <= min(bottom, len(g.rows)-1); i++ {
		if g.taken[lane][i] != nil {
			return false
		}
	}
	return true
}

func (g *graphLayout) occupyLane(x *graphLine, lane int) {
	x.lane = lane
	for i := x.top(); i <= min(x.bottom(), len(g.rows)-1); i++ {
		g.taken[lane][i] = x
	}
	for _, row := range x.rows {
		g.lanes[row] = lane
	}
}

// assignDetachedLanes gives each run of neighboring rows a lane of its own.
func (g *graphLayout) assignDetachedLanes(x *graphLine) bool {
	for i := 0; i < len(x.rows); {
		end := i + 1
		for end < len(x.rows) && x.rows[end] == x.rows[end-1]+1 {
			end++
		}
		if !g.assignDetachedRun(x, x.rows[i], x.rows[end-1]) {
			return false
		}
		i = end
	}
	return true
}

func (g *graphLayout) assignDetachedRun(x *graphLine, top, bottom int) bool {
	for lane := 1; lane < maxLanes; lane++ {
		if !g.isLaneFree(lane, top, bottom) {
			continue
		}
		for row := top; row <= bottom; row++ {
			g.taken[lane][row], g.lanes[row] = x, lane
		}
		g.runs[lane] = append(g.runs[lane], [2]int{top, bottom})
		return true
	}
	var longest *graphLine
	for lane := 1; lane < maxLanes; lane++ {
		for row := top; row <= bottom; row++ {
			y := g.taken[lane][row]
			if y != nil && y.whole && (longest == nil || y.bottom()-y.top() > longest.bottom()-longest.top()) {
				longest = y
			}
		}
	}
	longest.whole = false
	return false
}

// cells returns what is drawn at each row.
func (g *graphLayout) cells() []graphCell {
	out := make([]graphCell, len(g.rows))
	for i := range out {
		x := g.lineOfRow[i]
		out[i].lane, out[i].abandoned, out[i].detached = g.lanes[i], x.depth > 0 && !x.fork, !x.whole
	}
	for _, x := range g.lines {
		if x.whole {
			g.drawWholeLine(out, x)
		}
	}
	for lane, runs := range g.runs {
		for _, r := range runs {
			for row := r[0]; row < r[1]; row++ {
				out[row].below[lane] = g.strokeOf(g.lineOfRow[row])
			}
		}
	}
	return out
}

func (g *graphLayout) strokeOf(x *graphLine) laneStroke {
	if x.depth > 0 && !x.fork {
		return leftLine
	}
	return solid
}

func (g *graphLayout) drawWholeLine(out []graphCell, x *graphLine) {
	for row := x.top(); row < x.bottom(); row++ {
		out[row].below[x.lane] = g.strokeOf(x)
		if row > x.top() && g.lineOfRow[row] != x {
			out[row].through[x.lane] = g.strokeOf(x)
		}
	}
	if x.parent != nil {
		out[x.target].joins = append(out[x.target].joins, x.lane)
		out[x.target].joint[x.lane] = g.strokeOf(x)
	}
	if x.adoptedAt >= 0 {
		out[x.adoptedAt].opens = append(out[x.adoptedAt].opens, x.lane)
		out[x.adoptedAt].joint[x.lane] = solid
	}
}

// countLanes is how many lanes a layout has.
func countLanes(spots []graphCell) int {
	most := 1
	for _, s := range spots {
		most = max(most, s.lane+1)
		for k, line := range s.below {
			if line != nothing {
				most = max(most, k+1)
			}
		}
	}
	return most
}
