package maintenance

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// markCatalog has one text for every mark, and no workspaces.
type markCatalog struct {
	catalog.Catalog
	text *string
}

func (c markCatalog) Mark(context.Context, string) (string, error) { return *c.text, nil }

func (c markCatalog) SetMark(_ context.Context, _, text string) error {
	*c.text = text
	return nil
}

func (c markCatalog) Workspaces(context.Context) ([]retake.WorkspaceState, error) { return nil, nil }

func withMark(text *string) *Maintenance {
	return &Maintenance{workspaces: &workspace.Registry{Parts: workspace.Parts{Catalog: markCatalog{text: text}}}}
}

// The cleanup state decides how soon a sweep runs. One that cannot be read is the state of a new
// store, and one that can is the same after it was written.
func FuzzCleanupState(f *testing.F) {
	f.Add(`{"debt":1000000,"numbers":14,"forgotten":3,"yield":0.5,"clock":{"confirmed":"2026-03-02T12:00:00Z"}}`)
	f.Add(`{"debt":-1,"yield":1e308}`)
	f.Add(`{"debt":7,"numbers":"x"}`)
	f.Add(`{`)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		stored := text
		n, err := withMark(&stored).loadCleanupState(t.Context())
		if err != nil || stored != text {
			t.Fatalf("loading: %v, %q", err, stored)
		}
		if json.Unmarshal([]byte(text), new(cleanupState)) != nil && n != (cleanupState{}) {
			t.Fatalf("half of the state was read: %+v", n)
		}
		if _, _, err := withMark(&stored).estimateGarbage(t.Context()); err != nil {
			t.Fatal(err)
		}
		withMark(&stored).updateCleanupState(t.Context(), func(*cleanupState) {})
		first := stored
		withMark(&stored).updateCleanupState(t.Context(), func(*cleanupState) {})
		if stored != first {
			t.Fatalf("changes with every pass:\n%s\n%s", first, stored)
		}
	})
}

// What a sweep gave corrects the estimate, and stays between the bounds, whatever was measured.
func FuzzLearnYield(f *testing.F) {
	f.Add(int64(1<<30), int64(1<<29), 0.5)
	f.Add(int64(1<<20), int64(-1), 0.1)
	f.Fuzz(func(t *testing.T, debt, gave int64, yield float64) {
		if !(yield >= minYield && yield <= 1) {
			return
		}
		n := cleanupState{Yield: yield}
		n.learnYield(debt, gave)
		if !(n.Yield >= minYield && n.Yield <= 1) {
			t.Fatalf("after %d of %d the yield is %v", gave, debt, n.Yield)
		}
	})
}

// Marks of drills and of damage are read as they were written, or there is none.
func FuzzDrillAndDamageMarks(f *testing.F) {
	f.Add(`{"at":"2026-03-02T12:00:00Z","checkpoint":{"number":3}}`)
	f.Add(`[{"workspace":"ws_1","number":3,"path":"a","path_raw":"/w=="},{"number":1},{"number":3}]`)
	f.Add(`{"at":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := withMark(&text)
		drill := s.LastDrill(t.Context(), "ws_1")
		if drill != nil && json.Unmarshal([]byte(text), new(retake.Drill)) != nil {
			t.Fatalf("half of a drill was read: %+v", drill)
		}
		paths := workspace.DamagedPaths(t.Context(), s.workspaces.Catalog, "ws_1")
		state := DamageState(t.Context(), s.workspaces, "ws_1")
		if (state == nil) != (len(paths) == 0) {
			t.Fatalf("%d damaged paths, and %+v", len(paths), state)
		}
		if state == nil {
			return
		}
		for i, n := range state.Checkpoints {
			if i > 0 && n <= state.Checkpoints[i-1] {
				t.Fatalf("checkpoints out of order: %v", state.Checkpoints)
			}
		}
	})
}
