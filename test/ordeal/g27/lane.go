//go:build linux

package g27

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

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// lane is one machine of its own: its mounts, a home directory, a daemon, and an agent that runs one
// command after the other.
type lane struct {
	exe         string
	cage        *cage
	client      *client.Client
	proj, other retake.WorkspaceID
	pristine    world
	marks       map[string][]byte
	looks       int // directories that files were restored to
	sum         *tally
}

// openLane builds everything. The mount namespace is this process's own.
func openLane(exe string) (*lane, error) {
	l := &lane{exe: filepath.Join(ownDir, "bin", "retake"), sum: newTally()}
	if err := mountDirs(exe); err != nil {
		return nil, err
	}
	err := errors.Join(buildHome(plainFiles), buildRest())
	if err == nil {
		l.cage, err = newCage()
	}
	if err == nil {
		err = l.prepare(madeByPrograms)
	}
	if err == nil {
		err = errors.Join(buildHome(laterFiles), l.protect())
	}
	if err == nil {
		l.pristine, err = readWorld(homeDir, tmpDir)
		l.marks = readMarks()
	}
	return l, err
}

// mountDirs mounts empty file systems over the two directories, with the programs in one of them.
func mountDirs(exe string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount("tmpfs", mountDir, "tmpfs", 0, "size=4g,mode=755"); err != nil {
		return fmt.Errorf("mount %s: %w", mountDir, err)
	}
	bin := filepath.Join(ownDir, "bin")
	err := errors.Join(os.MkdirAll(homeDir, 0o755), os.MkdirAll(bin, 0o755), os.MkdirAll(filepath.Join(ownDir, "history"), 0o700))
	for _, name := range []string{"retake", "retaked"} {
		b, rerr := os.ReadFile(filepath.Join(filepath.Dir(exe), name))
		err = errors.Join(err, rerr, os.WriteFile(filepath.Join(bin, name), b, 0o755))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(ownDir, "history/config.json"), []byte(`{"floor":"1KB"}`), 0o600))
	err = errors.Join(err, os.WriteFile(filepath.Join(bin, "sudo"), []byte(fakeSudo), 0o755))
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", tmpDir, "tmpfs", 0, "size=1g,mode=1777"); err != nil {
		return fmt.Errorf("mount %s: %w", tmpDir, err)
	}
	return nil
}

// fakeSudo runs a command as it is: who runs this is root anyway.
const fakeSudo = "#!/bin/sh\nwhile :; do case \"$1\" in -u) shift 2;; -*) shift;; *) break;; esac; done\nexec \"$@\"\n"

// prepare runs a script that must succeed.
func (l *lane) prepare(script string) error {
	out, err := l.cage.run("bash", homeDir, "("+script+") && echo prepared")
	if err == nil && !strings.HasSuffix(out, "prepared\n") {
		err = fmt.Errorf("prepare: %.600s", out)
	}
	return err
}

// protect takes both workspaces into the history.
func (l *lane) protect() (err error) {
	for dir, id := range map[string]*retake.WorkspaceID{projDir: &l.proj, otherDir: &l.other} {
		if out, err := l.retake(dir, nil, "init"); err != nil {
			return fmt.Errorf("init %s: %w: %s", dir, err, out)
		}
		l.client = client.New(client.Options{Socket: filepath.Join(ownDir, "history/run/daemon.sock"), Version: daemonbed.Release(0)})
		ws, err := l.client.Locate(context.Background(), dir)
		if err != nil {
			return fmt.Errorf("locate %s: %w", dir, err)
		}
		*id = ws.ID
	}
	return nil
}

// close stops the daemon: it must not outlive the child.
func (l *lane) close() error {
	home := &daemonbed.Home{Dir: filepath.Join(ownDir, "history"), Exe: l.exe}
	_, err := home.Ask(l.exe, "daemon", "stop")
	home.Kill()
	return err
}

