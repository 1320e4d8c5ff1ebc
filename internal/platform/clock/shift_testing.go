//go:build testing

package clock

import (
	"os"
	"strings"
	"time"
)

// ShiftFile names a file with a duration, such as "-72h". A test writes it to make the clocks of
// running programs jump.
var ShiftFile string

// Speed is how many times faster than the times of files the clocks run, because a test moves
// them on.
var Speed time.Duration = 1

func shift() time.Duration {
	if ShiftFile == "" {
		return 0
	}
	b, err := os.ReadFile(ShiftFile)
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(b)))
	if err != nil {
		return 0 // it is being written
	}
	return d
}
