package bisect

import "fmt"

// Result is what a search found. Points are given by index; -1 means none.
type Result struct {
	Good    int    // passes
	Bad     int    // the next one that fails
	Skipped []int  // could not be run
	Why     string // why there is no border, or why it is more than one step; empty otherwise and during the search
}

// Result returns what is known so far. It is final when Next returns no point.
func (s *Search) Result() Result {
	v := s.analyze()
	r := Result{Good: v.good, Bad: v.bad}
	for i := range s.points {
		if s.stateAt(i) == skipped {
			r.Skipped = append(r.Skipped, i)
		}
	}
	if _, more := s.Next(); !more {
		r.Why = s.noBorderReason(v)
	}
	return r
}

// noBorderReason returns the text for Result.Why.
func (s *Search) noBorderReason(v searchView) string {
	newest, first := len(s.points)-1, 0
	switch {
	case len(s.points) == 0:
		return "there is no checkpoint"
	case v.newest == noPoint:
		return "nothing could be run"
	case s.stateAt(v.newest) == passes && v.newest == newest:
		return "it passes at the newest checkpoint"
	case s.stateAt(v.newest) == passes:
		return fmt.Sprintf("it passes at %d, and nothing after it could be run", s.newestNumber(v.newest))
	case v.good == noPoint && s.stateAt(first) == fails:
		return "it fails already at the first"
	case v.good == noPoint:
		return fmt.Sprintf("it fails at %d, and nothing before it could be run", s.points[v.bad].Numbers[0])
	case v.bad-v.good > 1:
		return fmt.Sprintf("between %d and %d nothing could be run", s.newestNumber(v.good), s.points[v.bad].Numbers[0])
	}
	return ""
}

// newestNumber returns the newest checkpoint of a point.
func (s *Search) newestNumber(i int) int64 {
	n := s.points[i].Numbers
	return n[len(n)-1]
}
