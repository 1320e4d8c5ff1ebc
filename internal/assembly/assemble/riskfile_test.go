package assemble_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
)

// A user's risk.json applies from the next call on. One that is wrong is named by the status and
// changes nothing else. One in the workspace is never read.
func TestRiskFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := config.Config{DataDir: filepath.Join(home, "data"), SettingsFile: filepath.Join(home, "config.json"), Home: "/nobody", BootID: "this run"}
	set, err := config.Load(c.SettingsFile)
	must(t, err)
	root := filepath.Join(home, "shop")
	must(t, os.Mkdir(root, 0o755))
	const rule = `{"programs": [{"programs": ["acme"], "rule": "deploy"}]}`
	must(t, os.WriteFile(filepath.Join(root, "risk.json"), []byte(rule), 0o644))
	s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Derivation: derivation, Exclusive: true, Diag: diag.New(nil, clock.Wall, nil)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	ws := res.Workspace.ID

	countEffects := func(id string) int {
		t.Helper()
		_, err := s.Observe(t.Context(), retake.Signal{
			ID: queue.NewID(), Kind: retake.SignalCall, Time: time.Now(), Agent: "claude-code", Session: "s1", Dir: root,
			Call: &retake.Call{ID: id, Tool: "Bash", Kind: retake.CallShell, Command: "acme " + id},
		})
		must(t, err)
		list, err := s.Effects(t.Context(), ws, "")
		must(t, err)
		return len(list)
	}
	warning := func() string {
		t.Helper()
		st, err := s.Status(t.Context(), ws)
		must(t, err)
		for _, b := range st.Background {
			if b.Name == "read risk.json" && b.Failing {
				return b.Error
			}
		}
		return ""
	}

	if n := countEffects("c1"); n != 0 {
		t.Fatalf("%d effects without a file of the user", n)
	}
	file := c.RiskFile()
	must(t, os.WriteFile(file, []byte(`{"programs": [{"programs": ["acme"], "rule": "nuke"}]}`), 0o600))
	if got := warning(); !strings.Contains(got, file) || !strings.Contains(got, `no rule "nuke"`) {
		t.Errorf("the status says %q", got)
	}
	if n := countEffects("c2"); n != 0 {
		t.Errorf("%d effects by a wrong file", n)
	}
	if _, err := s.Save(t.Context(), retake.SaveRequest{Workspace: ws, Intent: "by hand"}); err != nil {
		t.Errorf("save beside a wrong file: %v", err)
	}
	must(t, os.WriteFile(file, []byte(rule), 0o600))
	if n := countEffects("c3"); n != 1 {
		t.Errorf("%d effects by the file, want 1", n)
	}
	if got := warning(); got != "" {
		t.Errorf("the status still says %q", got)
	}
	must(t, os.Remove(file))
	must(t, os.Mkdir(file, 0o700))
	if got := warning(); !strings.Contains(got, "it is not a file") {
		t.Errorf("of a directory the status says %q", got)
	}
}
