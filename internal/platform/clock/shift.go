//go:build !testing

package clock

import "time"

// shift is how far the clock is off on purpose: only a build for tests has that.
func shift() time.Duration { return 0 }
