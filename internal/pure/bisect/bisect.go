// Package bisect finds the checkpoint at which a command begins to fail, with as few runs
// as it can.
//
// It works on numbers and verdicts alone: it runs nothing, and touches no file, no
// store and no clock. Whoever asks runs the command at the point that is named, and
// tells the verdict.
//
//	B1  A border is a point that passes with a point that fails after it, and every
//	    point between the two could not be run.
//	B2  Of several borders that the answers show, it is the one nearest the newest
//	    checkpoint; what nobody asked may hide others.
//	B3  Equal content has one answer: it is asked once, wherever it stands.
//	B4  Without gaps and without content that comes again, 1,000 points take 12 runs.
package bisect

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/retake-dev/retake"
)

// Point is a run of neighbours on the line with equal content.
type Point struct {
	Numbers []int64 // of its checkpoints, oldest first
	Content retake.ContentID
}

// Points makes the points of a line, oldest first. Content that comes again later is a
// point of its own.
func Points(cps []retake.Checkpoint) []Point {
	line := slices.Clone(cps)
	slices.SortStableFunc(line, func(a, b retake.Checkpoint) int { return cmp.Compare(a.Number, b.Number) })
	var out []Point
	for _, cp := range line {
		if n := len(out); n > 0 && out[n-1].Content == cp.Content {
			out[n-1].Numbers = append(out[n-1].Numbers, cp.Number)
			continue
		}
		out = append(out, Point{Numbers: []int64{cp.Number}, Content: cp.Content})
	}
	return out
}

// state is what is known of one content.
type state uint8

const (
	unknown state = iota
	passes
	fails
	skipped // it was tried here and could not be run
)

// Search is one search over the points of a line.
type Search struct {
	points []Point
	known  map[retake.ContentID]state
}

// New begins a search with the answers that are known already. Only passed and failed
// are answers: what could not be run at another time may be tried again.
func New(points []Point, known map[retake.ContentID]retake.Verdict) *Search {
	s := &Search{points: points, known: make(map[retake.ContentID]state, len(known))}
	for content, v := range known {
		if st := stateOf(v); st != skipped {
			s.known[content] = st
		}
	}
	return s
}

func stateOf(v retake.Verdict) state {
	switch v {
	case retake.Passed:
		return passes
	case retake.Failed:
		return fails
	default:
		return skipped
	}
}

// Tell gives the answer of one point. A verdict that is not about the files means that
// the point is passed over.
func (s *Search) Tell(i int, v retake.Verdict) {
	if i >= 0 && i < len(s.points) {
		s.known[s.points[i].Content] = stateOf(v)
	}
}

func (s *Search) at(i int) state { return s.known[s.points[i].Content] }

// none is a point that is not known.
const none = -1

// view is all that the answers of now say.
type view struct {
	top  int   // the newest point that was not passed over
	low  int   // the oldest one below top
	good int   // the newest below top that passes, when top fails
	bad  int   // the oldest after good that fails; without good, the oldest of all
	open []int // what may be asked between good and bad
}

func (s *Search) look() view {
	v := view{top: none, low: none, good: none, bad: none}
	for i := range s.points {
		if s.at(i) == skipped {
			continue
		}
		if v.low == none {
			v.low = i
		}
		v.top = i
	}
	if v.top == none || v.low == v.top {
		v.low = none
	}
	if v.top == none || s.at(v.top) == passes {
		v.good = v.top
		return v
	}
	for i := range v.top {
		if s.at(i) == passes {
			v.good = i
		}
	}
	s.between(&v)
	return v
}

// between finds the first that fails after good, and what is open before it.
func (s *Search) between(v *view) {
	for i := v.good + 1; i <= v.top; i++ {
		switch s.at(i) {
		case fails:
			v.bad = i
			return
		case unknown:
			if i < v.top {
				v.open = append(v.open, i)
			}
		case passes, skipped:
		}
	}
}

// Next names the point to run next; without one the search is done. It begins with the
// newest, then the oldest, then halves what is between; next to a point that could not
// be run come its neighbours, the farthest from the middle last.
func (s *Search) Next() (i int, ok bool) {
	v := s.look()
	switch {
	case v.top == none || s.at(v.top) == passes:
		return none, false
	case s.at(v.top) == unknown:
		return v.top, true
	case v.good == none && v.low != none && s.at(v.low) == unknown:
		return v.low, true
	case v.good == none || len(v.open) == 0:
		return none, false
	}
	return v.open[len(v.open)/2], true
}

// Most is how many runs there are at most from here, when every point can be run and
// no content that comes again leads to a border nearer the newest checkpoint.
func (s *Search) Most() int {
	v := s.look()
	if v.top == none || s.at(v.top) == passes {
		return 0
	}
	runs := 0
	if s.at(v.top) == unknown {
		runs++
	}
	between := len(v.open)
	if v.good == none {
		if v.low == none || s.at(v.low) == fails {
			return runs
		}
		runs++
		between-- // the oldest itself
	}
	return runs + bits.Len(uint(between))
}
