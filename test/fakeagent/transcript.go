package fakeagent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// talk is how an agent writes down what is said.
type talk struct {
	path   func(*agent) string
	head   func(*agent) []any
	prompt func(a *agent, text string) []any
	call   func(*agent, *call) []any
	words  func(a *agent, text string) []any
}

// write adds lines to the transcript.
func (a *agent) write(lines ...any) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	for _, l := range lines {
		one, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("write transcript: %w", err)
		}
		b.Write(append(one, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(a.memory.Transcript), 0o700); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	f, err := os.OpenFile(a.memory.Transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	_, err = f.WriteString(b.String())
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

var notInFolder = regexp.MustCompile(`[^A-Za-z0-9]`)

var claudeTalk = talk{
	path: func(a *agent) string {
		return filepath.Join(a.under("CLAUDE_CONFIG_DIR", ".claude"), "projects", notInFolder.ReplaceAllString(a.Dir, "-"), a.memory.Session+".jsonl")
	},
	head: func(a *agent) []any {
		return []any{map[string]any{"type": "mode", "mode": "normal", "sessionId": a.memory.Session}}
	},
	prompt: func(a *agent, text string) []any {
		return []any{a.claudeLine("user", map[string]any{"role": "user", "content": text})}
	},
	call: func(a *agent, c *call) []any {
		use := map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.input}
		got := map[string]any{"type": "tool_result", "tool_use_id": c.id, "content": c.output, "is_error": c.failed}
		return []any{
			a.claudeLine("assistant", map[string]any{"role": "assistant", "content": []any{use}}),
			a.claudeLine("user", map[string]any{"role": "user", "content": []any{got}}),
		}
	},
	words: func(a *agent, text string) []any {
		said := []any{map[string]any{"type": "text", "text": text}}
		return []any{a.claudeLine("assistant", map[string]any{"role": "assistant", "content": said})}
	},
}

func (a *agent) claudeLine(kind string, message map[string]any) map[string]any {
	line := map[string]any{
		"parentUuid": nil, "isSidechain": false, "type": kind, "message": message, "uuid": uuid.NewString(),
		"timestamp": stamp(), "sessionId": a.memory.Session, "cwd": a.Dir, "version": "2.1.325", "userType": "external",
	}
	if kind == "user" {
		line["promptId"] = a.memory.Turn
	}
	return line
}

var codexTalk = talk{
	path: func(a *agent) string {
		now := time.Now().UTC()
		name := "rollout-" + now.Format("2006-01-02T15-04-05") + "-" + a.memory.Session + ".jsonl"
		return filepath.Join(a.under("CODEX_HOME", ".codex"), "sessions", now.Format("2006"), now.Format("01"), now.Format("02"), name)
	},
	head: func(a *agent) []any {
		return codexLines("session_meta", map[string]any{"id": a.memory.Session, "timestamp": stamp(), "cwd": a.Dir, "originator": "codex_cli", "cli_version": "0.166.0"})
	},
	prompt: func(a *agent, text string) []any {
		lines := codexLines("event_msg", map[string]any{"type": "task_started", "turn_id": a.memory.Turn})
		return append(lines, codexLines("response_item", codexMessage("user", "input_text", text))...)
	},
	call: func(_ *agent, c *call) []any {
		return codexLines("response_item",
			map[string]any{"type": "function_call", "name": c.tool, "arguments": text(c.input), "call_id": c.id},
			map[string]any{"type": "function_call_output", "call_id": c.id, "output": c.output})
	},
	words: func(a *agent, text string) []any {
		lines := codexLines("response_item", codexMessage("assistant", "output_text", text))
		return append(lines, codexLines("event_msg", map[string]any{"type": "task_complete", "turn_id": a.memory.Turn, "last_agent_message": text})...)
	},
}

func codexMessage(role, kind, text string) map[string]any {
	return map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}}
}

func codexLines(kind string, payloads ...map[string]any) []any {
	var out []any
	for _, p := range payloads {
		out = append(out, map[string]any{"timestamp": stamp(), "type": kind, "payload": p})
	}
	return out
}

var geminiTalk = talk{
	path: func(a *agent) string {
		name := "session-" + time.Now().UTC().Format("2006-01-02T15-04") + "-" + a.memory.Session[:8] + ".jsonl"
		return filepath.Join(a.under("GEMINI_CLI_HOME", ""), ".gemini", "tmp", geminiProject(a), "chats", name)
	},
	head: func(a *agent) []any {
		return []any{map[string]any{"sessionId": a.memory.Session, "projectHash": geminiProject(a), "startTime": stamp(), "lastUpdated": stamp(), "kind": "main"}}
	},
	prompt: func(_ *agent, text string) []any {
		return []any{map[string]any{"id": uuid.NewString(), "timestamp": stamp(), "type": "user", "content": []any{map[string]any{"text": text}}}}
	},
	call: func(_ *agent, c *call) []any {
		response := map[string]any{"functionResponse": map[string]any{"id": c.id, "name": c.tool, "response": map[string]any{"output": c.output}}}
		use := map[string]any{"id": c.id, "name": c.tool, "args": c.input, "result": []any{response}, "status": "success"}
		return []any{map[string]any{"id": uuid.NewString(), "timestamp": stamp(), "type": "gemini", "content": "", "toolCalls": []any{use}}}
	},
	words: func(_ *agent, text string) []any {
		return []any{map[string]any{"id": uuid.NewString(), "timestamp": stamp(), "type": "gemini", "content": text, "model": "a-model"}}
	},
}

func geminiProject(a *agent) string {
	sum := sha256.Sum256([]byte(a.Dir))
	return hex.EncodeToString(sum[:])
}
