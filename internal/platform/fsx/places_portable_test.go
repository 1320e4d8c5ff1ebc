//go:build unix && (!linux || portable)

package fsx_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func onEveryFS(t *testing.T, test func(t *testing.T, p testFS)) {
	t.Helper()
	for name, make := range map[string]func(*testing.T) testFS{
		"os":     func(t *testing.T) testFS { return osTestFS(t, fsx.OS(), false) },
		"memory": memoryTestFS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, make(t))
		})
	}
}
