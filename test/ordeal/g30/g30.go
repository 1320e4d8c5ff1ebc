//go:build linux

// Package g30 takes away what a checkpoint needs, and fires the hooks of every agent: whenever no
// checkpoint was taken, the agent or its user is told, and nothing says that the workspace is
// protected.
package g30

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G30", neverProtectedFalsely) }

// payloads are the prompts of the agents, as their own programs send them.
var payloads = map[string]string{
	"claude-code": "claude-code/UserPromptSubmit.json", "codex": "codex/UserPromptSubmit.json", "gemini": "gemini/BeforeAgent.json",
	"cursor": "cursor/beforeSubmitPrompt.json", "copilot": "copilot/UserPromptSubmit.json", "droid": "droid/UserPromptSubmit.json",
	"pi": "pi/UserPromptSubmit.json", "docker-agent": "docker-agent/user_prompt_submit.json", "opencode": "opencode/chat.message.json",
	"cline": "cline/UserPromptSubmit.json",
}

const (
	testdata  = "internal/agents/hook/testdata"
	payloadWS = "/home/dev/shop" // the directory that they name
	told      = "could not take a checkpoint"
	claimed   = "protected since"
)

func neverProtectedFalsely(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G30", What: "where no checkpoint can be taken, every agent's hook says so and nothing claims protection",
		Control: "the same answers of hooks without their words", Detail: map[string]any{},
	}
	if os.Getuid() != 0 {
		v.Detail["skipped"] = "mounts need root"
		return []harness.Verdict{v}
	}
	exe, err := daemonbed.Program(r)
	if err != nil {
		v.Fail("build: %v", err)
		return []harness.Verdict{v}
	}
	for i, c := range conditions {
		if err := try(r, exe, i, c, &v); err != nil {
			v.Fail("%s: %v", c.name, err)
		}
	}
	return []harness.Verdict{v}
}

// try applies one condition in a home of its own.
func try(r *harness.Run, exe string, n int, c condition, v *harness.Verdict) (err error) {
	b, err := newBed(r, exe)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if out := b.run(5*time.Second, nil, "status", "--line"); !strings.Contains(out.text, "protected") || strings.Contains(out.text, "NOT PROTECTED") {
		return fmt.Errorf("before anything happened the status is %q", out.text)
	}
	if err := c.apply(b); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	kept, missed := 0, 0
	for i, agent := range slices.Sorted(maps.Keys(payloads)) {
		if (i+n)%r.Figure(4, 1) > 0 {
			continue
		}
		saved, hook, err := b.fire(agent)
		if err != nil {
			return err
		}
		v.Tried++
		if bad := wrong(saved, hook); bad != "" {
			v.Fail("%s: the hook of %s %s", c.name, agent, bad)
		}
		if saved {
			kept++
			continue
		}
		if missed++; wrong(saved, answer{}) != "" { // the same without its words
			v.Caught++
		}
		if missed == 1 || r.Tier == "c" {
			b.checkClaims(c.name, v)
		}
	}
	v.Detail[c.name] = fmt.Sprintf("%d saved, %d told", kept, missed)
	if c.saves && kept == 0 {
		v.Fail("%s: nothing was saved", c.name)
	}
	if c.lift == nil || missed == 0 {
		return nil
	}
	return b.liftAndWait(c)
}

// fire changes a file and fires the hook of an agent; saved is whether a checkpoint was taken.
func (b *bed) fire(agent string) (saved bool, hook answer, err error) {
	payload, err := os.ReadFile(filepath.Join(testdata, payloads[agent]))
	if err == nil {
		err = b.edit(agent)
	}
	if err != nil {
		return false, hook, err
	}
	before := b.indexes()
	hook = b.run(hookLimit, bytes.ReplaceAll(payload, []byte(payloadWS), []byte(b.ws)), "hook", agent)
	return b.indexes() > before, hook, nil
}

// wrong says what a hook must not do.
func wrong(saved bool, hook answer) string {
	switch {
	case hook.late:
		return fmt.Sprintf("takes longer than %v", hookLimit)
	case !saved && !strings.Contains(hook.text, told):
		return fmt.Sprintf("saves nothing and says %q", hook.text)
	}
	return ""
}

// liftAndWait lets a turn go by, takes the condition away, and waits for the row of the turn.
func (b *bed) liftAndWait(c condition) error {
	if err := b.fireTurn(); err != nil {
		return err
	}
	if err := c.lift(b); err != nil {
		return fmt.Errorf("lift: %w", err)
	}
	return b.waitForRow()
}

// Limits of a hook and of a command, stretched for a busy machine.
const (
	hookLimit    = 8 * time.Second
	commandLimit = 8 * time.Second
)

