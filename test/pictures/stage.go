//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/agents/queue"
)

const (
	patience  = time.Minute
	pollEvery = 5 * time.Millisecond

	agent, agentVersion, agentSession = "claude-code", "2.1.240", "5b1e7c04-9a53-4d6e-8f21-c3a90b7714de"
)

// day is the one on the pictures.
var day = time.Date(2026, time.November, 3, 0, 0, 0, 0, time.UTC)

// stage is the home, the daemon and the tree that the morning is played in.
type stage struct {
	exe, dir string
	clock    hands
	sets     int // how often the clock was set
	svc      *client.Client
	ws       retake.WorkspaceID
}

func newStage(ctx context.Context, dir string) (*stage, error) {
	s := &stage{dir: dir}
	if err := os.MkdirAll(s.home(), 0o755); err != nil {
		return nil, fmt.Errorf("make home: %w", err)
	}
	file := filepath.Join(dir, "hands")
	var err error
	if s.clock, err = newHands(file); err != nil {
		return nil, err
	}
	s.exe, err = build(ctx, dir, file)
	return s, err
}

func (s *stage) home() string { return filepath.Join(s.dir, "home") }

// tree is where the shop is, seen as ~/code/shopfront.
func (s *stage) tree() string { return filepath.Join(s.home(), "code", "shopfront") }

// at sets the clock, "10:27". Seconds grow from one time to the next, so that the time
// between two checkpoints is never less than their clocks say.
func (s *stage) at(clock string) {
	t, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err) // a slip in this program
	}
	s.clock.set(day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(2*s.sets)*time.Second))
	s.sets++
}

// command is any program in a directory of this home. Nothing of the caller's is passed on
// but where programs are.
func (s *stage) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.WaitDelay = dir, 5*time.Second
	when := day.Add(9 * time.Hour).Format(time.RFC3339)
	c.Env = []string{
		"HOME=" + s.home(), "RETAKE_HOME=" + filepath.Join(s.home(), ".retake"), "PATH=" + filepath.Dir(s.exe) + ":/usr/local/bin:/usr/bin:/bin",
		"TERM=xterm", "LANG=C.UTF-8", "TZ=UTC", "SHELL=/bin/sh", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when,
	}
	return c
}

// do runs a line of a shell in the tree.
func (s *stage) do(ctx context.Context, line string) error {
	_, err := s.say(ctx, s.tree(), "sh", "-ec", line)
	return err
}

// say runs a program and answers what it printed.
func (s *stage) say(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	out, err := s.command(ctx, dir, name, args...).CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w: %.600s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return out, nil
}

// retake runs the program in the tree.
func (s *stage) retake(ctx context.Context, args ...string) error {
	_, err := s.say(ctx, s.tree(), s.exe, args...)
	return err
}

// protect takes the first checkpoint, and finds the daemon that took it.
func (s *stage) protect(ctx context.Context) error {
	if err := s.retake(ctx, "init", "--yes"); err != nil {
		return err
	}
	out, err := s.say(ctx, s.tree(), s.exe, "daemon", "start", "--json")
	if err != nil {
		return err
	}
	var at struct{ Socket string }
	if err := json.Unmarshal(out, &at); err != nil || at.Socket == "" {
		return fmt.Errorf("find daemon in %q: %w", out, err)
	}
	s.svc = client.New(client.Options{Socket: at.Socket, Version: "pictures"})
	ws, err := s.svc.Locate(ctx, s.tree())
	if err != nil {
		return fmt.Errorf("locate workspace: %w", err)
	}
	s.ws = ws.ID
	return nil
}

// strike stops the daemon of this home: none may stay.
func (s *stage) strike(err *error) {
	_, stop := s.say(context.Background(), s.home(), s.exe, "daemon", "stop")
	*err = errors.Join(*err, stop)
	if s.svc != nil {
		*err = errors.Join(*err, s.svc.Close())
	}
}

// signal tells what the agent does.
func (s *stage) signal(ctx context.Context, sig retake.Signal) (retake.Reaction, error) {
	sig.ID, sig.Time, sig.Agent, sig.Version, sig.Session, sig.Dir = queue.NewID(), s.clock.now(), agent, agentVersion, agentSession, s.tree()
	r, err := s.svc.Observe(ctx, sig)
	if err == nil && r.Workspace != s.ws {
		err = errors.New("nobody feels concerned")
	}
	if err != nil {
		return r, fmt.Errorf("tell %s: %w", sig.Kind, err)
	}
	return r, nil
}

// prompt begins a turn.
func (s *stage) prompt(ctx context.Context, text string) error {
	_, err := s.signal(ctx, retake.Signal{Kind: retake.SignalPrompt, Prompt: text})
	return err
}

// shell is a call of the agent that really runs.
func (s *stage) shell(ctx context.Context, id, line string) error {
	call := retake.Call{ID: id, Tool: "Bash", Kind: retake.CallShell, Command: line}
	if _, err := s.signal(ctx, retake.Signal{Kind: retake.SignalCall, Call: &call}); err != nil {
		return err
	}
	if err := s.do(ctx, line); err != nil {
		return err
	}
	_, err := s.signal(ctx, retake.Signal{Kind: retake.SignalCalled, Call: &call})
	return err
}

// rest ends a turn with the agent's last words, and waits for its checkpoint and its check.
func (s *stage) rest(ctx context.Context, prompt, words string) error {
	if _, err := s.signal(ctx, retake.Signal{Kind: retake.SignalTurnEnd, Message: words}); err != nil {
		return err
	}
	return s.settled(ctx, func(t retake.Timeline) bool {
		return slices.ContainsFunc(t.Checkpoints, func(c retake.Checkpoint) bool {
			return c.Trigger == retake.TriggerTurn && c.Intent == prompt && len(t.Findings[c.ID].Answers) > 0
		})
	})
}

// settled waits until something is so, every checkpoint has its gist, and no check runs.
func (s *stage) settled(ctx context.Context, holds func(retake.Timeline) bool) error {
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for end := time.Now().Add(patience); ; {
		log, err := s.svc.Log(ctx, retake.LogQuery{Workspace: s.ws})
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if holds(log) && told(log) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("wait for the timeline: %d checkpoints do not settle", len(log.Checkpoints))
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// told reports whether every checkpoint is told, and nothing is being found out.
func told(log retake.Timeline) bool {
	for _, c := range log.Checkpoints {
		f := log.Findings[c.ID]
		if f.Gist == nil || slices.ContainsFunc(f.Answers, func(a retake.Answer) bool { return a.Verdict == retake.Running }) {
			return false
		}
	}
	return true
}

// exitCode is that of a program that ran: 0 when it ended well, -1 when it did not run.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
