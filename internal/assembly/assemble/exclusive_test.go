package assemble_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/service/servicetest"
)

// The service as the daemon has it: alone, with what it knows in memory, and told of
// changes by each tracker in turn.
func TestSole(t *testing.T) {
	t.Parallel()
	for _, mode := range []retake.TrackingMode{"", retake.TrackingInotify} {
		t.Run("tracker "+string(mode), func(t *testing.T) {
			t.Parallel()
			servicetest.Run(t, servicetest.Harness{Copy: copyDir, Again: true, Open: func(t *testing.T, home string) retake.Service {
				c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
				set, err := config.Load(filepath.Join(home, "config.json"))
				must(t, err)
				s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Derivation: derivation, Exclusive: true, Track: track.Options{Mode: mode, TrustUnreadable: true, DrainTime: time.Minute}})
				must(t, err)
				return s
			}})
		})
	}
}
