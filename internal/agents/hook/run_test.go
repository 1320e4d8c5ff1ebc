package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/platform/clock"
)

const (
	prompting = `{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":"/home/dev/shop","prompt":"go"}`
	calling   = `{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/home/dev/shop","tool_name":"Bash","tool_input":{"command":"ls"}}`
	stopping  = `{"hook_event_name":"Stop","session_id":"s1","cwd":"/home/dev/shop"}`
	todo      = `{"hook_event_name":"PostToolUse","session_id":"s1","cwd":"/home/dev/shop","tool_name":"TodoWrite","tool_input":{"todos":[{"content":"a","status":"pending"}]},"tool_response":{}}`
	shelling  = `{"hook_event_name":"beforeShellExecution","conversation_id":"c1","workspace_roots":["/home/dev/shop"],"command":"ls"}`
)

// bench is the world around one run: a service that hears, and a spool.
type bench struct {
	out      bytes.Buffer
	mu       sync.Mutex
	observed []retake.Signal
	spooled  []retake.Signal
	troubles []string
	observe  func(ctx context.Context, s retake.Signal) (retake.Reaction, error)
}

// deps have budgets that a busy machine does not spend.
func (b *bench) deps(in string) hook.Deps {
	return hook.WithBudget(hook.Deps{
		In: strings.NewReader(in), Out: &b.out, Dir: "/home/dev/work",
		Clock:     clock.NewManual(time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC)),
		Protected: func(dir string) bool { return dir == "/home/dev/shop" },
		Observe: func(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
			b.mu.Lock()
			b.observed = append(b.observed, s)
			b.mu.Unlock()
			if b.observe != nil {
				return b.observe(ctx, s)
			}
			return retake.Reaction{Note: "mind"}, nil
		},
		Enqueue: func(s retake.Signal) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.spooled = append(b.spooled, s)
			return nil
		},
		LogError: func(s string) { b.troubles = append(b.troubles, s) },
	}, time.Minute)
}

func (b *bench) want(t *testing.T, code, observed, spooled int, out string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if code != 0 || len(b.observed) != observed || len(b.spooled) != spooled || b.out.String() != out {
		t.Errorf("exit %d, observed %d, spooled %d, out %q; want 0, %d, %d, %q; troubles %q",
			code, len(b.observed), len(b.spooled), b.out.String(), observed, spooled, out, b.troubles)
	}
}

func TestRunTells(t *testing.T) {
	t.Parallel()
	var b bench
	code := hook.Run(t.Context(), "claude-code", b.deps(prompting))
	b.want(t, code, 1, 0, `{"hookSpecificOutput":{"additionalContext":"mind","hookEventName":"UserPromptSubmit"}}`+"\n")
	s := b.observed[0]
	if !strings.HasPrefix(string(s.ID), retake.SignalPrefix) || len(s.ID) != len(retake.SignalPrefix)+36 || s.Prompt != "go" || s.Time.Year() != 2026 {
		t.Errorf("signal %+v", s)
	}
}

// TestRunHung holds a daemon that never answers to the budgets, by a clock that
// moves only when everybody waits.
func TestRunHung(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		agent, payload, out string
		budget              time.Duration
	}{
		{"claude-code", prompting, missed("systemMessage", "the daemon did not answer in time"), 2 * time.Second},
		{"claude-code", calling, missed("systemMessage", "the daemon did not answer in time"), 2 * time.Second},
		{"claude-code", stopping, "", 2 * time.Second},
		{"cursor", shelling, `{"agent_message":"` + missedText("the daemon did not answer in time") + `","permission":"allow","user_message":"` + missedText("the daemon did not answer in time") + "\"}\n", 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := bench{observe: func(ctx context.Context, _ retake.Signal) (retake.Reaction, error) {
				<-ctx.Done()
				return retake.Reaction{}, ctx.Err()
			}}
			early, late := time.AfterFunc(test.budget-time.Millisecond, func() {}), time.AfterFunc(test.budget+time.Millisecond, func() {})
			code := hook.Run(t.Context(), test.agent, hook.Usual(b.deps(test.payload)))
			b.want(t, code, 1, 1, test.out)
			if diff := cmp.Diff(b.observed, b.spooled); diff != "" {
				t.Errorf("what was spooled is not what was told\n%s", diff)
			}
			if early.Stop() || !late.Stop() {
				t.Errorf("%s did not end at %v", test.payload, test.budget)
			}
		})
	}
}

