//go:build linux

package daemonbed

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

// What a checkpoint of an agent may take beside a plain save of the same files: both are
// medians of one run, and either is enough.
const (
	ContextSlack = 50 * time.Millisecond
	ContextTimes = 2
	TwinFiles    = 60
	EnoughTurns  = 9
)

// Agents whose hooks are fired, and the events of one turn in their order.
var (
	HookAgents = []string{"claude-code", "codex", "gemini", "cursor"}
	TurnEvents = []retake.SignalKind{retake.SignalPrompt, retake.SignalCall, retake.SignalCalled, retake.SignalTurnEnd}
)

// Speaker is one session of an agent, and the turn that it is in.
type Speaker struct {
	Agent, Session, Dir, Transcript string

	Turn    string // the agent's own name for it; "" when it has none
	Prompt  string // unique
	command string
}

func NewSpeaker(agent, dir, transcript string) *Speaker {
	return &Speaker{Agent: agent, Session: uuid.NewString(), Dir: dir, Transcript: transcript}
}

// Begin makes the next turn.
func (s *Speaker) Begin(name string, risky bool) {
	s.Turn, s.Prompt, s.command = uuid.NewString(), "Work on "+name, "ls -l"
	if s.Agent == "gemini" {
		s.Turn = ""
	}
	if risky {
		s.command = "rm -rf build"
	}
}

// Says is an event as the agent writes it, and the agent's name for it.
func (s *Speaker) Says(kind retake.SignalKind) (event string, payload []byte) {
	f := map[string]any{"transcript_path": s.Transcript}
	switch s.Agent {
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
func (s *Speaker) claude(f map[string]any, kind retake.SignalKind) string {
	f["session_id"], f["cwd"], f["permission_mode"] = s.Session, s.Dir, "default"
	f[map[string]string{"claude-code": "prompt_id", "codex": "turn_id"}[s.Agent]] = s.Turn
	switch kind {
	case retake.SignalPrompt:
		f["prompt"], f["source"] = s.Prompt, "user"
		return "UserPromptSubmit"
	case retake.SignalTurnEnd:
		f["stop_hook_active"], f["last_assistant_message"] = false, "Done: "+s.Prompt
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

func (s *Speaker) gemini(f map[string]any, kind retake.SignalKind) string {
	f["session_id"], f["cwd"], f["timestamp"] = s.Session, s.Dir, "2026-11-14T09:12:44.120Z"
	switch kind {
	case retake.SignalPrompt:
		f["prompt"] = s.Prompt
		return "BeforeAgent"
	case retake.SignalTurnEnd:
		f["prompt"], f["prompt_response"], f["stop_hook_active"] = s.Prompt, "Done: "+s.Prompt, false
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

func (s *Speaker) cursor(f map[string]any, kind retake.SignalKind) string {
	f["conversation_id"], f["generation_id"], f["cursor_version"], f["workspace_roots"] = s.Session, s.Turn, "3.18.9", []string{s.Dir}
	switch kind {
	case retake.SignalPrompt:
		f["prompt"] = "<user_query>\n" + s.Prompt + "\n</user_query>"
		return "beforeSubmitPrompt"
	case retake.SignalTurnEnd:
		f["status"], f["loop_count"] = "completed", 0
		return "stop"
	default:
	}
	f["command"], f["cwd"], f["sandbox"] = s.command, s.Dir, false
	if kind == retake.SignalCall {
		return "beforeShellExecution"
	}
	f["output"], f["duration"] = "ok", 50
	return "afterShellExecution"
}

// Fired is what came of one hook.
type Fired struct {
	Kind  retake.SignalKind
	agent string
	event string
	Took  time.Duration
	exit  int
	out   []byte
	err   error
}

// hookPatience is when a hook counts as one that never ends.
const hookPatience = 20 * time.Second

// Fire runs the hook as an agent does. Words before the program run it elsewhere.
func (h *Home) Fire(s *Speaker, kind retake.SignalKind, before ...string) Fired {
	f := Fired{Kind: kind, agent: s.Agent}
	var payload []byte
	f.event, payload = s.Says(kind)
	ctx, cancel := context.WithTimeout(context.Background(), hookPatience)
	defer cancel()
	args := append(before, h.Exe, "hook", s.Agent)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = s.Dir, h.Env(), bytes.NewReader(payload), time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	f.Took, f.out = time.Since(began), out.Bytes()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		f.exit, f.err = ended.ExitCode(), fmt.Errorf("%.300s", errs.String())
	case err != nil:
		f.exit, f.err = -1, err
	}
	return f
}

// FireAt is the same hook with another clock, which a process of its own cannot be
// given: all but its start runs here.
func (h *Home) FireAt(s *Speaker, kind retake.SignalKind, c clock.Clock) Fired {
	f := Fired{Kind: kind, agent: s.Agent}
	var payload []byte
	f.event, payload = s.Says(kind)
	var out bytes.Buffer
	svc := h.Client()
	defer svc.Close() //nolint:errcheck // scratch
	began := time.Now()
	f.exit = hook.Run(context.Background(), s.Agent, hook.Deps{
		In: bytes.NewReader(payload), Out: &out, Dir: s.Dir, Clock: c,
		Protected: func(dir string) bool { return protection.HasMarkAbove(fsx.OS(), dir) },
		Observe:   svc.Observe,
		Enqueue:   func(sig retake.Signal) error { return queue.Put(h.Signals(), sig) },
	})
	f.Took, f.out = time.Since(began), out.Bytes()
	return f
}

func (h *Home) Signals() string { return config.SignalsDir(filepath.Join(h.Dir, "data")) }

// Client asks the daemon, and starts one when none answers.
func (h *Home) Client() *client.Client {
	return client.New(client.Options{Socket: filepath.Join(h.Dir, "run", "daemon.sock"), Version: Release(0), Revive: func(context.Context) error {
		_, err := h.Ask(h.Exe, "daemon", "start")
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

func (f Fired) limit() time.Duration {
	limit := passing
	switch f.Kind {
	case retake.SignalPrompt, retake.SignalCall, retake.SignalTurnEnd:
		limit = waitedFor
	default: // nobody waits for these
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

// saysMissed reports whether the hook says that no checkpoint was taken, and nothing that holds
// the agent up.
func (f Fired) saysMissed() bool {
	if f.Kind != retake.SignalPrompt && f.Kind != retake.SignalCall || !bytes.Contains(f.out, []byte("could not take a checkpoint")) {
		return false
	}
	var said struct {
		Permission, Decision string
		Continue             *bool
	}
	return json.Unmarshal(f.out, &said) == nil && (said.Permission == "" || said.Permission == "allow") && said.Decision == "" && (said.Continue == nil || *said.Continue)
}

// Wrong says what an agent must not see of a hook.
func (f Fired) Wrong() error {
	want := hook.FormatAnswer(f.agent, f.event, retake.Reaction{})
	if want != nil {
		want = append(want, '\n')
	}
	switch {
	case f.exit != 0:
		return fmt.Errorf("%s %s ends with %d: %w", f.agent, f.event, f.exit, f.err)
	case !bytes.Equal(f.out, want) && !f.saysMissed():
		return fmt.Errorf("%s %s says %.200q instead of %q", f.agent, f.event, f.out, want)
	case f.Took > f.limit():
		return fmt.Errorf("%s %s takes %s of %s", f.agent, f.event, f.Took.Round(time.Millisecond), f.limit())
	}
	return nil
}
