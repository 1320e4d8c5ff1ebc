package fsx

import "math"

const nanosPerSecond = 1_000_000_000

// unixNanos is a time as we keep it, in nanoseconds: those from 1677 to 2262 fit. A file may
// have another one; then it is the first or the last of these, and not one at random.
func unixNanos(sec, nsec int64) int64 {
	switch {
	case sec > math.MaxInt64/nanosPerSecond-1:
		return math.MaxInt64
	case sec < math.MinInt64/nanosPerSecond+1:
		return math.MinInt64
	}
	return sec*nanosPerSecond + nsec
}
