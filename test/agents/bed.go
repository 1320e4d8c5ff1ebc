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
	"strings"
	"time"
)

// patience is how long one run of an agent may take. opencode fetches the types
// of its plugins the first time.
const patience = 3 * time.Minute

// bed is one agent with a home, a workspace and a model of its own.
type bed struct {
	agent   agent
	program string // of the agent
	retake  string
	dir     string
	model   *model
	more    []string // of its environment
	checks  []check
	seen    []shown
}

func (b *bed) home() string { return filepath.Join(b.dir, "home") }
func (b *bed) work() string { return filepath.Join(b.home(), "app") }

// play makes the bed, does a scenario in it, and tells how it went.
func (b *bed) play(s scenario) scene {
	began := time.Now()
	err := b.make(s)
	if err == nil {
		err = s.do(b)
	}
	if b.model != nil {
		b.model.close()
	}
	_, _ = b.tell("daemon", "stop") // its home goes
	out := scene{ID: s.id, What: s.what, Checks: b.checks, Seconds: time.Since(began).Round(100 * time.Millisecond).Seconds()}
	if err != nil {
		out.Stopped = err.Error()
	}
	return out
}

func (b *bed) make(s scenario) error {
	for path, text := range map[string]string{
		"package.json":          `{"name":"app","version":"1.0.0","private":true}` + "\n",
		"localpkg/package.json": `{"name":"localpkg","version":"1.0.0","main":"index.js"}` + "\n",
		"localpkg/index.js":     "module.exports = 'local'\n",
		"README.md":             "An app.\n",
	} {
		path = filepath.Join(b.work(), path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	m, err := serve(s.script(b.agent.hands(b.work())), "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.model = m
	for path, text := range b.agent.settings(b) {
		path = filepath.Join(b.home(), path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if _, err := b.tell("init", "--yes"); err != nil {
		return err
	}
	_, err = b.tell("agents", "install", b.agent.name, "--yes")
	return err
}

// command is a process in the workspace that sees nothing of our environment but
// the programs.
func (b *bed) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	path := filepath.Dir(b.program) + ":" + filepath.Dir(b.retake)
	for _, v := range cmd.Environ() {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path += ":" + p
		}
	}
	cmd.Dir = b.work()
	cmd.Env = append([]string{"HOME=" + b.home(), "PATH=" + path, "TERM=xterm-256color", "LANG=C.UTF-8"}, append(b.agent.env(b), b.more...)...)
	together(cmd)
	cmd.Cancel = func() error { return kill(cmd) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// prompt lets the agent do one turn, headless, and waits for its end.
func (b *bed) prompt(argv ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out bytes.Buffer
	cmd := b.command(ctx, argv...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	b.note("run.log", fmt.Sprintf("$ %q\n%s\n", argv, out.Bytes()))
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", b.agent.name, err, last(out.String(), 400))
	}
	return nil
}

// killed lets the agent work until the model holds an answer back and ready says
// so, and kills it with all that it started: hooks that nobody waits for too.
func (b *bed) killed(ready func() bool, argv ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out bytes.Buffer
	cmd := b.command(ctx, argv...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", b.agent.name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-b.model.hung:
	case err := <-ended:
		return fmt.Errorf("run %s: it ended before it was killed: %w: %s", b.agent.name, err, last(out.String(), 400))
	}
	for end := time.Now().Add(10 * time.Second); !ready() && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	err := kill(cmd)
	<-ended
	b.note("run.log", fmt.Sprintf("$ %q\n%s\nkilled\n", argv, out.Bytes()))
	return err
}

// tell runs retake and answers what it prints.
func (b *bed) tell(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errors bytes.Buffer
	cmd := b.command(ctx, append([]string{b.retake}, args...)...)
	cmd.Stderr = &errors
	out, err := cmd.Output()
	b.note("retake.log", fmt.Sprintf("$ retake %s\n%s%s\n", strings.Join(args, " "), out, errors.Bytes()))
	if err != nil {
		return out, fmt.Errorf("retake %s: %w: %s", strings.Join(args, " "), err, last(errors.String(), 400))
	}
	b.show(args, out)
	return out, nil
}

// ask runs retake with --json and reads its answer.
func (b *bed) ask(into any, args ...string) error {
	out, err := b.tell(append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("retake %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

func (b *bed) note(name, text string) {
	f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // a log
	}
	_, err = f.WriteString(text)
	_ = errors.Join(err, f.Close()) // a log
}

// check notes whether something holds.
func (b *bed) check(ok bool, format string, args ...any) {
	b.checks = append(b.checks, check{What: fmt.Sprintf(format, args...), OK: ok})
}

func (b *bed) exists(path string) bool {
	_, err := os.Stat(filepath.Join(b.work(), path))
	return err == nil
}

func last(s string, n int) string { return strings.TrimSpace(s[max(0, len(s)-n):]) }
