package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
)

// The agents, as hooks name them.
const (
	claudeCode = "claude-code"
	codex      = "codex"
)

// agentSession is one simulated session of an agent: it sends the signals that a real agent
// sends through its hooks, and writes its transcript like one.
type agentSession struct {
	runner     *storyRunner
	name       string
	session    string
	dir        string // where it works
	transcript string
	turn       string
	prompted   string
	calls      int
}

var notInFolder = regexp.MustCompile(`[^A-Za-z0-9]`)

// startSession begins a session in a directory.
func (st *storyRunner) startSession(ctx context.Context, name, dir string) (*agentSession, error) {
	a := &agentSession{runner: st, name: name, session: uuid.NewString(), dir: dir}
	home := filepath.Join(st.req.Dir, agentsDir, name)
	if name == codex {
		now := st.req.Clock.Now().UTC()
		a.transcript = filepath.Join(home, "sessions", now.Format("2006"), now.Format("01"), now.Format("02"),
			"rollout-"+now.Format("2006-01-02T15-04-05")+"-"+a.session+".jsonl")
	} else {
		a.transcript = filepath.Join(home, "projects", notInFolder.ReplaceAllString(dir, "-"), a.session+".jsonl")
	}
	if err := os.MkdirAll(filepath.Dir(a.transcript), 0o755); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	if name == codex {
		if err := a.writeCodexLine("session_meta", map[string]any{"id": a.session, "timestamp": a.timestamp(), "cwd": dir}); err != nil {
			return nil, err
		}
	}
	_, err := a.sendSignal(ctx, retake.Signal{Kind: retake.SignalSessionStart, Reason: "startup"})
	return a, err
}

// sendSignal sends one signal to the service.
func (a *agentSession) sendSignal(ctx context.Context, sig retake.Signal) (retake.Reaction, error) {
	sig.ID, sig.Time, sig.Agent, sig.Session, sig.Turn = queue.NewID(), a.runner.req.Clock.Now(), a.name, a.session, a.turn
	sig.Dir, sig.Transcript = a.dir, a.transcript
	r, err := a.runner.svc.Observe(ctx, sig)
	if err == nil && r.Workspace == "" {
		err = errors.New("nobody feels concerned")
	}
	if err != nil {
		return r, fmt.Errorf("tell %s: %w", sig.Kind, err)
	}
	return r, nil
}

// startTurn begins a turn.
func (a *agentSession) startTurn(ctx context.Context, text string) error {
	a.runner.reportStep(text)
	a.turn, a.prompted = uuid.NewString(), text
	if err := a.recordText("user", text); err != nil {
		return err
	}
	_, err := a.sendSignal(ctx, retake.Signal{Kind: retake.SignalPrompt, Prompt: text})
	return err
}

// editFile is a call that writes a file.
func (a *agentSession) editFile(ctx context.Context, path string, do func() error) error {
	c := retake.Call{Tool: "Write", Kind: retake.CallWrite, Paths: []string{path}, Input: toolInput("file_path", path)}
	if a.name == codex {
		c.Tool = "apply_patch"
	}
	return a.runCall(ctx, c, "done", do)
}

// runShell simulates a call that runs a command; do makes its changes to the files.
func (a *agentSession) runShell(ctx context.Context, line, output string, do func() error) error {
	c := retake.Call{Tool: "Bash", Kind: retake.CallShell, Command: line, Input: toolInput("command", line)}
	if a.name == codex {
		c.Tool = "shell"
	}
	return a.runCall(ctx, c, output, do)
}

func toolInput(key, value string) json.RawMessage {
	b, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		return nil // two strings are always JSON
	}
	return b
}

// runCall sends the signals before and after a call, and calls do between them.
func (a *agentSession) runCall(ctx context.Context, c retake.Call, output string, do func() error) error {
	a.calls++
	c.ID = fmt.Sprintf("call_%s_%d", a.session[:8], a.calls)
	if _, err := a.sendSignal(ctx, retake.Signal{Kind: retake.SignalCall, Call: &c}); err != nil {
		return err
	}
	if do != nil {
		if err := do(); err != nil {
			return err
		}
	}
	c.Output = output
	if err := a.recordCall(c); err != nil {
		return err
	}
	_, err := a.sendSignal(ctx, retake.Signal{Kind: retake.SignalCalled, Call: &c})
	return err
}

// setTasks sends the to-do list. If a task is done in it, it waits for that checkpoint, so
// that later changes are not in it.
func (a *agentSession) setTasks(ctx context.Context, tasks []retake.Task, done bool) error {
	if _, err := a.sendSignal(ctx, retake.Signal{Kind: retake.SignalTasks, Tasks: tasks}); err != nil || !done {
		return err
	}
	_, err := a.runner.waitForCheckpoint(ctx, a, retake.TriggerTask)
	return err
}

// endTurn ends a turn and waits for its checkpoint, so that later changes are not in it.
func (a *agentSession) endTurn(ctx context.Context, words string) (retake.Checkpoint, error) {
	if err := a.recordText("assistant", words); err != nil {
		return retake.Checkpoint{}, err
	}
	if _, err := a.sendSignal(ctx, retake.Signal{Kind: retake.SignalTurnEnd, Message: words}); err != nil {
		return retake.Checkpoint{}, err
	}
	a.runner.turns++
	return a.runner.waitForCheckpoint(ctx, a, retake.TriggerTurn)
}

func (a *agentSession) timestamp() string {
	return a.runner.req.Clock.Now().UTC().Format(time.RFC3339Nano)
}

// recordText adds what was said to the transcript.
func (a *agentSession) recordText(role, text string) error {
	if a.name == codex {
		return a.writeCodexText(role, text)
	}
	if role == "user" {
		return a.writeClaudeLine(role, text)
	}
	return a.writeClaudeLine(role, []any{map[string]any{"type": "text", "text": text}})
}

// recordCall adds a call and its answer to the transcript.
func (a *agentSession) recordCall(c retake.Call) error {
	if a.name == codex {
		return errors.Join(
			a.writeCodexLine("response_item", map[string]any{"type": "function_call", "name": c.Tool, "arguments": string(c.Input), "call_id": c.ID}),
			a.writeCodexLine("response_item", map[string]any{"type": "function_call_output", "call_id": c.ID, "output": c.Output}),
		)
	}
	return errors.Join(
		a.writeClaudeLine("assistant", []any{map[string]any{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": c.Input}}),
		a.writeClaudeLine("user", []any{map[string]any{"type": "tool_result", "tool_use_id": c.ID, "content": c.Output}}),
	)
}

func (a *agentSession) writeClaudeLine(kind string, content any) error {
	line := map[string]any{
		"type": kind, "message": map[string]any{"role": kind, "content": content}, "uuid": uuid.NewString(),
		"timestamp": a.timestamp(), "sessionId": a.session, "cwd": a.dir,
	}
	if kind == "user" {
		line["promptId"] = a.turn
	}
	return a.appendLine(line)
}

func (a *agentSession) writeCodexText(role, text string) error {
	kind := "output_text"
	if role == "user" {
		kind = "input_text"
		if err := a.writeCodexLine("event_msg", map[string]any{"type": "task_started", "turn_id": a.turn}); err != nil {
			return err
		}
	}
	said := map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}}
	return a.writeCodexLine("response_item", said)
}

func (a *agentSession) writeCodexLine(kind string, payload map[string]any) error {
	return a.appendLine(map[string]any{"timestamp": a.timestamp(), "type": kind, "payload": payload})
}

func (a *agentSession) appendLine(value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write conversation: %w", err)
	}
	return appendToFile(a.transcript, string(b)+"\n")
}
