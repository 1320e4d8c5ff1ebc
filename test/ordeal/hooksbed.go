//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	protection "github.com/retake-dev/retake/internal/platform/marker"
)

// Agents whose hooks are fired, and the events of one turn in their order.
var (
	hookAgents = []string{"claude-code", "codex", "gemini", "cursor"}
	turnEvents = []retake.SignalKind{retake.SignalPrompt, retake.SignalCall, retake.SignalCalled, retake.SignalTurnEnd}
)

// speaker is one session of an agent, and the turn that it is in.
type speaker struct {
	agent, session, dir, transcript string

	turn    string // the agent's own name for it; "" when it has none
	prompt  string // unique
	command string
}

func newSpeaker(agent, dir, transcript string) *speaker {
	return &speaker{agent: agent, session: uuid.NewString(), dir: dir, transcript: transcript}
}

// begin makes the next turn.
func (s *speaker) begin(name string, risky bool) {
	s.turn, s.prompt, s.command = uuid.NewString(), "Work on "+name, "ls -l"
	if s.agent == "gemini" {
		s.turn = ""
	}
	if risky {
		s.command = "rm -rf build"
	}
}

// says is an event as the agent writes it, and the agent's name for it.
func (s *speaker) says(kind retake.SignalKind) (event string, payload []byte) {
	f := map[string]any{"transcript_path": s.transcript}
	switch s.agent {
	case "cursor":
		event = s.cursor(f, kind)
	case "gemini":
		event = s.gemini(f, kind)
	default:
		event = s.claude(f, kind)
	}
	f["hook_event_name"] = event
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings and maps
	}
	return event, b
}

// claude is the dialect of Claude Code and Codex.
func (s *speaker) claude(f map[string]any, kind retake.SignalKind) string {
	f["session_id"], f["cwd"], f["permission_mode"] = s.session, s.dir, "default"
	f[map[string]string{"claude-code": "prompt_id", "codex": "turn_id"}[s.agent]] = s.turn
	switch kind {
	case retake.SignalPrompt:
		f["prompt"], f["source"] = s.prompt, "user"
		return "UserPromptSubmit"
	case retake.SignalTurnEnd:
		f["stop_hook_active"], f["last_assistant_message"] = false, "Done: "+s.prompt
		return "Stop"
	default:
	}
	f["tool_name"], f["tool_use_id"], f["tool_input"] = "Bash", "call_1", map[string]any{"command": s.command}
	if kind == retake.SignalCall {
		return "PreToolUse"
	}
	f["tool_response"] = map[string]any{"stdout": "ok", "stderr": "", "interrupted": false}
	return "PostToolUse"
}

func (s *speaker) gemini(f map[string]any, kind retake.SignalKind) string {
	f["session_id"], f["cwd"], f["timestamp"] = s.session, s.dir, "2026-11-14T09:12:44.120Z"
	switch kind {
	case retake.SignalPrompt:
		f["prompt"] = s.prompt
		return "BeforeAgent"
	case retake.SignalTurnEnd:
		f["prompt"], f["prompt_response"], f["stop_hook_active"] = s.prompt, "Done: "+s.prompt, false
		return "AfterAgent"
	default:
	}
	f["tool_name"], f["tool_input"] = "run_shell_command", map[string]any{"command": s.command}
	if kind == retake.SignalCall {
		return "BeforeTool"
	}
	f["tool_response"] = map[string]any{"llmContent": "Output: ok", "returnDisplay": "ok"}
	return "AfterTool"
}

func (s *speaker) cursor(f map[string]any, kind retake.SignalKind) string {
	f["conversation_id"], f["generation_id"], f["cursor_version"], f["workspace_roots"] = s.session, s.turn, "3.18.9", []string{s.dir}
	switch kind {
	case retake.SignalPrompt:
		f["prompt"] = "<user_query>\n" + s.prompt + "\n</user_query>"
		return "beforeSubmitPrompt"
	case retake.SignalTurnEnd:
		f["status"], f["loop_count"] = "completed", 0
		return "stop"
	default:
	}
	f["command"], f["cwd"], f["sandbox"] = s.command, s.dir, false
	if kind == retake.SignalCall {
		return "beforeShellExecution"
	}
	f["output"], f["duration"] = "ok", 50
	return "afterShellExecution"
}

