//go:build testing

package config

import (
	"os"

	"github.com/retake-dev/retake/internal/platform/clock"
)

// Tests make clocks jump and machines start anew.
func init() {
	daemonEnvNames = append(daemonEnvNames, "RETAKE_TEST_CLOCK", "RETAKE_TEST_BOOT")
	clock.ShiftFile = os.Getenv("RETAKE_TEST_CLOCK")
	if file := os.Getenv("RETAKE_TEST_BOOT"); file != "" {
		bootFile = file
	}
}
