package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/ui/tui"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Name()+"="+strings.TrimSpace(string(b)))
	}
	return strings.Join(out, " ")
}

// On the real service: go back by keys, undo that by keys, grow a fork by keys.
func TestOnTheRealService(t *testing.T) {
	t.Parallel()
	ctx, dir, data := t.Context(), t.TempDir(), t.TempDir()
	set, err := config.Load(filepath.Join(data, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Set("floor", "1KB"); err != nil {
		t.Fatal(err)
	}
	held := clock.NewManual(termtest.Now)
	s, err := assemble.OpenService(ctx, config.Config{DataDir: filepath.Join(data, "data"), Home: "/nobody", BootID: "this run"}, set, assemble.Options{Clock: held})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, dir, "a.txt", "one")
	write(t, dir, "gone.txt", "here")
	began, err := s.Init(ctx, retake.InitRequest{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.txt", "two")
	write(t, dir, "new.txt", "came")
	if err := os.Remove(filepath.Join(dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(ctx, retake.SaveRequest{Workspace: began.Workspace.ID, Intent: "second", Trigger: retake.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	after := read(t, dir)
	d := tui.NewDesk(ctx, tui.Options{
		Service: s, Workspace: began.Workspace, Clock: held, ProposeForkDir: func() string { return dir + "-fork" }, ResolveDir: func(p string) string { return p },
	}, 80, 24)
	d.Settle()
	has(t, d, "second", "start")
	d.Press("G", "r")
	has(t, d, "Restore 1", "DELETE", "new.txt", "BRING BACK", "gone.txt", "CHANGE", "a.txt")
	d.Press("enter", "n", "enter")
	if d.Parting() != "" {
		t.Fatalf("nothing was done, and %q would stay", d.Parting())
	}
	if got := read(t, dir); got != after {
		t.Fatalf("after no: %s", got)
	}
	d.Press("r", "enter", "y", "enter")
	has(t, d, "Restored 1", "deleted 1")
	if got := read(t, dir); got != "a.txt=one gone.txt=here" {
		t.Fatalf("after the restore: %s", got)
	}
	d.Press("u")
	has(t, d, "Undo 3")
	d.Press("enter", "y", "enter")
	has(t, d, "Undone 3")
	if got := read(t, dir); got != after {
		t.Fatalf("after the undo: %s, want %s", got, after)
	}
	if !strings.Contains(d.Parting(), "Undone 3") {
		t.Fatalf("what stays on the terminal is %q", d.Parting())
	}
	d.Press("enter")
	has(t, d, "undid 3", "restored 1", "│ ○", "second") // one row is not folded
	d.Press("G", "f", "enter")
	has(t, d, "Forked 1")
	if got := read(t, dir+"-fork"); !strings.Contains(got, "a.txt=one gone.txt=here") {
		t.Fatalf("the fork has %s", got)
	}
	d.Press("esc")
	has(t, d, "fork "+filepath.Base(dir)+"-fork")
}
