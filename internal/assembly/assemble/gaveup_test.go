package assemble_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
)

// A daemon that was stopped reads a prompt whose hook gave up meanwhile and put it into the
// spool. The agent went on, so that there is nothing before its turn to save any more: one
// checkpoint, of the turn. A prompt whose hook still waits has its own.
func TestA1_PromptOfAHookThatGaveUp(t *testing.T) {
	t.Parallel()
	for _, gaveUp := range []bool{false, true} {
		home := t.TempDir()
		set, err := config.Load(filepath.Join(home, "config.json"))
		must(t, err)
		c := config.Config{Data: filepath.Join(home, "data"), Home: "/nobody", Boot: "this run"}
		s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Derivation: derivation, Exclusive: true})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		root := filepath.Join(home, "shop")
		must(t, os.Mkdir(root, 0o755))
		res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
		must(t, err)

		must(t, os.WriteFile(filepath.Join(root, "two.txt"), []byte("2"), 0o644))
		sig := retake.Signal{ID: queue.NewID(), Kind: retake.SignalPrompt, Time: time.Now(), Agent: "claude-code", Session: "s1", Dir: root, Prompt: "two"}
		if gaveUp {
			must(t, queue.Put(config.SignalsDir(c.Data), sig))
		}
		_, err = s.Observe(t.Context(), sig)
		must(t, err)
		_, err = s.Observe(t.Context(), retake.Signal{ID: queue.NewID(), Kind: retake.SignalTurnEnd, Time: time.Now(), Agent: "claude-code", Session: "s1", Dir: root})
		must(t, err)
		var triggers []retake.Trigger
		for deadline := time.Now().Add(5 * time.Minute); len(triggers) == 0 || triggers[0] != retake.TriggerTurn; <-time.After(5 * time.Millisecond) {
			line, err := s.Log(t.Context(), retake.LogQuery{Workspace: res.Workspace.ID})
			must(t, err)
			triggers = nil
			for _, cp := range line.Checkpoints {
				triggers = append(triggers, cp.Trigger)
			}
			if time.Now().After(deadline) {
				t.Fatalf("gave up %v: %v", gaveUp, triggers)
			}
		}
		if want := map[bool]int{false: 3, true: 2}[gaveUp]; len(triggers) != want {
			t.Errorf("gave up %v: %v", gaveUp, triggers)
		}
	}
}
