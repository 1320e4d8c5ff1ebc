// Package seeds_test uses Retake as the people do who asked for it: each file replays one
// description of the work through the real service, on a store on disk.
package seeds_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
)

// house is a workspace under protection, with a clock that the test moves.
type house struct {
	*testing.T
	s     retake.Service
	clock *clock.Manual
	root  string
	ws    retake.WorkspaceID
}

func newHouse(t *testing.T, settings ...string) *house {
	t.Helper()
	h := &house{T: t, clock: clock.NewManual(time.Date(2026, 3, 2, 10, 2, 0, 0, time.UTC)), root: filepath.Join(t.TempDir(), "recall")}
	set, err := config.Load(filepath.Join(t.TempDir(), "config.json"))
	h.must(err)
	for i := 0; i+1 < len(settings); i += 2 {
		h.must(set.Set(settings[i], settings[i+1]))
	}
	c := config.Config{DataDir: filepath.Join(t.TempDir(), "data"), Home: "/nobody", BootID: "this run"}
	h.s, err = assemble.OpenService(t.Context(), c, set, assemble.Options{Exclusive: true, Clock: h.clock})
	h.must(err)
	t.Cleanup(func() { _ = h.s.Close() })
	h.must(os.Mkdir(h.root, 0o755))
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) write(name, text string) {
	h.Helper()
	h.must(os.MkdirAll(filepath.Dir(filepath.Join(h.root, name)), 0o755))
	h.must(os.WriteFile(filepath.Join(h.root, name), []byte(text), 0o644))
}

func (h *house) read(name string) string {
	b, err := os.ReadFile(filepath.Join(h.root, name))
	if err != nil {
		return ""
	}
	return string(b)
}

func (h *house) init() {
	h.Helper()
	res, err := h.s.Init(h.Context(), retake.InitRequest{Dir: h.root})
	h.must(err)
	h.ws = res.Workspace.ID
}

func (h *house) save(intent string) retake.Checkpoint {
	h.Helper()
	res, err := h.s.Save(h.Context(), retake.SaveRequest{Workspace: h.ws, Intent: intent, Trigger: retake.TriggerManual})
	h.must(err)
	return res.Checkpoint
}

func (h *house) log() []retake.Checkpoint {
	h.Helper()
	t, err := h.s.Log(h.Context(), retake.LogQuery{Workspace: h.ws})
	h.must(err)
	return t.Checkpoints
}

// restore goes back as a person does: look at the plan, then confirm what it asks.
func (h *house) restore(ref string) retake.RestoreResult {
	h.Helper()
	req := retake.PlanRequest{Workspace: h.ws, Course: retake.CourseRestore, Ref: ref}
	plan, err := h.s.PlanRestore(h.Context(), req)
	h.must(err)
	var accept []string
	for _, o := range plan.Obstacles {
		accept = append(accept, string(o.Class))
	}
	res, err := h.s.ApplyRestore(h.Context(), retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: accept})
	h.must(err)
	return res
}

// tell gives one event of an agent.
func (h *house) tell(kind retake.SignalKind, turn int, fill func(*retake.Signal)) retake.Reaction {
	h.Helper()
	u, err := uuid.NewV7()
	h.must(err)
	h.clock.Advance(time.Second)
	s := retake.Signal{
		ID: retake.SignalID(retake.SignalPrefix + u.String()), Kind: kind, Time: h.clock.Now(), Agent: "codex", Version: "1.0",
		Session: "s1", Turn: "turn-" + strconv.Itoa(turn), Dir: h.root,
	}
	if fill != nil {
		fill(&s)
	}
	r, err := h.s.Observe(h.Context(), s)
	h.must(err)
	return r
}

// await waits for a checkpoint that comes after the answer.
func (h *house) await(what string, is func(retake.Checkpoint) bool) retake.Checkpoint {
	h.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if all := h.log(); slices.ContainsFunc(all, is) {
			return all[slices.IndexFunc(all, is)]
		}
	}
	h.Fatalf("it never came: %s", what)
	return retake.Checkpoint{}
}
