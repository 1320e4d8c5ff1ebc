package term

import (
	"cmp"
	"slices"
)

// mostLanes is how many lines stand beside each other; each takes two columns.
const mostLanes = 3

// twig is one row of a timeline as the graph sees it.
type twig struct {
	parent int  // the row it grew from, which is further down; len of all: below what is shown; -1: nothing
	into   int  // the row that took it in, which is further up; -1: none
	fork   bool // it is of a fork, and nobody left it
}

// stroke is what runs through a lane.
type stroke int

const (
	nothing stroke = iota
	solid
	leftLine // a line that was left behind
)

// spot is where one row stands in the graph.
type spot struct {
	lane    int
	left    bool              // its line was left behind
	loose   bool              // no line is drawn to what it grew from: there was no lane left
	joins   []int             // lanes that end here: what grew from this row
	opens   []int             // lanes that begin here: what was taken in
	through [mostLanes]stroke // what passes by
	joint   [mostLanes]stroke // what ends or begins here
	below   [mostLanes]stroke // what goes on to the next row
}

// strand is a run of rows that grew one from the other, newest first.
type strand struct {
	rows   []int
	target int // the row it grew from; -1: none, or len of all rows: further down
	into   int
	fork   bool
	depth  int // 0 is the one that the files stand on
	parent *strand
	taker  *strand
	whole  bool // it is drawn from its first row to its target
	lane   int
}

func (x *strand) top() int {
	if x.into >= 0 {
		return x.into
	}
	return x.rows[0]
}

// bottom is the last row that the strand touches, or the one behind all rows.
func (x *strand) bottom() int { return max(x.target, x.rows[len(x.rows)-1]) }

// graph is a layout in the making.
type graph struct {
	twigs []twig
	lines []*strand
	of    []*strand            // by row
	lanes []int                // by row
	taken [mostLanes][]*strand // who has a lane at a row
	runs  [mostLanes][][2]int  // of loose strands
}

// layout places every row on one lane. The strand of tip has the first lane. One that was
// left, or a fork, has another one from its newest row down to the one it grew from, and
// crosses no row on the way; one that finds no such lane is loose.
func layout(twigs []twig, tip int) []spot {
	if len(twigs) == 0 {
		return nil
	}
	g := &graph{twigs: twigs, of: make([]*strand, len(twigs)), lanes: make([]int, len(twigs))}
	g.follow(tip)
	for i := range twigs {
		if g.of[i] == nil {
			g.follow(i)
		}
	}
	for !g.place() {
	}
	return g.spots()
}

// follow makes the strand that begins at a row.
func (g *graph) follow(at int) {
	x := &strand{target: -1, into: g.twigs[at].into, fork: g.twigs[at].fork, whole: true}
	g.lines = append(g.lines, x)
	for {
		x.rows = append(x.rows, at)
		g.of[at] = x
		x.target = g.twigs[at].parent
		if x.target < 0 || x.target >= len(g.twigs) || g.of[x.target] != nil {
			break
		}
		at = x.target
	}
	if len(g.lines) == 1 {
		x.into = -1
		return
	}
	x.depth = 1
	if x.target >= 0 && x.target < len(g.twigs) {
		x.parent = g.of[x.target]
		x.depth = x.parent.depth + 1
	}
	if x.into >= 0 {
		if x.taker = g.of[x.into]; x.taker == nil || x.taker == x || x.into >= x.rows[0] {
			x.taker, x.into = nil, -1
		} else {
			x.depth = max(x.depth, x.taker.depth+1)
		}
	}
}

// place gives lanes. When a row finds none because strands pass it on every lane, the
// longest of these gives way and all begins again; with no such strand every row finds one.
func (g *graph) place() bool {
	side := g.lines[1:]
	short := slices.SortedStableFunc(slices.Values(side), func(a, b *strand) int {
		return cmp.Or(a.depth-b.depth, (a.bottom()-a.top())-(b.bottom()-b.top()))
	})
	g.clear()
	for _, x := range short { // short ones are whole before long ones
		x.whole = x.whole && g.wholeLane(x)
	}
	g.straighten()
	for _, x := range short {
		if !x.whole && !g.looseLanes(x) {
			return false
		}
	}
	return true
}