// fired is what came of one hook.
type fired struct {
	kind  retake.SignalKind
	agent string
	event string
	took  time.Duration
	exit  int
	out   []byte
	err   error
}

// hookPatience is when a hook counts as one that never ends.
const hookPatience = 20 * time.Second

// fire runs the hook as an agent does. Words before the program run it elsewhere.
func (h *home) fire(s *speaker, kind retake.SignalKind, before ...string) fired {
	f := fired{kind: kind, agent: s.agent}
	var payload []byte
	f.event, payload = s.says(kind)
	ctx, cancel := context.WithTimeout(context.Background(), hookPatience)
	defer cancel()
	args := append(before, h.exe, "hook", s.agent)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = s.dir, h.env(), bytes.NewReader(payload), time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	f.took, f.out = time.Since(began), out.Bytes()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		f.exit, f.err = ended.ExitCode(), fmt.Errorf("%.300s", errs.String())
	case err != nil:
		f.exit, f.err = -1, err
	}
	return f
}

// fireAt is the same hook with another clock, which a process of its own cannot be
// given: all but its start runs here.
func (h *home) fireAt(s *speaker, kind retake.SignalKind, c clock.Clock) fired {
	f := fired{kind: kind, agent: s.agent}
	var payload []byte
	f.event, payload = s.says(kind)
	var out bytes.Buffer
	svc := h.client()
	defer svc.Close() //nolint:errcheck // scratch
	began := time.Now()
	f.exit = hook.Run(context.Background(), s.agent, hook.Deps{
		In: bytes.NewReader(payload), Out: &out, Dir: s.dir, Clock: c,
		Protected: func(dir string) bool { return protection.HasMarkAbove(fsx.OS(), dir) },
		Observe:   svc.Observe,
		Enqueue:   func(sig retake.Signal) error { return queue.Put(h.signals(), sig) },
	})
	f.took, f.out = time.Since(began), out.Bytes()
	return f
}

func (h *home) signals() string { return config.SignalsDir(filepath.Join(h.dir, "data")) }

// client asks the daemon, and starts one when none answers.
func (h *home) client() *client.Client {
	return client.New(client.Options{Socket: filepath.Join(h.dir, "run", "daemon.sock"), Version: release(0), Revive: func(context.Context) error {
		_, err := h.ask(h.exe, "daemon", "start")
		return err
	}})
}

// Limits of what an agent waits: half a second more than the hook's own budget. They are
// stretched on a machine that has more to do than it can.
const (
	waitedFor = 2500 * time.Millisecond
	passing   = 1500 * time.Millisecond
	stretch   = 2
)

func (f fired) limit() time.Duration {
	limit := passing
	switch f.kind {
	case retake.SignalPrompt, retake.SignalCall, retake.SignalTurnEnd:
		limit = waitedFor
	}
	if loaded() {
		limit *= stretch
	}
	return limit
}

// loaded reports whether more wants to run than there are processors.
func loaded() bool {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	load, err := strconv.ParseFloat(strings.Fields(string(b))[0], 64)
	return err == nil && load > float64(runtime.NumCPU())
}

// wrong says what an agent must not see of a hook.
func (f fired) wrong() error {
	want := hook.FormatAnswer(f.agent, f.event, retake.Reaction{})
	if want != nil {
		want = append(want, '\n')
	}
	switch {
	case f.exit != 0:
		return fmt.Errorf("%s %s ends with %d: %w", f.agent, f.event, f.exit, f.err)
	case !bytes.Equal(f.out, want):
		return fmt.Errorf("%s %s says %.200q instead of %q", f.agent, f.event, f.out, want)
	case f.took > f.limit():
		return fmt.Errorf("%s %s takes %s of %s", f.agent, f.event, f.took.Round(time.Millisecond), f.limit())
	}
	return nil
}
