package fsx

import "math"

const nanosPerSecond = 1_000_000_000

// unixNanos converts a file time to nanoseconds, which can express the years 1677 to 2262. A
// time outside is clamped to the nearest one inside, so that it does not wrap around.
func unixNanos(sec, nsec int64) int64 {
	switch {
	case sec > math.MaxInt64/nanosPerSecond-1:
		return math.MaxInt64
	case sec < math.MinInt64/nanosPerSecond+1:
		return math.MinInt64
	}
	return sec*nanosPerSecond + nsec
}
