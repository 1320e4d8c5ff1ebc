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

// SetVerdict gives the answer of one point. A verdict that is not about the files means that
// the point is passed over.
func (s *Search) SetVerdict(i int, v retake.Verdict) {
	if i >= 0 && i < len(s.points) {
		s.known[s.points[i].Content] = verdictState(v)
	}
}

func (s *Search) stateAt(i int) state { return s.known[s.points[i].Content] }

// none is a point that is not known.
const noPoint = -1

// searchView is all that the answers of now say.
type searchView struct {
	newest   int   // the newest point that was not passed over
	oldest   int   // the oldest one below top
	good     int   // the newest below top that passes, when top fails
	bad      int   // the oldest after good that fails; without good, the oldest of all
	untested []int // what may be asked between good and bad
}

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

// findUntested finds the first that fails after good, and what is open before it.
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

// Next names the point to run next; without one the search is done. It begins with the
// newest, then the oldest, then halves what is between; next to a point that could not
// be run come its neighbours, the farthest from the middle last.
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

// MaxRuns is how many runs there are at most from here, when every point can be run and
// no content that comes again leads to a border nearer the newest checkpoint.
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
