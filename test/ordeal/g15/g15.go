//go:build linux

// Package g15 lays canaries in a workspace: nothing that it holds may ever be run.
package g15

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G15", nothingRuns) }

// nothingRuns: repositories that hold commands for every program which may read them
// live a whole life with us, from the protection to forks and tools for agents. None of
// these commands runs.
func nothingRuns(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G15", What: "nothing that a workspace holds is run: canaries in a whole life", Control: "git status and git diff in the same repositories", Detail: map[string]any{}}
	start := time.Now()
	c, err := newCage(r)
	if err != nil {
		v.Fail("%v", err)
		return []harness.Verdict{v}
	}
	var sang []string
	for _, k := range canaries {
		v.Tried++
		if err := c.life(k); err != nil {
			v.Fail("%s: %v", k.name, err)
		}
		if c.git(k) {
			sang = append(sang, k.name)
		}
	}
	c.h.Kill()
	daemonbed.Await(func() bool { return len(c.h.Daemons()) == 0 })
	v.Caught = int64(len(sang))
	v.Detail["canaries"], v.Detail["commands"], v.Detail["sang_for_git"] = len(canaries), c.commands, sang
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// cage is a home, and a directory in which a canary leaves its name when it is run.
type cage struct {
	h        *daemonbed.Home
	dir      string
	fired    string
	commands int
}

func newCage(r *harness.Run) (*cage, error) {
	h, err := daemonbed.Furnished(context.Background(), r, 1)
	if err != nil {
		return nil, err
	}
	c := &cage{h: h, dir: r.Scratch("cage"), fired: r.Scratch("fired")}
	return c, nil
}

func (c *cage) root(k canary) string { return filepath.Join(c.dir, k.name) }

// song is what a canary runs: it leaves a name, and behaves as any filter would.
func (c *cage) song(k canary) string {
	return fmt.Sprintf("#!/bin/sh\n: > '%s/%s'\n[ -t 0 ] || cat\nexit 0\n", c.fired, k.name)
}

func (c *cage) sings(k canary) bool {
	_, err := os.Stat(filepath.Join(c.fired, k.name))
	return err == nil
}

// plant makes a repository as git makes it, and then puts the canary into it.
func (c *cage) plant(k canary) error {
	root := c.root(k)
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "src"), 0o755), os.WriteFile(filepath.Join(root, "src", "a.txt"), []byte("first\n"), 0o644)); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "-m", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = root, []string{"HOME=" + c.h.Dir, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	script := filepath.Join(root, "tools", "canary")
	if err := write15(script, c.song(k), 0o755); err != nil {
		return err
	}
	return k.plant(root, script)
}

func write15(path, text string, mode os.FileMode) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode))
}

// env is a shell in which the workspace comes before everything else.
func (c *cage) env(root string) []string {
	path := strings.Join([]string{".", "tools", root, filepath.Join(root, "bin"), filepath.Join(root, "node_modules", ".bin"), "/usr/bin", "/bin"}, ":")
	return []string{"RETAKE_HOME=" + c.h.Dir, "HOME=" + c.h.Dir, "PATH=" + path, "TZ=UTC"}
}

// run runs our program in a workspace, and answers what it prints.
func (c *cage) run(root string, in []byte, args ...string) (string, error) {
	c.commands++
	ctx, cancel := context.WithTimeout(context.Background(), daemonbed.CommandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.h.Exe, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = root, c.env(root), bytes.NewReader(in)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %.300s", strings.Join(args, " "), err, strings.Join(strings.Fields(errs.String()+out.String()), " "))
	}
	return out.String(), nil
}

type lifeStep struct {
	name string
	do   func() error
}