// lastWords are the last lines that the daemon logged.
func (l *lane) lastWords() string {
	const enough = 1500
	logs, _ := filepath.Glob(filepath.Join(ownDir, "history", "*.log"))
	more, _ := filepath.Glob(filepath.Join(ownDir, "history", "*", "*.log"))
	text := ""
	for _, name := range append(logs, more...) {
		b, err := os.ReadFile(name)
		if err == nil {
			text += "; " + filepath.Base(name) + ": " + string(b[max(0, len(b)-enough):])
		}
	}
	return text
}

// retakeLimit is when a command of the product counts as one that never ends.
const retakeLimit = time.Minute

// retake runs the program as a user or an agent does.
func (l *lane) retake(dir string, in []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), retakeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.exe, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = dir, append(commandEnv(), "CLAUDE_PROJECT_DIR="+projDir), bytes.NewReader(in), time.Second
	return cmd.CombinedOutput()
}

// hook fires a hook of Claude Code.
func (l *lane) hook(dir, event string, turn int, more map[string]any) (answer string, took time.Duration, err error) {
	f := map[string]any{
		"session_id": "6f1c2a7e-52b4-4c0e-9f6e-2f0f3b1d9a10", "transcript_path": ownDir + "/transcript.jsonl", "cwd": dir,
		"prompt_id": fmt.Sprintf("0c9d7d2e-8a57-4bd4-8d7e-%012d", turn), "permission_mode": "default", "hook_event_name": event,
	}
	for k, v := range more {
		f[k] = v
	}
	payload, err := json.Marshal(f)
	if err != nil {
		return "", 0, err
	}
	began := time.Now()
	out, err := l.retake(dir, payload, "hook", "claude-code")
	return string(out), time.Since(began), err
}

// announce fires the hook before a call.
func (l *lane) announce(n int, p *play) (answer string, took time.Duration, err error) {
	tool, input := "Bash", map[string]any{"command": p.text, "description": "Work on the task"}
	if p.tool != "" {
		tool, input = p.tool, p.input
	}
	return l.hook(p.where(), "PreToolUse", n, map[string]any{"tool_name": tool, "tool_use_id": fmt.Sprintf("toolu_%06d", n), "tool_input": input})
}

// tip is the newest checkpoint of a workspace.
func (l *lane) tip(ws retake.WorkspaceID) (retake.Checkpoint, error) {
	t, err := l.client.Log(context.Background(), retake.LogQuery{Workspace: ws, Limit: 1})
	if err == nil && len(t.Checkpoints) == 0 {
		err = errors.New("no checkpoint")
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	return t.Checkpoints[0], nil
}

// begin repairs the files, begins a turn and plays its edits.
func (l *lane) begin(n int) error {
	now, err := readWorld(homeDir, tmpDir)
	if err != nil {
		return err
	}
	if err := errors.Join(repair(now, l.pristine), setMarks(l.marks)); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	answer, _, err := l.hook(projDir, "UserPromptSubmit", n, map[string]any{"prompt": fmt.Sprintf("step %d", n)})
	if err != nil || strings.Contains(answer, "could not") {
		return fmt.Errorf("prompt: %w: %s", err, answer)
	}
	return editFiles(n)
}

// try plays one call: its hook, what it destroys, and whether that was held or named before.
func (l *lane) try(n int, p *play) error {
	if err := l.begin(n); err != nil {
		return err
	}
	before, err := readWorld(homeDir, tmpDir)
	if err != nil {
		return err
	}
	was, err := l.tip(l.proj)
	if err != nil {
		return err
	}
	t := &trial{lane: l, n: n, play: p, had: was.Number}
	if t.answer, t.took, err = l.announce(n, p); err != nil {
		return fmt.Errorf("hook: %w: %s", err, t.answer)
	}
	if t.row, err = l.tip(l.proj); err != nil { // before the command runs
		return err
	}
	if t.otherTip, err = l.tip(l.other); err != nil {
		return err
	}
	out, err := l.cage.run(p.shell(), p.where(), p.deed())
	if err != nil {
		return err
	}
	after, err := readWorld(homeDir, tmpDir)
	if err != nil {
		return err
	}
	t.out = out
	return t.judge(findLosses(before, after))
}
