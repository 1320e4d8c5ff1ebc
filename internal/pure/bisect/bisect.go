// Package bisect finds the checkpoint at which a command begins to fail, with as few runs
// as possible.
//
// It works on numbers and verdicts only: it runs nothing, and touches no file, no
// store and no clock. The caller runs the command at the point that Next returns, and
// reports the verdict.
//
//	B1  A border is a point that passes and a point after it that fails, where no
//	    point between the two could be run.
//	B2  Of several borders that the verdicts show, the result is the one nearest the newest
//	    checkpoint; points that were not run may hide others.
//	B3  Equal content has one verdict: it is run once, wherever it occurs.
//	B4  Without gaps and without content that comes again, 1,000 points take 12 runs.
package bisect

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/retake-dev/retake"
)

// Point is a sequence of consecutive checkpoints with equal content.
type Point struct {
	Numbers []int64 // of its checkpoints, oldest first
	Content retake.ContentID
}

// Points returns the points of a line of checkpoints, oldest first. Content that recurs later
// is a separate point.
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

// state is what is known about a content.
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

// New begins a search with known verdicts. Only passed and failed are used: what could not be
// run at another time may be tried again.
func New(points []Point, known map[retake.ContentID]retake.Verdict) *Search {
	s := &Search{points: points, known: make(map[retake.ContentID]state, len(known))}
	for content, v := range known {
		if st := verdictState(v); st != skipped {
			s.known[content] = st
		}
	}
	return s
}

func verdictState(v retake.Verdict) state {
	switch v {
	case retake.Passed:
		return passes
	case retake.Failed:
		return fails
	default:
		return skipped
	}
}

// SetVerdict records the verdict of a point. A verdict other than passed or failed means that
// the point is skipped.
func (s *Search) SetVerdict(i int, v retake.Verdict) {
	if i >= 0 && i < len(s.points) {
		s.known[s.points[i].Content] = verdictState(v)
	}
}

func (s *Search) stateAt(i int) state { return s.known[s.points[i].Content] }

// noPoint is the index of a point that is not known.
const noPoint = -1

// searchView is what follows from the verdicts so far.
type searchView struct {
	newest   int   // the newest point that was not skipped
	oldest   int   // the oldest one before newest
	good     int   // the newest one that passes
	bad      int   // the oldest after good that fails; without good, the oldest of all that fails
	untested []int // the points between good and bad without a verdict
}

// analyze computes the view from the verdicts so far.
func (s *Search) analyze() searchView {
	v := searchView{newest: noPoint, oldest: noPoint, good: noPoint, bad: noPoint}
	for i := range s.points {
		if s.stateAt(i) == skipped {
			continue
		}
		if v.oldest == noPoint {
			v.oldest = i
		}
		v.newest = i
	}
	if v.newest == noPoint || v.oldest == v.newest {
		v.oldest = noPoint
	}
	if v.newest == noPoint || s.stateAt(v.newest) == passes {
		v.good = v.newest
		return v
	}
	for i := range v.newest {
		if s.stateAt(i) == passes {
			v.good = i
		}
	}
	s.findUntested(&v)
	return v
}

// findUntested finds the first point that fails after good, and the points before it that have
// no verdict.
func (s *Search) findUntested(v *searchView) {
	for i := v.good + 1; i <= v.newest; i++ {
		switch s.stateAt(i) {
		case fails:
			v.bad = i
			return
		case unknown:
			if i < v.newest {
				v.untested = append(v.untested, i)
			}
		case passes, skipped:
		}
	}
}

// Next returns the point to run next, and false if the search is done. It begins with the
// newest, then the oldest, then halves the range between; points that cannot be run are
// replaced by their neighbours.
func (s *Search) Next() (i int, ok bool) {
	v := s.analyze()
	switch {
	case v.newest == noPoint || s.stateAt(v.newest) == passes:
		return noPoint, false
	case s.stateAt(v.newest) == unknown:
		return v.newest, true
	case v.good == noPoint && v.oldest != noPoint && s.stateAt(v.oldest) == unknown:
		return v.oldest, true
	case v.good == noPoint || len(v.untested) == 0:
		return noPoint, false
	}
	return v.untested[len(v.untested)/2], true
}

// MaxRuns returns the largest number of runs from here, if every point can be run and
// recurring content does not reveal a border nearer the newest checkpoint.
func (s *Search) MaxRuns() int {
	v := s.analyze()
	if v.newest == noPoint || s.stateAt(v.newest) == passes {
		return 0
	}
	runs := 0
	if s.stateAt(v.newest) == unknown {
		runs++
	}
	between := len(v.untested)
	if v.good == noPoint {
		if v.oldest == noPoint || s.stateAt(v.oldest) == fails {
			return runs
		}
		runs++
		between-- // the oldest itself
	}
	return runs + bits.Len(uint(between))
}
