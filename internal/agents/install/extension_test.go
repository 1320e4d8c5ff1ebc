package install_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The extension of opencode, run as opencode runs it.
const playOpencode = `
import { RetakePlugin } from "./retake.mjs"
const hooks = await RetakePlugin({ directory: process.cwd() })
const bus = (type, properties) => hooks.event({ event: { type, properties } })
const started = Date.now()
await bus("session.created", { info: { id: "ses_1", version: "1.18.33" } })
await bus("session.created", { info: { id: "ses_2", parentID: "ses_1", version: "1.18.33" } })
const output = { message: { id: "msg_1" }, parts: [{ type: "text", text: "fix it" }, { type: "text", text: "hidden", synthetic: true }] }
await hooks["chat.message"]({ sessionID: "ses_1" }, output)
await hooks["tool.execute.before"]({ tool: "read", sessionID: "ses_1", callID: "c0" }, { args: {} })
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "ses_2", callID: "c1" }, { args: { command: "rm -rf x" } })
const waited = Date.now() - started
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_2", callID: "c1", args: { command: "rm -rf x" } }, { output: "y".repeat(100000) })
await bus("todo.updated", { sessionID: "ses_1", todos: [{ id: "1", content: "fix", status: "pending", priority: "high" }] })
await bus("message.updated", { info: { id: "msg_2", role: "assistant" } })
await bus("message.part.updated", { part: { type: "text", messageID: "msg_2", sessionID: "ses_1", text: "done" } })
await bus("session.idle", { sessionID: "ses_1" })
await bus("session.error", { sessionID: "ses_1", error: { name: "Aborted", data: { message: "stopped" } } })
await bus("session.compacted", { sessionID: "ses_1" })
await bus("session.deleted", { info: { id: "ses_1" } })
await bus("anything.else", undefined)
await hooks["chat.message"](undefined, undefined)
console.log(JSON.stringify({ waited, parts: output.parts }))
if (waited > 4000) process.exit(0) // what hangs is not waited for
`

type played struct {
	Waited int
	Parts  []struct {
		ID, Type, Text, SessionID, MessageID string
		Synthetic                            bool
	}
}

// play runs the extension of opencode with a program in place of retake.
func play(t *testing.T, program string) (p played, dir string) {
	t.Helper()
	out, dir := run(t, string(read(t, filepath.Join(pluginDir, "opencode/retake.js"))), playOpencode, program)
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p, dir
}