// TestRunDeaf has a service that heeds no context: the first signal waits for it,
// the second does not.
func TestRunDeaf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		b := bench{observe: func(context.Context, retake.Signal) (retake.Reaction, error) {
			<-stuck
			return retake.Reaction{}, nil
		}}
		late := time.AfterFunc(1500*time.Millisecond, func() {})
		code := hook.Run(t.Context(), "claude-code", hook.Usual(b.deps(todo)))
		b.want(t, code, 1, 2, "")
		if !late.Stop() {
			t.Error("the second signal waited too")
		}
		if b.spooled[0].Kind != retake.SignalCalled || b.spooled[1].Kind != retake.SignalTasks {
			t.Errorf("spooled %v, %v: not in order", b.spooled[0].Kind, b.spooled[1].Kind)
		}
		close(stuck)
	})
}

// missed is the answer of an agent's hook that no checkpoint was taken.
func missed(field, why string) string { return `{"` + field + `":"` + missedText(why) + "\"}\n" }

func missedText(why string) string {
	return "Retake could not take a checkpoint here: " + why + ". What the agent changes now may not be undone. See: retake status"
}

// Every agent is told in its own way that no checkpoint was taken, at the events before which one
// is taken.
func TestEveryAgentIsTold(t *testing.T) {
	t.Parallel()
	warned := retake.Reaction{Warnings: []retake.Warning{{Code: "not-protected", Text: "no checkpoint"}}}
	for agent, at := range map[string]struct{ event, want string }{
		"claude-code":  {"PreToolUse", `{"systemMessage":"no checkpoint"}`},
		"codex":        {"UserPromptSubmit", `{"systemMessage":"no checkpoint"}`},
		"droid":        {"UserPromptSubmit", `{"systemMessage":"no checkpoint"}`},
		"gemini":       {"BeforeAgent", `{"systemMessage":"no checkpoint"}`},
		"copilot":      {"UserPromptSubmit", `{"hookSpecificOutput":{"additionalContext":"no checkpoint","hookEventName":"UserPromptSubmit"}}`},
		"pi":           {"UserPromptSubmit", `{"hookSpecificOutput":{"additionalContext":"no checkpoint","hookEventName":"UserPromptSubmit"}}`},
		"docker-agent": {"user_prompt_submit", `{"system_message":"no checkpoint"}`},
		"opencode":     {"chat.message", `{"note":"no checkpoint"}`},
		"cline":        {"UserPromptSubmit", `{"cancel":false,"contextModification":"no checkpoint"}`},
		"cursor":       {"beforeShellExecution", `{"agent_message":"no checkpoint","permission":"allow","user_message":"no checkpoint"}`},
	} {
		if got := string(hook.FormatAnswer(agent, at.event, warned)); got != at.want {
			t.Errorf("%s: %s, want %s", agent, got, at.want)
		}
	}
}

func TestRunError(t *testing.T) {
	t.Parallel()
	b := bench{observe: func(context.Context, retake.Signal) (retake.Reaction, error) {
		return retake.Reaction{Note: "not heard"}, errors.New("no daemon")
	}}
	b.want(t, hook.Run(t.Context(), "claude-code", b.deps(prompting)), 1, 1, missed("systemMessage", "the daemon cannot be reached"))
	if len(b.troubles) != 1 || !strings.Contains(b.troubles[0], "no daemon") {
		t.Errorf("troubles %q", b.troubles)
	}
}

func TestRunCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := bench{observe: func(ctx context.Context, _ retake.Signal) (retake.Reaction, error) {
		cancel() // the agent gives up
		<-ctx.Done()
		return retake.Reaction{}, ctx.Err()
	}}
	b.want(t, hook.Run(ctx, "claude-code", b.deps(stopping)), 1, 1, "")
}

func TestRunUnprotected(t *testing.T) {
	t.Parallel()
	for agent, payload := range map[string]string{"claude-code": prompting, "cursor": shelling} {
		var b bench
		d := b.deps(payload)
		var asked []string
		d.Protected = func(dir string) bool { asked = append(asked, dir); return false }
		want := ""
		if agent == "cursor" {
			want = `{"permission":"allow"}` + "\n"
		}
		b.want(t, hook.Run(t.Context(), agent, d), 0, 0, want)
		if diff := cmp.Diff([]string{"/home/dev/shop"}, asked); diff != "" {
			t.Errorf("asked for other directories\n%s", diff)
		}
	}
}

