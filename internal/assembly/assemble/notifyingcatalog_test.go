package assemble_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
)

// ear keeps the types of what it hears.
type ear struct {
	mu  sync.Mutex
	all []retake.EventType // guarded by mu
}

func (e *ear) tell(t retake.EventType, _ time.Time, _ retake.EventData) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, t)
}

func (e *ear) take() []retake.EventType {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.all
	e.all = nil
	return out
}

// What is written is told once, as what it is; what the store held already is no news.
func TestWhatHappensIsTold(t *testing.T) {
	t.Parallel()
	home, ctx := t.TempDir(), t.Context()
	set, err := config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	var e ear
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
	s, err := assemble.OpenService(ctx, c, set, assemble.Options{Derivation: derivation, OnEvent: e.tell})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	root := filepath.Join(home, "shop")
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("1"), 0o644))

	said := func(what string, want ...retake.EventType) {
		t.Helper()
		if d := cmp.Diff(want, e.take()); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	first, err := s.Init(ctx, retake.InitRequest{Dir: root})
	must(t, err)
	said("init", retake.EventCreated)
	ws := first.Workspace.ID
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("2"), 0o644))
	second, err := s.Save(ctx, retake.SaveRequest{Workspace: ws})
	must(t, err)
	said("save", retake.EventCreated)
	_, err = s.Save(ctx, retake.SaveRequest{Workspace: ws, IfChanged: true})
	must(t, err)
	said("a save without a change")
	_, err = s.Attest(ctx, retake.Attestation{Workspace: ws, Ref: "2", Name: "test", Command: "true", Verdict: retake.Passed})
	must(t, err)
	said("attest", retake.EventVerified)
	p, err := s.PlanRestore(ctx, retake.PlanRequest{Workspace: ws, Course: retake.CourseRestore, Ref: "1"})
	must(t, err)
	said("a plan")
	_, err = s.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: ws, Course: retake.CourseRestore, Ref: "1"}, Digest: p.Digest})
	must(t, err)
	said("restore", retake.EventCreated, retake.EventRestored)
	_, err = s.Fork(ctx, retake.ForkRequest{Workspace: ws, Ref: "2", Dir: filepath.Join(home, "fork")})
	must(t, err)
	said("fork", retake.EventCreated, retake.EventForked)
	_, err = s.Forget(ctx, ws, []string{string(second.Checkpoint.ID)})
	must(t, err)
	said("forget", retake.EventExpired)
	_, err = s.Log(ctx, retake.LogQuery{Workspace: ws})
	must(t, err)
	said("looking")
	_, err = s.Rebuild(ctx)
	must(t, err)
	for _, kind := range e.take() { // what was forgotten a moment ago may be told again
		if kind != retake.EventExpired {
			t.Errorf("a rebuild tells %s", kind)
		}
	}
}
