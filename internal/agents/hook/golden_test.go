package hook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
)

var update = flag.Bool("update", false, "write what is answered now into the golden files")

// told is what a golden file holds.
type told struct {
	Event    string                `json:"event"`
	Signals  []retake.Signal       `json:"signals"`
	Worktree *hook.WorktreeRequest `json:"worktree,omitempty"`
	Error    string                `json:"error,omitempty"`
	Answer   json.RawMessage       `json:"answer"`
	Noted    json.RawMessage       `json:"answer_with_note"`
}

func world() hook.EventContext {
	n := 0
	return hook.EventContext{
		Dir: "/home/dev/work", Now: time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC),
		NewID: func() retake.SignalID {
			n++
			return retake.SignalID(fmt.Sprintf("%s00000000-0000-7000-8000-%012d", retake.SignalPrefix, n))
		},
	}
}

// payloads are the files of an agent, by name.
func payloads(t testing.TB, agent string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", agent, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("payloads of %s: %d, %v", agent, len(names), err)
	}
	out := make(map[string][]byte)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".json")] = raw
	}
	return out
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, agent := range hook.Agents() {
		for name, payload := range payloads(t, agent) {
			t.Run(agent+"/"+name, func(t *testing.T) {
				t.Parallel()
				golden(t, filepath.Join("testdata", agent, name+".golden"), tellAll(agent, payload))
			})
		}
	}
}

func tellAll(agent string, payload []byte) told {
	heard, err := hook.Translate(agent, payload, world())
	out := told{Event: heard.Event, Signals: heard.Signals, Worktree: heard.Worktree}
	if err != nil {
		out.Error = err.Error()
	}
	out.Answer = hook.FormatAnswer(agent, heard.Event, retake.Reaction{})
	out.Noted = hook.FormatAnswer(agent, heard.Event, retake.Reaction{Note: "The files went back to checkpoint 4 <by hand>."})
	return out
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestEveryEvent holds the payloads against the lists of events that the agents
// document, so that none is left without a golden file.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	for agent, list := range events() {
		var have []string
		for _, payload := range payloads(t, agent) {
			heard, err := hook.Translate(agent, payload, world())
			if err == nil {
				have = append(have, heard.Event)
			}
		}
		for _, event := range strings.Fields(list) {
			if !slices.Contains(have, event) {
				t.Errorf("%s: no payload of %s", agent, event)
			}
		}
	}
	if n := len(events()); n != len(hook.Agents()) {
		t.Errorf("lists of events: %d, want one for each of %d agents", n, len(hook.Agents()))
	}
}

func events() map[string]string {
	return map[string]string{
		"claude-code": `PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
			SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch
			PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange
			WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay`,
		"codex": `PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart SessionEnd UserPromptSubmit
			SubagentStart SubagentStop Stop`,
		"gemini": `BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel BeforeToolSelection AfterModel SessionStart SessionEnd
			Notification PreCompress`,
		"opencode": `chat.message session.idle session.error tool.execute.before tool.execute.after session.created
			session.compacted todo.updated session.deleted`,
		"docker-agent": `pre_tool_use tool_response_transform post_tool_use permission_request session_start user_prompt_submit
			user_followup_submit user_steering_messages_submit turn_start turn_end before_llm_call after_llm_call session_end
			pre_compact before_compaction after_compaction subagent_stop on_user_input stop notification on_error
			on_max_iterations on_agent_switch on_session_resume on_tool_approval_decision`,
		"cursor": `sessionStart sessionEnd beforeSubmitPrompt stop preToolUse postToolUse postToolUseFailure beforeShellExecution
			afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit afterAgentResponse
			afterAgentThought preCompact subagentStart subagentStop beforeTabFileRead afterTabFileEdit`,
		"copilot": `SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest Stop
			SubagentStart SubagentStop PreCompact ErrorOccurred Notification`,
		"cline": `TaskStart TaskResume TaskCancel TaskComplete TaskError UserPromptSubmit PreToolUse PostToolUse PreCompact
			SessionShutdown`,
		"pi":    `SessionStart UserPromptSubmit PreToolUse PostToolUse Stop StopFailure PreCompact SessionEnd`,
		"droid": `PreToolUse PostToolUse Notification UserPromptSubmit Stop SubagentStop PreCompact SessionStart SessionEnd`,
	}
}
