package assemble_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/servicetest"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// The same service on a store in memory: what the suite asks for is not a property
// of the engine.
func TestMemory(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, servicetest.Harness{Copy: copyDir, Open: memories()})
}

// memories opens a service on a store in memory.
func memories() func(t *testing.T, home string) retake.Service {
	var stores sync.Map // home to store, so that reopening finds it
	return func(t *testing.T, home string) retake.Service {
		t.Helper()
		for _, dir := range []string{"index", "returns", "sessions"} {
			must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
		}
		cat, err := sqlite.Open(t.Context(), filepath.Join(home, "catalog.db"), "local", sqlite.Options{})
		must(t, err)
		st, _ := stores.LoadOrStore(home, memorytest.New())
		return service.New(service.Parts{
			Parts: workspace.Parts{
				Catalog:   cat,
				OpenStore: func(context.Context, bool) (store.Store, error) { return st.(*memorytest.Store), nil },
				FS:        fsx.OS(), IndexDir: filepath.Join(home, "index"), DataDir: home,
				SignalDir: filepath.Join(home, "signals"), SessionDir: filepath.Join(home, "sessions"),
				RestoreDir: filepath.Join(home, "returns"), Locks: fsx.NewMemoryLocks(),
				Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
				Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
				MinFree: func(int64) int64 { return 0 },
				Habits: func(retake.WorkspaceID) retake.Habits {
					return retake.Habits{Rescue: retake.RescueLimit{Bytes: 1 << 20, Time: time.Minute}}
				},
			},
			KernelFence: true,
			LocalAgents: true,
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