// An agent that went elsewhere in the middle of a turn still works for the project that it was started in.
func TestRunElsewhere(t *testing.T) {
	t.Parallel()
	for agent, payload := range map[string]string{"claude-code": prompting, "cursor": shelling} {
		var b bench
		d := b.deps(payload)
		d.Project = "/home/dev/project"
		d.Protected = func(dir string) bool { return dir == d.Project }
		hook.Run(t.Context(), agent, d)
		dir := map[string]string{"claude-code": d.Project, "cursor": "/home/dev/shop"}[agent]
		if len(b.observed) != 1 || b.observed[0].Dir != dir {
			t.Errorf("%s: observed %+v, want the directory %s", agent, b.observed, dir)
		}
	}
}

func TestRunPanic(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*hook.Deps){
		"observe":   func(d *hook.Deps) { d.Observe = nil },
		"protected": func(d *hook.Deps) { d.Protected = func(string) bool { panic("no") } },
		"spool": func(d *hook.Deps) {
			d.Observe, d.Enqueue = nil, func(retake.Signal) error { panic("no") }
		},
		"trouble": func(d *hook.Deps) { d.Observe, d.LogError = nil, func(string) { panic("no") } },
		"clock":   func(d *hook.Deps) { d.Clock = nil },
		"in":      func(d *hook.Deps) { d.In = nil },
	} {
		var b bench
		d := b.deps(shelling)
		spoil(&d)
		code := hook.Run(t.Context(), "cursor", d)
		if out := b.out.String(); code != 0 || !strings.Contains(out, `"permission":"allow"`) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: exit %d, out %q", name, code, out)
		}
		if name == "observe" && len(b.spooled) != 1 {
			t.Errorf("spooled %d signals of a panic", len(b.spooled))
		}
	}
	d := (&bench{}).deps(shelling)
	d.Out = nil
	if code := hook.Run(t.Context(), "cursor", d); code != 0 {
		t.Errorf("without an output: exit %d", code)
	}
}

func TestRunJunk(t *testing.T) {
	t.Parallel()
	big := `{"conversation_id":"c1","hook_event_name":"beforeReadFile","content":"` + strings.Repeat("x", hook.MaxPayload) + `"}`
	for _, test := range []struct{ agent, payload, out string }{
		{"claude-code", "", ""}, {"claude-code", "junk", ""}, {"claude-code", big, ""}, {"docker-agent", "junk", ""},
		{"cursor", "", `{"continue":true,"permission":"allow"}` + "\n"},
		{"cursor", `{"hook_event_name":"beforeSubmitPrompt",`, `{"continue":true}` + "\n"},
		{"cursor", `{"hook_event_name":"stop",`, `{"continue":true,"permission":"allow"}` + "\n"},
		{"cursor", big, `{"permission":"allow"}` + "\n"},
		{"cline", "junk", `{"cancel":false}` + "\n"},
		{"no-such-agent", prompting, ""}, {"", prompting, ""},
	} {
		var b bench
		d := b.deps("")
		in := strings.NewReader(test.payload)
		d.In = in
		b.want(t, hook.Run(t.Context(), test.agent, d), 0, 0, test.out)
		if in.Len() != 0 {
			t.Errorf("%s: %d bytes were left in the pipe", test.agent, in.Len())
		}
		if len(b.troubles) == 0 {
			t.Errorf("%s %.20q: nothing was logged", test.agent, test.payload)
		}
	}
}

// TestRunOpenInput leaves stdin open: behind a payload, which is heard at once, and
// without one.
func TestRunOpenInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for payload, observed := range map[string]int{"\xef\xbb\xbf" + prompting: 1, "{": 0} {
			in, agent := io.Pipe()
			go func() { _, _ = io.WriteString(agent, payload) }()
			var b bench
			d := hook.Usual(b.deps(""))
			d.In = in
			late := time.AfterFunc(time.Duration(4-observed*3)*time.Second-time.Millisecond, func() {})
			code := hook.Run(t.Context(), "claude-code", d)
			if inTime := late.Stop(); code != 0 || len(b.observed) != observed || !inTime {
				t.Errorf("%q: exit %d, observed %d, in time %v", payload, code, len(b.observed), inTime)
			}
			_ = agent.Close()
		}
	})
}