// life is all that is done in one workspace, from its protection on. The canary is
// asked for after each command, so that the one that woke it is known.
func (c *cage) life(k canary) error {
	if err := c.plant(k); err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	root := c.root(k)
	if _, err := c.h.Ask(c.h.Exe, "daemon", "stop"); err != nil { // the next one is started from inside
		return err
	}
	steps := []lifeStep{c.cli(root, "estimate"), c.cli(root, "init", "--no-input"), {"turns of agents", c.turns(root)}}
	for _, args := range lifeOfAWorkspace(c.dir, k.name) {
		steps = append(steps, c.cli(root, args...))
	}
	steps = append(steps, lifeStep{"tools for agents", c.tools(root)}, lifeStep{"the hook for worktrees", c.worktrees(root)})
	for _, step := range steps {
		err := step.do()
		if c.sings(k) {
			return fmt.Errorf("%s ran it", step.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lifeOfAWorkspace are the commands that people and scripts type.
func lifeOfAWorkspace(dir, name string) [][]string {
	fork := filepath.Join(dir, name+"-fork")
	return [][]string{
		{"save", "by hand", "--no-input"}, {"status"}, {"log"}, {"show"}, {"diff"}, {"diff", "1", "2"}, {"ls", "1"}, {"cat", "1", "src/a.txt"},
		{"restore", "1", "--plan"}, {"undo", "--plan"}, {"undo", "--yes", "--no-input", "--accept", "changed"}, {"redo", "--yes", "--no-input", "--accept", "changed"},
		{"fork", "1", fork}, {"at", "1", "--", "/bin/true"}, {"run", "a program", "--", "/bin/true"},
		{"resume", "--plan"}, {"tasks"}, {"effects"}, {"agents"}, append([]string{"agents", "install", "--plan"}, daemonbed.HookAgents...), {"agents", "install", "--plan", "--project", "claude-code"},
		{"doctor", "--prove"}, {"scrub"}, {"space"}, {"forks"}, {"workspaces"},
	}
}

func (c *cage) cli(root string, args ...string) lifeStep {
	return lifeStep{"retake " + strings.Join(args, " "), func() error {
		_, err := c.run(root, nil, args...)
		return err
	}}
}

// turns lets each agent do a turn that changes a file.
func (c *cage) turns(root string) func() error {
	return func() error {
		for i, agent := range append([]string{"x"}, daemonbed.HookAgents...) {
			s := daemonbed.NewSpeaker(agent, root, "")
			s.Begin(fmt.Sprintf("turn %d", i), i%2 == 0)
			if agent == "claude-code" {
				if err := c.said(s); err != nil {
					return err
				}
			}
			for _, kind := range daemonbed.TurnEvents {
				if kind == retake.SignalCalled {
					if err := os.WriteFile(filepath.Join(root, "src", "a.txt"), []byte(s.Prompt), 0o644); err != nil {
						return err
					}
				}
				_, payload := s.Says(kind)
				if _, err := c.run(root, payload, "hook", agent); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// said is a conversation that lies beside the workspace.
func (c *cage) said(s *daemonbed.Speaker) error {
	s.Transcript = filepath.Join(c.dir, "talk", s.Session+".jsonl")
	return write15(s.Transcript, fmt.Sprintf(`{"type":"user","promptId":%q,"message":{"content":%q}}`+"\n"+`{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}}`+"\n",
		s.Turn, s.Prompt, "Done: "+s.Prompt), 0o644)
}

// worktrees asks for the same one twice: the second time a fork is not possible.
func (c *cage) worktrees(root string) func() error {
	return func() error {
		for range 2 {
			payload := fmt.Appendf(nil, `{"session_id":"s-1","cwd":%q,"hook_event_name":"WorktreeCreate","name":"try"}`, root)
			if _, err := c.run(root, payload, "hook", "claude-code"); err != nil {
				return err
			}
		}
		payload := fmt.Appendf(nil, `{"session_id":"s-1","cwd":%q,"hook_event_name":"WorktreeRemove","worktree_path":%q}`, root, root+".worktrees/try")
		_, err := c.run(root, payload, "hook", "claude-code")
		return err
	}
}

// tools is a client of ours that an agent would be.
func (c *cage) tools(root string) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), daemonbed.CommandPatience)
		defer cancel()
		cmd := exec.CommandContext(ctx, c.h.Exe, "mcp")
		cmd.Dir, cmd.Env = root, c.env(root)
		s, err := sdk.NewClient(&sdk.Implementation{Name: "ordeal", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
		for _, call := range []struct {
			tool string
			args map[string]any
		}{
			{"timeline", map[string]any{}}, {"diff", map[string]any{}}, {"checkpoint", map[string]any{"intent": "by a tool"}}, {"show_file", map[string]any{"ref": "1", "path": "src/a.txt"}},
			{"restore", map[string]any{"ref": "1"}}, {"resume", map[string]any{}}, {"tasks", map[string]any{}}, {"pin", map[string]any{"ref": "1", "name": "first"}},
			{"fork", map[string]any{"ref": "1"}},
		} {
			c.commands++
			res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: call.tool, Arguments: call.args})
			if err == nil && res.IsError && call.tool != "resume" { // not every conversation can go on
				text, _ := res.Content[0].MarshalJSON()
				err = fmt.Errorf("%.300s", text)
			}
			if err != nil {
				return errors.Join(fmt.Errorf("mcp %s: %w", call.tool, err), s.Close())
			}
		}
		return s.Close()
	}
}

// git is the control: what git itself does in such a repository. It answers whether
// the canary sings.
func (c *cage) git(k canary) bool {
	if c.sings(k) {
		return false // by us, which is told elsewhere
	}
	root := c.root(k)
	_ = os.WriteFile(filepath.Join(root, "src", "a.txt"), []byte("changed for git\n"), 0o644) // else git has nothing to look at
	for _, args := range [][]string{{"status"}, {"diff"}} {
		cmd := exec.Command("/usr/bin/git", args...)
		cmd.Dir, cmd.Env = root, append(c.env(root), "GIT_CONFIG_NOSYSTEM=1")
		_ = cmd.Run() // a canary may make it fail
	}
	return c.sings(k)
}
