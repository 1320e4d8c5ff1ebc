package fakeagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// inherited are the variables that an agent on a page is started with.
var inherited = []string{
	"HOME", "PATH", "TMPDIR", "TZ", "LANG", "TERM", "COLUMNS", "RETAKE_HOME", "RETAKE_SOLO",
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME",
}

func onPage(ts *testscript.TestScript) Places {
	p := Places{Home: ts.Getenv("HOME"), Dir: ts.MkAbs(".")}
	for _, k := range inherited {
		if v := ts.Getenv(k); v != "" {
			p.Env = append(p.Env, k+"="+v)
		}
	}
	return p
}

// Command is fakeagent on a page:
//
//	fakeagent AGENT play FILE     plays a file in the current directory
//	fakeagent AGENT start FILE    the same, while the page goes on
//	fakeagent AGENT finish        waits for what was started
//	fakeagent docker-agent paste  puts the lines of the last stdout where a user would
func Command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf(usage)
	}
	p := onPage(ts)
	switch {
	case args[1] == "start" && len(args) == 3:
		start(ts, args[0], p, ts.ReadFile(args[2]))
	case args[1] == "finish" && len(args) == 2:
		finish(ts, args[0])
	case args[1] == "paste" && args[0] == "docker-agent":
		ts.Check(Paste(p, ts.ReadFile("stdout")))
	case args[1] == "play" && len(args) == 3:
		ts.Check(Run(context.Background(), args[0], p, ts.ReadFile(args[2]), ts.Stdout()))
	default:
		ts.Fatalf(usage)
	}
}

const usage = "use: fakeagent AGENT play FILE | fakeagent AGENT start FILE | fakeagent AGENT finish | fakeagent docker-agent paste"

// started is a play beside its page.
type started struct {
	out  bytes.Buffer // for whoever waited for done
	done chan error
}

// startedKey finds a play by its page and its agent.
type startedKey struct {
	page  *testscript.TestScript
	agent string
}

var plays sync.Map // of *started, by startedKey

// start plays while the page goes on. A page that ends before the play ends it.
func start(ts *testscript.TestScript, name string, p Places, play string) {
	s := &started{done: make(chan error, 1)}
	key := startedKey{ts, name}
	if _, there := plays.LoadOrStore(key, s); there {
		ts.Fatalf("%s plays already", name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	ts.Defer(func() {
		cancel()
		<-ended
		plays.Delete(key)
	})
	go func() {
		defer close(ended)
		s.done <- Run(ctx, name, p, play, &s.out)
	}()
}

// finish waits for a play, and has its lines for stdout.
func finish(ts *testscript.TestScript, name string) {
	v, there := plays.LoadAndDelete(startedKey{ts, name})
	s, ok := v.(*started)
	if !there || !ok {
		ts.Fatalf("%s was not started", name)
	}
	err := <-s.done
	fmt.Fprint(ts.Stdout(), s.out.String())
	ts.Check(err)
}

var errNoHooks = errors.New("there are no lines to paste")

// Paste puts lines that were shown into the document of an agent, as a user does
// who copies them from the screen.
func Paste(p Places, shown string) error {
	var b strings.Builder
	b.WriteString("agents:\n  root:\n    model: a/model\n")
	margin := -1
	for line := range strings.Lines(shown) {
		if word := strings.TrimSpace(line); word == "hooks:" && margin < 0 {
			margin = strings.Index(line, "hooks:")
		}
		if margin >= 0 && strings.HasPrefix(line, strings.Repeat(" ", margin)) {
			b.WriteString("    " + line[margin:])
		}
	}
	if margin < 0 {
		return errNoHooks
	}
	if err := os.WriteFile(filepath.Join(p.Dir, dockerFile), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("paste hooks: %w", err)
	}
	return nil
}

// Wait is await on a page: it asks until the thing is there.
//
//	await checkpoints N               so many checkpoints are listed
//	await intent TEXT             one of them, after a turn, has these words
//	await conversation REF TEXT   what was said up to there holds these words
//	await heard                   no signal waits any more
func Wait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("use: await checkpoints N | intent TEXT | conversation REF TEXT | heard")
	}
	ts.Check(Await(onPage(ts), args...))
}

const patience = 30 * time.Second

var errNever = errors.New("it never came")

// Await asks until the thing is there, or patience is over.
func Await(p Places, want ...string) error {
	seen := ""
	for end := time.Now().Add(patience); ; {
		there, what, err := look(p, want)
		if err != nil || there {
			return err
		}
		seen = what
		if time.Now().After(end) {
			return fmt.Errorf("await %s: %w; there is %s", strings.Join(want, " "), errNever, seen)
		}
		<-time.After(20 * time.Millisecond)
	}
}

var errUse = errors.New("no such thing to wait for")

func look(p Places, want []string) (there bool, seen string, err error) {
	rest := strings.Join(want[1:], " ")
	switch want[0] {
	case "checkpoints":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return false, "", fmt.Errorf("await checkpoints: %w", err)
		}
		list, err := Checkpoints(p)
		return len(list) >= n, fmt.Sprint(list), err
	case "intent":
		list, err := Checkpoints(p)
		for _, m := range list {
			there = there || m.Trigger != "prompt" && strings.Contains(m.Intent, rest) // the one before a turn says its words too
		}
		return there, fmt.Sprint(list), err
	case "conversation":
		out, _ := p.retake("show", want[1], "--conversation") // until it is there this is an error
		return strings.Contains(out, strings.Join(want[2:], " ")), out, nil
	case "heard":
		left, err := filepath.Glob(filepath.Join(p.env("RETAKE_HOME"), "data", "signals", "*.signal"))
		return len(left) == 0, fmt.Sprint(left), err
	}
	return false, "", fmt.Errorf("await %s: %w", want[0], errUse)
}

// Checkpoint is a row of the log.
type Checkpoint struct {
	Number  int64  `json:"number"`
	Trigger string `json:"trigger"`
	Intent  string `json:"intent"`
	Turn    *struct {
		Agent  string `json:"agent"`
		Prompt string `json:"prompt"`
		Risk   string `json:"risk"`
		Failed string `json:"failed"`
	} `json:"turn"`
}

// Checkpoints lists the checkpoints of a workspace, the newest first.
func Checkpoints(p Places) ([]Checkpoint, error) {
	out, err := p.retake("log", "--json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Checkpoints []Checkpoint `json:"checkpoints"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return list.Checkpoints, nil
}

// retake runs the program that PATH finds.
func (p Places) retake(args ...string) (string, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", `exec retake "$@"`, "retake"}, args...)...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("run retake %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