func TestRunWorktree(t *testing.T) {
	t.Parallel()
	create := `{"hook_event_name":"WorktreeCreate","session_id":"s1","cwd":"/srv/other","name":"../x/y"}`
	remove := `{"hook_event_name":"WorktreeRemove","session_id":"s1","cwd":"/srv/other","worktree_path":"/srv/other-x"}`
	for _, test := range []struct {
		payload, path string
		err           error
		out           string
		want          hook.WorktreeRequest
	}{
		{create, "/srv/other-x", nil, "/srv/other-x\n", hook.WorktreeRequest{Name: "x-y", Dir: "/srv/other"}},
		{create, "relative", nil, "", hook.WorktreeRequest{Name: "x-y", Dir: "/srv/other"}},
		{create, "/srv/two\nlines", nil, "", hook.WorktreeRequest{Name: "x-y", Dir: "/srv/other"}},
		{create, "/srv/other-x", errors.New("no space"), "", hook.WorktreeRequest{Name: "x-y", Dir: "/srv/other"}},
		{remove, "/srv/other-x", nil, "", hook.WorktreeRequest{Remove: "/srv/other-x", Dir: "/srv/other"}},
	} {
		var b bench
		d := b.deps(test.payload)
		var asked []hook.WorktreeRequest
		d.Worktree = func(_ context.Context, w hook.WorktreeRequest) (string, error) {
			asked = append(asked, w)
			return test.path, test.err
		}
		b.want(t, hook.Run(t.Context(), "claude-code", d), 0, 0, test.out)
		if diff := cmp.Diff([]hook.WorktreeRequest{test.want}, asked); diff != "" {
			t.Errorf("%s\n%s", test.payload, diff)
		}
	}
	var b bench
	b.want(t, hook.Run(t.Context(), "claude-code", b.deps(create)), 0, 0, "")
}

func TestRunExternal(t *testing.T) {
	t.Parallel()
	good := `{"kind":"prompt","session":"s1","dir":"/home/dev/shop","prompt":"go","agent":"codex","id":"sg_mine","time":"2001-01-01T00:00:00Z"}`
	for _, test := range []struct {
		said     string
		err      error
		observed int
		out      string
	}{
		{fmt.Sprintf(`{"v":1,"signals":[%s],"answer":{"n":12345678901234567890}}`, good), nil, 1, `{"n":12345678901234567890}` + "\n"},
		{fmt.Sprintf(`{"v":1,"signals":[{"kind":7},%s,{"kind":"prompt","session":"a/b"},{"kind":"odd","session":"s"}],"answer":null}`, good), nil, 1, ""},
		{fmt.Sprintf(`{"v":1,"signals":[%s]}`, strings.TrimSuffix(strings.Repeat(good+",", 80), ",")), nil, 64, ""},
		{fmt.Sprintf(`{"v":1,"signals":[%s],"answer":{"deep":[{"permissionDecision":"Allow"}]}}`, good), nil, 1, ""},
		{fmt.Sprintf(`{"v":1,"signals":[%s],"answer":"text"}`, good), nil, 1, ""},
		{fmt.Sprintf(`{"v":2,"signals":[%s],"answer":{}}`, good), nil, 0, ""},
		{`junk`, nil, 0, ""}, {``, nil, 0, ""}, {`{}`, nil, 0, ""},
		{fmt.Sprintf(`{"v":1,"signals":[%s],"answer":{}}`, good), errors.New("exit 1"), 0, ""},
	} {
		var b bench
		d := b.deps(`{"any":"thing"}`)
		d.External = func(_ context.Context, name string, payload []byte) ([]byte, error) {
			if name != "wild-one" || string(payload) != `{"any":"thing"}` {
				t.Errorf("asked %q with %q", name, payload)
			}
			return []byte(test.said), test.err
		}
		b.want(t, hook.Run(t.Context(), "wild-one", d), test.observed, 0, test.out)
		for _, s := range b.observed {
			if s.Agent != "wild-one" || s.ID == "sg_mine" || s.Time.Year() != 2026 {
				t.Errorf("signal %+v", s)
			}
		}
	}
}

func TestRunExternalName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "../x", "-rf", "A", "a b", "a/b", strings.Repeat("a", 65)} {
		var b bench
		d := b.deps(prompting)
		d.External = func(context.Context, string, []byte) ([]byte, error) {
			t.Errorf("%q was run", name)
			return nil, nil
		}
		b.want(t, hook.Run(t.Context(), name, d), 0, 0, "")
	}
}
