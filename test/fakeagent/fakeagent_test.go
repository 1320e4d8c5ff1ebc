//go:build unix

package fakeagent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake/test/fakeagent"
)

var program string // the built binary

func TestMain(m *testing.M) {
	if handled, exit := fakeagent.Inner(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "retake-fakeagent")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "retake")
	if out, err := exec.Command("go", "build", "-tags", "testing", "-ldflags", "-s -w", "-o", dir+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// bed is a workspace that is protected, with a daemon of its own.
func bed(t *testing.T) fakeagent.Places {
	t.Helper()
	p := places(t)
	t.Cleanup(func() { retake(t, p, "daemon", "stop") })
	retake(t, p, "init")
	return p
}

// places is a home and a directory to work in.
func places(t *testing.T) fakeagent.Places {
	t.Helper()
	top := t.TempDir()
	user, home, ws := filepath.Join(top, "user"), filepath.Join(top, "home"), filepath.Join(top, "ws")
	for _, d := range []string{user, home, filepath.Join(ws, "src")} {
		must(t, os.MkdirAll(d, 0o700))
	}
	must(t, os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"floor":"1KB"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(ws, "src", "a.txt"), []byte("one\n"), 0o644))
	return fakeagent.Places{Home: user, Dir: ws, Env: []string{
		"HOME=" + user, "RETAKE_HOME=" + home, "TZ=UTC", "LANG=C.UTF-8",
		"PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func retake(t *testing.T, p fakeagent.Places, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("retake %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// install puts the hooks in as a user does.
func install(t *testing.T, p fakeagent.Places, agent string) {
	t.Helper()
	retake(t, p, "agents", "install", agent, "--yes")
}

func play(t *testing.T, p fakeagent.Places, agent, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := fakeagent.Run(t.Context(), agent, p, text, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

const job = `
prompt make a page
write page.txt hello
edit src/a.txt two
read src/a.txt
todo [x] the page [ ] the style
stop The page is there.

prompt throw the sources away
shell rm -rf src
shell ls nowhere
stop The sources are gone.

prompt say something
stop Something.
end
`

// eachAgent runs a test for every agent that can be played here.
func eachAgent(t *testing.T, f func(*testing.T, string, fakeagent.Places)) {
	t.Helper()
	for _, agent := range fakeagent.Names() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			if why := fakeagent.Missing(agent); why != "" {
				t.Skip(why)
			}
			p := bed(t)
			install(t, p, agent)
			f(t, agent, p)
		})
	}
}

// Every agent does the same job: its hooks are accepted, its three turns are listed
// with their prompts, and what it deletes was saved before.
func TestStandardJob(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string, p fakeagent.Places) {
		play(t, p, agent, job)
		for _, prompt := range []string{"make a page", "throw the sources away", "say something"} {
			must(t, fakeagent.Await(p, "intent", prompt))
		}
		list, err := fakeagent.Checkpoints(p)
		must(t, err)
		var turns []string
		for _, m := range list {
			if m.Trigger == "turn" {
				turns = append(turns, m.Turn.Prompt+m.Turn.Failed)
			}
		}
		if got, want := strings.Join(turns, ", "), "say something, throw the sources away, make a page"; got != want {
			t.Errorf("turns are %q, want %q", got, want)
		}
		risk := find(t, list, "before `rm -rf src`")
		if risk.Trigger != "risk" || risk.Turn == nil || risk.Turn.Risk == "" || risk.Turn.Agent != agent {
			t.Errorf("before the deletion there is %+v", risk)
		}
		if got := retake(t, p, "cat", fmt.Sprint(risk.Number), "src/a.txt"); got != "two\n" {
			t.Errorf("before the deletion src/a.txt is %q", got)
		}
	})
}

func find(t *testing.T, list []fakeagent.Checkpoint, intent string) fakeagent.Checkpoint {
	t.Helper()
	for _, m := range list {
		if m.Intent == intent {
			return m
		}
	}
	t.Fatalf("no checkpoint says %q: %+v", intent, list)
	return fakeagent.Checkpoint{}
}

// Every agent but Cursor, which takes none, is told once that files were taken back.
func TestTakenBackIsTold(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string, p fakeagent.Places) {
		play(t, p, agent, "prompt make a page\nwrite page.txt hello\nstop Done.")
		must(t, fakeagent.Await(p, "intent", "make a page"))
		retake(t, p, "undo", "--yes")
		expect := `expect-note The turn "make a page"`
		if agent == "cursor" {
			expect = "expect-silent"
		}
		play(t, p, agent, "prompt go on\n"+expect+"\nstop Done.\nprompt once more\nexpect-silent\nstop Done.")
		must(t, fakeagent.Await(p, "intent", "once more"))
	})
}

