package assemble_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// Two installations, as on a host and in a container, protect one directory: the one that is
// displaced says so, and goes on where it was when it is asked to.
func TestTwoInstallations(t *testing.T) {
	root := t.TempDir()
	host, container := openSolo(t, t.TempDir()), openSolo(t, t.TempDir())
	defer host.Close()
	defer container.Close()
	first, err := host.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	second, err := container.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	if len(first.Warnings) != 0 || len(second.Warnings) != 1 || second.Warnings[0].Code != "other-installation" {
		t.Errorf("the first says %v, the second %v", first.Warnings, second.Warnings)
	}
	_, err = host.Locate(t.Context(), root)
	if !retake.IsKind(err, retake.NotFound) || !strings.Contains(err.Error(), "another installation of Retake protects") {
		t.Errorf("the one that was displaced says %v", err)
	}
	_, err = host.Observe(t.Context(), retake.Signal{ID: retake.SignalPrefix + "01890000-0000-7000-8000-000000000000", Kind: retake.SignalPrompt, Agent: "claude-code", Session: "s", Dir: root})
	if err == nil {
		t.Error("an agent is not told that nothing is saved")
	}
	again, err := host.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	if again.Workspace.ID != first.Workspace.ID || again.Checkpoint.Number < 2 {
		t.Errorf("it begins a new history: %s, checkpoint %d", again.Workspace.ID, again.Checkpoint.Number)
	}
}
