package assemble_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/service"
)

func openExclusive(t *testing.T, mode retake.TrackingMode) *service.Service {
	t.Helper()
	home := t.TempDir()
	set, err := config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
	s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Derivation: derivation, Exclusive: true, Track: track.Options{Mode: mode, TrustUnreadable: true, DrainTime: time.Minute}})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// A change that no tracker can be told of is found by the cross-check, which is loud:
// the status names it, every save warns, and looks at everything from then on.
func TestCrossCheckIsLoud(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openExclusive(t, retake.TrackingInotify)
	area := t.TempDir()
	root := filepath.Join(area, "shop")
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("1"), 0o644))
	res, err := s.Init(ctx, retake.InitRequest{Dir: root})
	must(t, err)
	ws := res.Workspace.ID
	calm(t, s, ws)

	elsewhere := filepath.Join(area, "elsewhere")
	must(t, os.Link(filepath.Join(root, "a"), elsewhere))
	must(t, os.WriteFile(elsewhere, []byte("by another name"), 0o644))
	must(t, os.Remove(elsewhere))

	c, err := s.CrossCheck(ctx, ws)
	must(t, err)
	if d := cmp.Diff([]string{"a"}, c.Missed); d != "" {
		t.Fatalf("missed (-want +got):\n%s", d)
	}
	st, err := s.Status(ctx, ws)
	must(t, err)
	if st.Tracking.Mode != retake.TrackingScan || st.Tracking.Check == nil || len(st.Tracking.Check.Missed) != 1 || st.Now.Edited != 1 {
		t.Errorf("the status is calm: %+v", st.Tracking)
	}
	saved, err := s.Save(ctx, retake.SaveRequest{Workspace: ws})
	must(t, err)
	if len(saved.Warnings) != 1 || saved.Warnings[0].Code != "tracker" {
		t.Errorf("the save is calm: %v", saved.Warnings)
	}
	if saved.Checkpoint.Changed.Edited != 1 {
		t.Errorf("the change is not in it: %+v", saved.Checkpoint.Changed)
	}
}

// calm is a check with nothing to say.
func calm(t *testing.T, s *service.Service, ws retake.WorkspaceID) {
	t.Helper()
	c, err := s.CrossCheck(context.WithoutCancel(t.Context()), ws)
	must(t, err)
	if len(c.Missed) > 0 || c.Files == 0 {
		t.Fatalf("a check of a quiet workspace: %+v", c)
	}
}

// What was told and is not saved yet is no alarm, whatever it is.
func TestCrossCheckKnowsWhatWasTold(t *testing.T) {
	t.Parallel()
	s := openExclusive(t, retake.TrackingInotify)
	root := filepath.Join(t.TempDir(), "shop")
	in := func(name string) string { return filepath.Join(root, name) }
	must(t, os.MkdirAll(in("x/y/deep"), 0o755))
	for _, f := range []string{"a", "x/b", "x/y/c", "x/y/deep/d"} {
		must(t, os.WriteFile(in(f), []byte(f), 0o644))
	}
	res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
	must(t, err)
	for name, change := range map[string]func() error{
		"write":               func() error { return os.WriteFile(in("x/b"), []byte("other"), 0o644) },
		"new directory":       func() error { return os.MkdirAll(in("new/below"), 0o755) },
		"mode of a directory": func() error { return os.Chmod(in("x"), 0o700) },
		"move a directory":    func() error { return os.Rename(in("x/y"), in("moved")) },
		"remove a directory":  func() error { return os.RemoveAll(in("x")) },
		"link":                func() error { return os.Link(in("a"), in("second")) },
		"mode of the root":    func() error { return os.Chmod(root, 0o711) },
	} {
		must(t, change())
		c, err := s.CrossCheck(t.Context(), res.Workspace.ID)
		must(t, err)
		if len(c.Missed) > 0 {
			t.Fatalf("%s: a false alarm: %v", name, c.Missed)
		}
		if _, err := s.Save(t.Context(), retake.SaveRequest{Workspace: res.Workspace.ID}); err != nil {
			t.Fatal(err)
		}
		_ = os.MkdirAll(in("x/y/deep"), 0o755) // for those that come after a removal
		_ = os.WriteFile(in("x/b"), []byte("again"), 0o644)
	}
}
