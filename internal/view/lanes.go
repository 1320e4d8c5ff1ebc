package view

import (
	"slices"

	"github.com/retake-dev/retake"
)

// MaxLanes is how many lanes the graph has at most.
const MaxLanes = 3

// graphRow is one row of a timeline, reduced to what the graph needs.
type graphRow struct {
	parent    int  // the row it grew from, which is further down; len of all: below what is shown; -1: nothing
	adoptedAt int  // the row that took it in, which is further up; -1: none
	fork      bool // it is of a fork, and nobody left it
}

// laneStrokes is what is drawn at one row, by lane.
type laneStrokes [MaxLanes]retake.Stroke

// graphCell is the place of one row while the graph is laid out.
type graphCell struct {
	lane                  int
	replaced, detached    bool
	joins, opens          []int
	through, joint, below laneStrokes
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
	index     int // among all lines
}

func (x *graphLine) stroke() retake.Stroke {
	if x.depth > 0 && !x.fork {
		return retake.StrokeReplaced
	}
	return retake.StrokeLine
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
	lineOfRow []*graphLine // by row
	lanes     []int        // by row
	runs      []laneRun    // of detached lines
}

// laneRun is a part of a detached line: neighboring rows on one lane.
type laneRun struct{ lane, top, bottom int }

// layoutGraph places every row on a lane. The line of tip has the first lane. A replaced
// line or a fork has a lane from its newest row down to its parent and crosses no row on the
// way; if no lane is free for that, it is detached.
func layoutGraph(rows []graphRow, tip int) []graphCell {
	if len(rows) == 0 {
		return nil
	}
	g := &graphLayout{rows: rows, lineOfRow: make([]*graphLine, len(rows)), lanes: make([]int, len(rows))}
	g.addLine(tip)
	for i := range rows {
		if g.lineOfRow[i] == nil {
			g.addLine(i)
		}
	}
	for _, b := range g.bunches() {
		for !b.assignLanes() {
		}
		g.runs = append(g.runs, b.runs...)
	}
	return g.cells()
}

// addLine adds the line that starts at a row, and follows parents until one belongs to another
// line.
func (g *graphLayout) addLine(at int) {
	x := &graphLine{target: -1, adoptedAt: g.rows[at].adoptedAt, fork: g.rows[at].fork, whole: true, index: len(g.lines)}
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

// bunches groups the side lines that share rows, directly or through others. Lines of two
// bunches never meet, so each bunch is laid out by itself and a long timeline costs little.
func (g *graphLayout) bunches() []*laneBunch {
	side := slices.SortedFunc(slices.Values(g.lines[1:]), func(a, b *graphLine) int { return a.top() - b.top() })
	var out []*laneBunch
	end := -1
	for _, x := range side {
		if len(out) == 0 || x.top() > end {
			out = append(out, &laneBunch{g: g, first: x.top()})
		}
		b := out[len(out)-1]
		b.lines = append(b.lines, x)
		end = max(end, x.bottom())
		b.size = min(end, len(g.rows)-1) - b.first + 1
	}
	for _, b := range out {
		b.sortLines()
	}
	return out
}

// cells returns what is drawn at each row.
func (g *graphLayout) cells() []graphCell {
	out := make([]graphCell, len(g.rows))
	for i := range out {
		x := g.lineOfRow[i]
		out[i].lane, out[i].replaced, out[i].detached = g.lanes[i], x.stroke() == retake.StrokeReplaced, !x.whole
	}
	for _, x := range g.lines {
		if x.whole {
			g.drawWholeLine(out, x)
		}
	}
	for _, r := range g.runs {
		for row := r.top; row < r.bottom; row++ {
			out[row].below[r.lane] = g.lineOfRow[row].stroke()
		}
	}
	return out
}

func (g *graphLayout) drawWholeLine(out []graphCell, x *graphLine) {
	for row := x.top(); row < x.bottom(); row++ {
		out[row].below[x.lane] = x.stroke()
		if row > x.top() && g.lineOfRow[row] != x {
			out[row].through[x.lane] = x.stroke()
		}
	}
	if x.parent != nil {
		out[x.target].joins = append(out[x.target].joins, x.lane)
		out[x.target].joint[x.lane] = x.stroke()
	}
	if x.adoptedAt >= 0 {
		out[x.adoptedAt].opens = append(out[x.adoptedAt].opens, x.lane)
		out[x.adoptedAt].joint[x.lane] = retake.StrokeLine
	}
}

// countLanes is how many lanes a layout has.
func countLanes(cells []graphCell) int {
	most := 1
	for _, c := range cells {
		most = max(most, c.lane+1)
		for k, line := range c.below {
			if line != retake.StrokeNone {
				most = max(most, k+1)
			}
		}
	}
	return most
}

// placeMaker turns cells into places. Equal strokes share their memory: a long timeline has
// few different ones.
type placeMaker map[laneStrokes]retake.Strokes

func (m placeMaker) place(c graphCell) retake.RowPlace {
	return retake.RowPlace{
		Lane: c.lane, Replaced: c.replaced, Detached: c.detached, Joins: c.joins, Opens: c.opens,
		Through: m.trim(c.through), Joint: m.trim(c.joint), Below: m.trim(c.below),
	}
}

// trim returns the strokes without the empty lanes at the right.
func (m placeMaker) trim(s laneStrokes) retake.Strokes {
	n := len(s)
	for n > 0 && s[n-1] == retake.StrokeNone {
		n--
	}
	if n == 0 {
		return nil
	}
	if _, ok := m[s]; !ok {
		m[s] = s[:n:n]
	}
	return m[s]
}
