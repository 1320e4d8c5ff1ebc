//go:build !testing

package clock

import "time"

// shift is how far the clock is off on purpose: only a build for tests has that.
func shift() time.Duration { return 0 }

// Speed is how many times faster than the times of files the clocks run.
const Speed time.Duration = 1
