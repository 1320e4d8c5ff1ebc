//go:build linux && !portable

package fsx_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func everyPlace(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	for name, make := range map[string]func(*testing.T) place{
		"os":     func(t *testing.T) place { return osPlace(t, fsx.OS(), true) },
		"plain":  func(t *testing.T) place { return osPlace(t, fsx.PlainOS(), true) },
		"memory": memoryPlace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, make(t))
		})
	}
}