// checkClaims wants neither the status nor its line to claim what is not so.
func (b *bed) checkClaims(name string, v *harness.Verdict) {
	for _, args := range [][]string{{"status"}, {"status", "--line"}, {}} {
		out := b.run(commandLimit, nil, args...)
		claims := out.code == 0 && (strings.Contains(out.text, claimed) || len(args) == 2 && !strings.Contains(out.text, "NOT PROTECTED"))
		switch {
		case out.late:
			v.Fail("%s: retake %v takes longer than %v", name, args, commandLimit)
		case claims && b.run(commandLimit, nil, "save").code != 0: // what frees a disk may come in between
			v.Fail("%s: retake %v says %q, and a save fails", name, args, out.text)
		}
	}
}

// bed is a home on a disk of its own, and a workspace on another.
type bed struct {
	exe, dir, home, ws string
	mounted            []string
	edits              int
	lost               bool // the disk of the workspace
}

func newBed(r *harness.Run, exe string) (*bed, error) {
	b := &bed{exe: exe, dir: r.Scratch("g30")}
	b.home, b.ws = filepath.Join(b.dir, "home"), filepath.Join(b.dir, "disk", "shop")
	image := filepath.Join(b.dir, "image")
	for _, cmd := range [][]string{
		{"mkdir", "-p", b.home, filepath.Dir(b.ws)},
		{"mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=4000", "tmpfs", b.home},
		{"truncate", "-s", "32M", image}, {"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, filepath.Dir(b.ws)},
	} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return b, errors.Join(fmt.Errorf("%s: %w: %s", cmd[0], err, out), b.end())
		}
		if cmd[0] == "mount" {
			b.mounted = append(b.mounted, cmd[len(cmd)-1])
		}
	}
	if err := errors.Join(os.MkdirAll(b.ws, 0o755), os.WriteFile(filepath.Join(b.home, "config.json"), []byte(`{"floor":"1MB"}`), 0o600), b.edit("start")); err != nil {
		return b, err
	}
	if out := b.run(time.Minute, nil, "init"); out.code != 0 {
		return b, errors.Join(fmt.Errorf("init: %s", out.text), b.end())
	}
	return b, nil
}

// end stops the daemon and takes the disks away.
func (b *bed) end() error {
	b.signal("CONT")
	b.run(10*time.Second, nil, "daemon", "stop")
	b.signal("KILL")
	var errs []error
	for _, at := range b.mounted {
		if out, err := exec.Command("umount", "-l", at).CombinedOutput(); err != nil && !bytes.Contains(out, []byte("not mounted")) {
			errs = append(errs, fmt.Errorf("umount: %w: %s", err, out))
		}
	}
	return errors.Join(errs...)
}

// signal sends a signal to the daemon of this home.
func (b *bed) signal(name string) {
	home := &daemonbed.Home{Dir: b.home, Exe: b.exe}
	for _, pid := range home.Daemons() {
		_ = exec.Command("kill", "-"+name, fmt.Sprint(pid)).Run() // it may have ended
	}
}

func (b *bed) edit(text string) error {
	b.edits++
	if b.lost {
		return nil
	}
	return os.WriteFile(filepath.Join(b.ws, "work.txt"), fmt.Appendf(nil, "%s %d\n", text, b.edits), 0o644)
}

// indexes counts the index blobs: every save publishes one.
func (b *bed) indexes() int {
	found, err := filepath.Glob(filepath.Join(b.home, "data/store/blobs/x*"))
	if err != nil {
		return 0
	}
	return len(found)
}

func (b *bed) clock() string { return filepath.Join(b.dir, "clock") }

func (b *bed) environ() []string {
	return []string{"RETAKE_HOME=" + b.home, "HOME=" + b.home, "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TZ=UTC", "RETAKE_TEST_CLOCK=" + b.clock()}
}

// answer is what a command said.
type answer struct {
	text string
	code int
	late bool
}

func (b *bed) run(limit time.Duration, in []byte, args ...string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.exe, args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = b.ws, bytes.NewReader(in), time.Second
	if _, err := os.Stat(b.ws); err != nil {
		cmd.Dir = b.dir
	}
	cmd.Env = b.environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	a := answer{text: out.String(), late: ctx.Err() != nil}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		a.code = ended.ExitCode()
	} else if err != nil {
		a.code = -1
	}
	return a
}

// fireTurn lets an agent begin a turn, change a file and end it.
func (b *bed) fireTurn() error {
	for _, event := range []string{"UserPromptSubmit", "Stop"} {
		payload, err := os.ReadFile(filepath.Join(testdata, "claude-code", event+".json"))
		if err == nil {
			err = b.edit(event)
		}
		if err != nil {
			return err
		}
		b.run(hookLimit, bytes.ReplaceAll(payload, []byte(payloadWS), []byte(b.ws)), "hook", "claude-code")
	}
	return nil
}

// waitForRow waits until the timeline has a checkpoint of the newest edit: what was not covered
// leaves a row.
func (b *bed) waitForRow() error {
	want, err := os.ReadFile(filepath.Join(b.ws, "work.txt"))
	if err != nil {
		return err
	}
	var last answer
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if last = b.run(commandLimit, nil, "cat", "latest", "work.txt"); last.code == 0 && last.text == string(want) {
			return nil
		}
	}
	return fmt.Errorf("no row tells of the turns that were not saved: %s", last.text)
}