// What was said is kept with the turn, although it is flushed after the end.
func TestConversationIsKept(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude-code", "codex", "gemini"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			p := bed(t)
			install(t, p, agent)
			play(t, p, agent, "prompt make a page\nwrite page.txt hello\nstop The page is there.")
			must(t, fakeagent.Await(p, "intent", "make a page"))
			must(t, fakeagent.Await(p, "conversation", "latest", "The page is there."))
			play(t, p, agent, "prompt say something\nshell echo hello\nstop Something was said.")
			must(t, fakeagent.Await(p, "intent", "say something"))
			must(t, fakeagent.Await(p, "conversation", "latest", "Something was said."))
			list, err := fakeagent.Checkpoints(p)
			must(t, err)
			first, last := find(t, list, "make a page"), find(t, list, "say something")
			if out := retake(t, p, "show", fmt.Sprint(first.Number), "--conversation"); strings.Contains(out, "say something") || strings.Contains(out, "not complete") {
				t.Errorf("the conversation of the first turn is\n%s", out)
			}
			if out := retake(t, p, "show", fmt.Sprint(last.Number), "--conversation"); !strings.Contains(out, "make a page") || strings.Contains(out, "not complete") {
				t.Errorf("the conversation of the last turn is\n%s", out)
			}
		})
	}
}

// A hook that is killed at its time-out stops the agents that say so, and no other.
func TestTimeOut(t *testing.T) {
	t.Parallel()
	for agent, expect := range map[string]string{
		"claude-code": "expect-fault timed out", "gemini": "expect-fault timed out", "cursor": "expect-fault timed out",
		"docker-agent": "expect-stop timed out", "copilot": "expect-stop timed out",
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			p := bed(t)
			install(t, p, agent)
			play(t, p, agent, "prompt hello")
			hang(t, p)
			play(t, p, agent, "slow 200ms\nshell touch made.txt\n"+expect)
			_, err := os.Stat(filepath.Join(p.Dir, "made.txt"))
			if stopped := strings.HasPrefix(expect, "expect-stop"); (err != nil) != stopped {
				t.Errorf("the tool ran: %v, stopped: %v", err == nil, stopped)
			}
		})
	}
}

// hang stops the daemon until the test is over.
func hang(t *testing.T, p fakeagent.Places) {
	t.Helper()
	var at struct {
		About struct {
			PID int `json:"pid"`
		} `json:"about"`
	}
	must(t, json.Unmarshal([]byte(retake(t, p, "daemon", "status", "--json")), &at))
	must(t, syscall.Kill(at.About.PID, syscall.SIGSTOP))
	t.Cleanup(func() { must(t, syscall.Kill(at.About.PID, syscall.SIGCONT)) })
	for end := time.Now().Add(time.Minute); !stopped(at.About.PID); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the daemon does not stop")
		}
	}
}

// stopped reports whether every thread of a process stands still: one that is just at work
// may answer before it hears of the signal. Where that cannot be told it is so.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return true
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if _, state, found := strings.Cut(string(text), ") "); err == nil && found && !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}

// The fake is no rubber stamp: hooks that answer wrongly fail its play, each in the
// way of its agent.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, agent, program, want string }{
		{"exit 2", "claude-code", "exit 2", "UserPromptSubmit: exit code 2"},
		{"exit 1", "codex", "exit 1", "UserPromptSubmit: exit code 1"},
		{"text", "gemini", "echo hello", "BeforeAgent: stdout is not JSON"},
		{"silence", "cursor", "exit 0", "the answer is not JSON"},
		{"denied", "cursor", `echo '{"permission":"deny","continue":true}'`, "deny"},
		{"allowed", "claude-code", `echo '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","permissionDecision":"allow"}}'`, "permission is given"},
		{"another event", "droid", `echo '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}'`, "an answer to Stop"},
		{"unknown key", "codex", `echo '{"note":"x"}'`, "the key note"},
		{"broken JSON", "claude-code", `echo '{"a":'`, "JSON that cannot be read"},
		{"spelling", "docker-agent", `echo '{"hookSpecificOutput":{}}'`, "in another spelling"},
		{"no object", "cline", "exit 0", "no answer"},
	}
	for _, c := range cases {
		t.Run(c.agent+" "+c.name, func(t *testing.T) {
			t.Parallel()
			p := places(t)
			install(t, p, c.agent)
			bin := t.TempDir()
			must(t, os.WriteFile(filepath.Join(bin, "retake"), []byte("#!/bin/sh\ncat >/dev/null\n"+c.program+"\n"), 0o755))
			for i, kv := range p.Env {
				if rest, ok := strings.CutPrefix(kv, "PATH="); ok {
					p.Env = append(slices.Clone(p.Env[:i]), "PATH="+bin+string(filepath.ListSeparator)+rest)
				}
			}
			err := fakeagent.Run(t.Context(), c.agent, p, "prompt hello", io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the play ends with %v, want %q", err, c.want)
			}
		})
	}
}
