package hook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
)

// hear translates one event of Claude Code that is heard.
func hear(t *testing.T, event map[string]any) []retake.Signal {
	t.Helper()
	payload := map[string]any{"session_id": "s1", "cwd": "/home/dev/shop"}
	for k, v := range event {
		payload[k] = v
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	heard, err := hook.Translate("claude-code", raw, world())
	if err != nil {
		t.Fatal(err)
	}
	return heard.Signals
}

func TestLongTextsAreCutAndMarked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä\"<", 200<<10)
	prompt := hear(t, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": long})[0].Prompt
	message := hear(t, map[string]any{"hook_event_name": "Stop", "last_assistant_message": long})[0].Message
	call := hear(t, map[string]any{
		"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": long}, "tool_response": long,
	})[0].Call
	var input string
	if err := json.Unmarshal(call.Input, &input); err != nil {
		t.Fatalf("the input is no JSON text: %v", err)
	}
	for what, c := range map[string]struct {
		text  string
		bytes int
	}{
		"prompt": {prompt, 64 << 10}, "message": {message, 256 << 10}, "command": {call.Command, 64 << 10},
		"output": {call.Output, 64 << 10}, "input": {input, 32 << 10},
	} {
		if len(c.text) > c.bytes || len(c.text) < c.bytes-8 || !strings.HasSuffix(c.text, "[cut]") || !utf8.ValidString(c.text) {
			t.Errorf("%s: %d bytes of %d, ends with %q", what, len(c.text), c.bytes, c.text[len(c.text)-8:])
		}
	}
	if len(call.Input) > 64<<10 {
		t.Errorf("input of %d bytes", len(call.Input))
	}
}

func TestShortTextsStay(t *testing.T) {
	t.Parallel()
	just := strings.Repeat("x", 64<<10)
	if got := hear(t, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": just})[0].Prompt; got != just {
		t.Errorf("a prompt of the full length became %d bytes", len(got))
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"plain":                                  "plain",
		"a < b and <div>c</div>":                 "a < b and <div>c</div>",
		"<system-reminder>x":                     "<system-reminder>x",
		"<system-reminders>x</system-reminders>": "<system-reminders>x</system-reminders>",
		"one <system-reminder>a</system-reminder>two<system-reminder>b</system-reminder>": "one two",
		"<system-reminders>k</system-reminders> <system-reminder>a</system-reminder>":     "<system-reminders>k</system-reminders>",
		`<ide_selection file="a.go">x</ide_selection> fix`:                                "fix",
		"<user_query>\nfix\n</user_query>":                                                "fix",
		"<user_query>fix":                                                                 "<user_query>fix",
		"  \n ":                                                                           "",
	} {
		s := hear(t, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": prompt})[0]
		if s.Prompt != want || s.Machine {
			t.Errorf("%q: %q, machine %v; want %q", prompt, s.Prompt, s.Machine, want)
		}
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"": false, "user": false, "sdk": false, "system": true, "loop_wakeup": true, "schedule_wakeup": true, "poll_event": true,
	} {
		if got := hear(t, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "x", "source": source})[0].Machine; got != want {
			t.Errorf("source %q: machine %v", source, got)
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	for session, want := range map[string]bool{
		"6f1c-A.b:c_d": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "": false, ".": false, "..": false,
		"a/b": false, "a b": false, "a\n": false, "ä": false, `a\b`: false,
	} {
		raw, err := json.Marshal(map[string]any{"hook_event_name": "Stop", "session_id": session, "cwd": "/w"})
		if err != nil {
			t.Fatal(err)
		}
		heard, err := hook.Translate("claude-code", raw, world())
		if (err == nil) != want || len(heard.Signals) > 0 != want {
			t.Errorf("session %q: %d signals, %v", session, len(heard.Signals), err)
		}
	}
}

func TestLongIDsStayApart(t *testing.T) {
	t.Parallel()
	ids := make(map[string]bool)
	for i := range 3 {
		id := fmt.Sprintf("%s%d", strings.Repeat("call\n", 60), i)
		ids[hear(t, map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id})[0].Call.ID] = true
	}
	if len(ids) != 3 {
		t.Errorf("three ids became %v", ids)
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	for cwd, want := range map[string]string{
		"/home/dev/shop/": "/home/dev/shop", "/a/../b": "/b", "shop": "/home/dev/work", "": "/home/dev/work",
		"/a\x00b": "/home/dev/work", "/odd\uFFFDname": "/home/dev/work", "/" + strings.Repeat("a", 5000): "/home/dev/work",
	} {
		if got := hear(t, map[string]any{"hook_event_name": "Stop", "cwd": cwd})[0].Dir; got != want {
			t.Errorf("cwd %.20q: %q, want %q", cwd, got, want)
		}
	}
	w := world()
	w.Dir = "relative"
	if heard, err := hook.Translate("claude-code", []byte(`{"hook_event_name":"Stop","session_id":"s"}`), w); err == nil || heard.Signals != nil {
		t.Errorf("a signal from nowhere: %v, %v", heard.Signals, err)
	}
}

func TestTasksKeepTheirNames(t *testing.T) {
	t.Parallel()
	list := func(titles ...string) map[string]string {
		var todos []any
		for _, title := range titles {
			todos = append(todos, map[string]any{"content": title, "status": "pending"})
		}
		names := make(map[string]string)
		for _, task := range hear(t, map[string]any{
			"hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "tool_input": map[string]any{"todos": todos}, "tool_response": "ok",
		})[1].Tasks {
			names[task.ID] = task.Title
		}
		return names
	}
	before, after := list("build", "ship"), list("plan", "ship", "ship")
	shared := 0
	for id, title := range before {
		if after[id] == title {
			shared++
		}
	}
	if len(after) != 3 || shared != 1 {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestFailedCallsTellNoTasks(t *testing.T) {
	t.Parallel()
	got := hear(t, map[string]any{
		"hook_event_name": "PostToolUseFailure", "tool_name": "TodoWrite", "tool_input": map[string]any{"todos": []any{}}, "error": "no",
	})
	if len(got) != 1 || !got[0].Call.Failed {
		t.Errorf("signals %+v", got)
	}
}

func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	heard, err := hook.Translate("nobody", []byte("{}"), world())
	if diff := cmp.Diff(hook.ParsedEvent{}, heard); diff != "" || err == nil {
		t.Errorf("heard of nobody: %v\n%s", err, diff)
	}
}