// straighten gives the lanes of whole strands again, the upper ones to the left, if they all
// have room that way.
func (g *graph) straighten() {
	lanes := map[*strand]int{}
	var whole []*strand
	for _, x := range g.lines[1:] {
		if x.whole {
			whole, lanes[x] = append(whole, x), x.lane
		}
	}
	slices.SortStableFunc(whole, func(a, b *strand) int { return cmp.Or(a.depth-b.depth, a.top()-b.top()) })
	g.clear()
	for _, x := range whole {
		if g.wholeLane(x) {
			continue
		}
		g.clear()
		for y, lane := range lanes {
			g.take(y, lane)
		}
		return
	}
}

func (g *graph) clear() {
	for i := range g.taken {
		g.taken[i], g.runs[i] = make([]*strand, len(g.twigs)), nil
	}
	g.take(g.lines[0], 0)
}

// wholeLane finds a lane for all of a strand: to the right of what it grew from and of what
// took it in, so that no strand turns back.
func (g *graph) wholeLane(x *strand) bool {
	first := 1
	for _, other := range []*strand{x.parent, x.taker} {
		if other == nil {
			continue
		}
		if !other.whole {
			return false
		}
		first = max(first, other.lane+1)
	}
	for lane := first; lane < mostLanes; lane++ {
		if g.free(lane, x.top(), x.bottom()) {
			g.take(x, lane)
			return true
		}
	}
	return false
}

func (g *graph) free(lane, top, bottom int) bool {
	for i := top; i <= min(bottom, len(g.twigs)-1); i++ {
		if g.taken[lane][i] != nil {
			return false
		}
	}
	return true
}

func (g *graph) take(x *strand, lane int) {
	x.lane = lane
	for i := x.top(); i <= min(x.bottom(), len(g.twigs)-1); i++ {
		g.taken[lane][i] = x
	}
	for _, row := range x.rows {
		g.lanes[row] = lane
	}
}

// looseLanes gives each run of neighbouring rows a lane of its own.
func (g *graph) looseLanes(x *strand) bool {
	for i := 0; i < len(x.rows); {
		end := i + 1
		for end < len(x.rows) && x.rows[end] == x.rows[end-1]+1 {
			end++
		}
		if !g.looseRun(x, x.rows[i], x.rows[end-1]) {
			return false
		}
		i = end
	}
	return true
}

func (g *graph) looseRun(x *strand, top, bottom int) bool {
	for lane := 1; lane < mostLanes; lane++ {
		if !g.free(lane, top, bottom) {
			continue
		}
		for row := top; row <= bottom; row++ {
			g.taken[lane][row], g.lanes[row] = x, lane
		}
		g.runs[lane] = append(g.runs[lane], [2]int{top, bottom})
		return true
	}
	var longest *strand
	for lane := 1; lane < mostLanes; lane++ {
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

// spots tells each row what is drawn beside it.
func (g *graph) spots() []spot {
	out := make([]spot, len(g.twigs))
	for i := range out {
		x := g.of[i]
		out[i].lane, out[i].left, out[i].loose = g.lanes[i], x.depth > 0 && !x.fork, !x.whole
	}
	for _, x := range g.lines {
		if x.whole {
			g.drawWhole(out, x)
		}
	}
	for lane, runs := range g.runs {
		for _, r := range runs {
			for row := r[0]; row < r[1]; row++ {
				out[row].below[lane] = g.strokeOf(g.of[row])
			}
		}
	}
	return out
}

func (g *graph) strokeOf(x *strand) stroke {
	if x.depth > 0 && !x.fork {
		return leftLine
	}
	return solid
}

func (g *graph) drawWhole(out []spot, x *strand) {
	for row := x.top(); row < x.bottom(); row++ {
		out[row].below[x.lane] = g.strokeOf(x)
		if row > x.top() && g.of[row] != x {
			out[row].through[x.lane] = g.strokeOf(x)
		}
	}
	if x.parent != nil {
		out[x.target].joins = append(out[x.target].joins, x.lane)
		out[x.target].joint[x.lane] = g.strokeOf(x)
	}
	if x.into >= 0 {
		out[x.into].opens = append(out[x.into].opens, x.lane)
		out[x.into].joint[x.lane] = solid
	}
}

// lanesOf is how many lanes a layout has.
func lanesOf(spots []spot) int {
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
