package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// Plans and results say what happens inside a file where the plan knows it, and not how
// many bytes it has.
func TestU9_PlansAndResultsTellWhatTheyMean(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	p := undo()
	p.Writes = steps(retake.Edited, "data/shop.db", ".env", "src/auth.ts")
	p.Writes[0].Means, p.Writes[1].Means = "users 500 → 20 rows", "+API_KEY"
	plan, res := cli.RenderPlan(l, p), cli.RenderResult(l, p, retake.RestoreResult{Checkpoint: retake.Checkpoint{ID: "cp_24", Number: 24}}, time.Second)
	for name, text := range map[string]string{"plan": plan, "result": res} {
		got := flat(text)
		if !strings.Contains(got, "data/shop.db users 500 → 20 rows") || !strings.Contains(got, ".env +API_KEY") {
			t.Errorf("the %s does not say what it means:\n%s", name, text)
		}
	}
	if !strings.Contains(flat(plan), "src/auth.ts 1.2 kB → 3.4 kB") {
		t.Errorf("a file without a meaning has no size:\n%s", plan)
	}
}
