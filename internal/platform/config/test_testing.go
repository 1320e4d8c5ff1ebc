//go:build testing

package config

import (
	"os"
	"strconv"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
)

// Tests make clocks jump and run fast, and machines start anew.
func init() {
	daemonEnvNames = append(daemonEnvNames, "RETAKE_TEST_CLOCK", "RETAKE_TEST_SPEED", "RETAKE_TEST_BOOT")
	clock.ShiftFile = os.Getenv("RETAKE_TEST_CLOCK")
	if n, err := strconv.Atoi(os.Getenv("RETAKE_TEST_SPEED")); err == nil && n > 0 {
		clock.Speed = time.Duration(n)
	}
	if file := os.Getenv("RETAKE_TEST_BOOT"); file != "" {
		bootFile = file
	}
}