func run(t *testing.T, extension, script, program string) (out []byte, dir string) {
	t.Helper()
	dir = t.TempDir()
	settle(t, filepath.Join(dir, "retake.mjs"), extension)
	settle(t, filepath.Join(dir, "play.mjs"), script)
	if program != "" {
		settle(t, filepath.Join(dir, "bin/retake"), "#!/bin/sh\n"+program)
		if err := os.Chmod(filepath.Join(dir, "bin/retake"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node(t), "play.mjs")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out, dir
}

func TestOpencodeTellsWhatHappens(t *testing.T) {
	t.Parallel()
	p, dir := play(t, `[ "$*" = "hook opencode" ] || exit 1
event=$(cat)
printf '%s\n' "$event" >> told
case $event in *'"chat.message"'*) echo '{"note":"you were here before"}';; esac
`)
	if len(p.Parts) != 3 {
		t.Fatalf("%+v", p)
	}
	if n := p.Parts[2]; n.Text != "you were here before" || !n.Synthetic || n.Type != "text" || n.SessionID != "ses_1" || n.MessageID != "msg_1" || !strings.HasPrefix(n.ID, "prt_") {
		t.Errorf("%+v", n)
	}
	told := map[string]map[string]any{}
	for _, line := range lines(read(t, filepath.Join(dir, "told"))) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e["cwd"] != dir || e["version"] != "1.18.33" && e["hook_event_name"] != "session.deleted" {
			t.Errorf("%v", e)
		}
		told[e["hook_event_name"].(string)+" "+e["session_id"].(string)] = e
	}
	for name, want := range map[string]map[string]any{
		"session.created ses_2":     {"parent_id": "ses_1"},
		"chat.message ses_1":        {"prompt": "fix it", "message_id": "msg_1"},
		"tool.execute.before ses_2": {"tool_name": "bash", "call_id": "c1", "parent_id": "ses_1"},
		"tool.execute.after ses_2":  {"tool_name": "bash", "tool_output": strings.Repeat("y", 64*1024)},
		"todo.updated ses_1":        {},
		"session.idle ses_1":        {"last_assistant_message": "done"},
		"session.error ses_1":       {"error": "stopped"},
		"session.compacted ses_1":   {},
		"session.deleted ses_1":     {},
	} {
		for k, v := range want {
			if told[name][k] != v {
				t.Errorf("%s: %s is %v", name, k, told[name][k])
			}
		}
		if told[name] == nil {
			t.Errorf("%s is not told", name)
		}
	}
	if todos, _ := json.Marshal(told["todo.updated ses_1"]["todos"]); string(todos) != `[{"content":"fix","id":"1","status":"pending"}]` {
		t.Errorf("%s", todos)
	}
	if told["tool.execute.before ses_1"] != nil {
		t.Error("a tool that reads is told")
	}
}

// Without the program, with one that breaks and with one that hangs, opencode goes
// on.
func TestOpencodeIsNeverHeldUp(t *testing.T) {
	t.Parallel()
	for what, program := range map[string]string{"missing": "", "broken": "echo '{'\nexit 3\n", "hanging": "exec sleep 15\n"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, _ := play(t, program)
			if len(p.Parts) != 2 || what == "hanging" && (p.Waited < 4000 || p.Waited > 14000) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// The extension of pi, run as pi runs it.
const playPi = `
import retake from "./retake.mjs"
const on = {}
retake({ on: (name, handler) => (on[name] = handler) })
const ctx = { cwd: process.cwd(), sessionManager: { getSessionId: () => "s1", getSessionFile: () => "/s1.jsonl" } }
await on.session_start({ reason: "startup" }, ctx)
const answer = await on.before_agent_start({ prompt: "fix it" }, ctx)
const verdict = await on.tool_call({ toolName: "bash", toolCallId: "c1", input: { command: "ls" } }, ctx)
await on.tool_call({ toolName: "read", toolCallId: "c0", input: {} }, ctx)
await on.tool_result({ toolName: "bash", toolCallId: "c1", input: {}, content: [{ type: "text", text: "out" }], isError: true }, ctx)
await on.agent_end({ messages: [{ role: "assistant", content: [{ type: "text", text: "done" }] }, { role: "toolResult" }] }, ctx)
await on.session_before_compact({ reason: "manual" }, ctx)
await on.session_shutdown({ reason: "quit" }, ctx)
await on.session_start(undefined, undefined)
console.log(JSON.stringify({ answer, verdict }))
`

func TestPiTellsWhatHappens(t *testing.T) {
	t.Parallel()
	// Node runs what is left without the types.
	plain := regexp.MustCompile(`: (Promise<any>|any\b|string\b)`).ReplaceAllString(string(read(t, filepath.Join(pluginDir, "pi/retake.ts"))), "")
	out, dir := run(t, plain, playPi, `[ "$*" = "hook pi" ] || exit 1
event=$(cat)
printf '%s\n' "$event" >> told
case $event in *'"UserPromptSubmit"'*) echo '{"hookSpecificOutput":{"additionalContext":"you were here before"}}';; esac
`)
	if got := strings.TrimSpace(string(out)); got != `{"answer":{"message":{"customType":"retake","content":"you were here before","display":false}}}` {
		t.Errorf("%s", got)
	}
	var names []string
	for _, line := range lines(read(t, filepath.Join(dir, "told"))) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil || e["session_id"] != "s1" || e["cwd"] != dir {
			t.Errorf("%v, %v", err, e)
		}
		names = append(names, e["hook_event_name"].(string))
	}
	slices.Sort(names)
	want := []string{"PostToolUseFailure", "PreCompact", "PreToolUse", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit"}
	if !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
}
