package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/agents/hook/hooktest"
)

func TestConform(t *testing.T) {
	t.Parallel()
	for _, agent := range hook.Agents() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			hear := func(payload []byte, w hook.EventContext, r retake.Reaction) (hook.ParsedEvent, []byte, error) {
				heard, err := hook.Translate(agent, payload, w)
				return heard, hook.FormatAnswer(agent, heard.Event, r), err
			}
			hooktest.Run(t, hear, hooktest.Facts{Agent: agent, Payloads: payloads(t, agent), SilenceBlocks: agent == "cursor"})
		})
	}
}

// TestConformExternal runs the suite with an adapter outside: it speaks the
// contract and is as careless as one can be.
func TestConformExternal(t *testing.T) {
	t.Parallel()
	careless := func(payload []byte) []byte {
		var in struct {
			What, ID, Text, Dir string
			Input               json.RawMessage
		}
		if json.Unmarshal(payload, &in) != nil || in.What == "" {
			return payload
		}
		s := map[string]any{
			"kind": in.What, "session": in.ID, "dir": in.Dir, "prompt": in.Text, "message": in.Text, "turn": in.Text, "id": in.Text,
			"transcript": in.Dir, "tasks": []any{map[string]any{"title": in.Text, "status": in.Text}}, "running": -4, "agent": "claude-code",
		}
		if in.What == "call" {
			s["call"] = map[string]any{"tool": in.Text, "kind": in.Text, "input": in.Input, "output": in.Text, "paths": []string{in.Text, in.Text}}
		}
		out, err := json.Marshal(map[string]any{"v": 1, "signals": []any{s}, "answer": map[string]any{"said": in.Text}})
		if err != nil {
			return nil
		}
		return out
	}
	hear := func(payload []byte, w hook.EventContext, _ retake.Reaction) (hook.ParsedEvent, []byte, error) {
		return hook.ReadExternal("wild", careless(payload), w)
	}
	hooktest.Run(t, hear, hooktest.Facts{Agent: "wild", Payloads: map[string][]byte{
		"prompt": []byte(`{"what":"prompt","id":"s1","text":"hello","dir":"/home/dev/shop"}`),
		"call":   []byte(`{"what":"call","id":"s1","text":"Bash","dir":"/home/dev/shop","input":{"command":"ls"}}`),
		"end":    []byte(`{"what":"turn-end","id":"s1","text":"bye","dir":"/home/dev/shop"}`),
	}})
}

func FuzzTranslate(f *testing.F) {
	agents := hook.Agents()
	for i, agent := range agents {
		for _, payload := range payloads(f, agent) {
			f.Add(uint8(i), payload)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, payload []byte) {
		agent := agents[int(which)%len(agents)]
		heard, err := hook.Translate(agent, payload, hooktest.NewEventContext())
		facts := hooktest.Facts{Agent: agent, SilenceBlocks: agent == "cursor"}
		answer := hook.FormatAnswer(agent, heard.Event, retake.Reaction{Note: string(payload)})
		if broken := hooktest.Check(facts, heard, answer); broken != nil {
			t.Fatal(broken)
		}
		if err != nil && len(heard.Signals) > 0 {
			t.Fatalf("signals with error %v", err)
		}
		asks := heard.Event == "" || heard.Event == "preToolUse" || strings.HasPrefix(heard.Event, "before")
		if agent == "cursor" && asks && answer == nil {
			t.Fatalf("no answer for %q", heard.Event)
		}
		if agent == "cline" && answer == nil {
			t.Fatal("no answer for cline")
		}
	})
}
