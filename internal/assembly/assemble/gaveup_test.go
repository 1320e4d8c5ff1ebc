package assemble_test

import (
	"context"
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
	for how, want := range map[string]int{"waits": 3, "in the spool": 2, "left": 2} {
		home := t.TempDir()
		set, err := config.Load(filepath.Join(home, "config.json"))
		must(t, err)
		c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
		s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Derivation: derivation, Exclusive: true})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		root := filepath.Join(home, "shop")
		must(t, os.Mkdir(root, 0o755))
		res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
		must(t, err)

		must(t, os.WriteFile(filepath.Join(root, "two.txt"), []byte("2"), 0o644))
		sig := retake.Signal{ID: queue.NewID(), Kind: retake.SignalPrompt, Time: time.Now(), Agent: "claude-code", Session: "s1", Dir: root, Prompt: "two"}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		switch how {
		case "in the spool":
			must(t, queue.Put(config.SignalsDir(c.DataDir), sig))
		case "left": // too soon to put it there
			sig.Time = sig.Time.Add(-10 * time.Second)
			time.AfterFunc(10*time.Millisecond, leave)
		}
		_, err = s.Observe(ctx, sig)
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
				t.Fatalf("%s: %v", how, triggers)
			}
		}
		if len(triggers) != want {
			t.Errorf("%s: %v", how, triggers)
		}
	}
}
