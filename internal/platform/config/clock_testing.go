//go:build testing

package config

import (
	"os"

	"github.com/retake-dev/retake/internal/platform/clock"
)

func init() { clock.ShiftFile = os.Getenv("RETAKE_TEST_CLOCK") }
