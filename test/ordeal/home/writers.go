//go:build linux

package home

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// said is what commands acknowledged, and what they were at when the power went.
type said struct {
	days, daysNext   int  // the setting
	hooks, hooksNext bool // whether agents have our hooks
	hooksOpen        bool // hooksNext may be so too
	save             int64
	saves            int
}

const (
	keptSetting  = "keep-within"
	commandLimit = 20 * time.Second
)

func (t *trial) run(args ...string) (string, error) { return t.runWith(nil, args...) }

func (t *trial) runWith(in []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.exe, args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = t.ws, bytes.NewReader(in), time.Second
	cmd.Env = []string{"RETAKE_HOME=" + t.home(), "HOME=" + t.user(), "PATH=/usr/bin:/bin", "TZ=UTC", "RETAKE_TEST_BOOT=" + t.boot}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func stopped(stop chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// changeSettings counts a setting up.
func (t *trial) changeSettings(stop chan struct{}) {
	t.said.daysNext = t.said.days
	for !stopped(stop) {
		t.said.daysNext++
		if _, err := t.run("config", keptSetting, fmt.Sprintf("%dd", t.said.daysNext)); err != nil {
			return
		}
		if !stopped(stop) {
			t.said.days = t.said.daysNext
		}
	}
}

// changeAgents removes and installs the hooks of agents in turn.
func (t *trial) changeAgents(stop chan struct{}) {
	for !stopped(stop) {
		t.said.hooksNext, t.said.hooksOpen = !t.said.hooks, true
		verb := map[bool]string{true: "install", false: "remove"}[t.said.hooksNext]
		if _, err := t.run("agents", verb, "claude-code", "gemini", "--yes"); err != nil {
			return
		}
		if !stopped(stop) {
			t.said.hooks, t.said.hooksOpen = t.said.hooksNext, false
		}
	}
}

// saveWork changes a file and saves.
func (t *trial) saveWork(stop chan struct{}) {
	for !stopped(stop) {
		t.said.saves++
		if t.write(fmt.Sprint("save ", t.said.saves)) != nil {
			return
		}
		out, err := t.run("save", "--json")
		if err != nil {
			return
		}
		var res struct {
			Checkpoint struct{ Number int64 }
		}
		if json.Unmarshal([]byte(out), &res) == nil && !stopped(stop) {
			t.said.save = max(t.said.save, res.Checkpoint.Number)
		}
	}
}

// fireHooks lets an agent begin and end turns: records, sessions and the queue are written.
func (t *trial) fireHooks(stop chan struct{}) {
	for !stopped(stop) {
		for _, event := range []string{"UserPromptSubmit", "Stop"} {
			payload, err := os.ReadFile("internal/agents/hook/testdata/claude-code/" + event + ".json")
			if err != nil {
				return
			}
			_, _ = t.runWith(bytes.ReplaceAll(payload, []byte("/home/dev/shop"), []byte(t.ws)), "hook", "claude-code") // it never fails
		}
	}
}

// check looks at what the cut left.
func (t *trial) check(cut int) {
	t.checkJSON(cut)
	t.checkAgents(cut)
	out, err := t.run("config", keptSetting)
	days := t.said.days
	if fields := strings.Fields(out); err == nil && len(fields) > 0 {
		days, _ = strconv.Atoi(strings.TrimSuffix(fields[len(fields)-1], "d"))
	}
	if err != nil || days != t.said.days && days != t.said.daysNext {
		t.fail(cut, "the setting was %d, then %d, and is %q: %v", t.said.days, t.said.daysNext, out, err)
	}
	t.said.days = days
	t.checkSaves(cut)
	if out, err := t.run("status", "--line"); err != nil || strings.Contains(out, "NOT PROTECTED") {
		t.fail(cut, "status: %v: %s", err, out)
	}
	if _, err := t.run("config", keptSetting, fmt.Sprintf("%dd", t.said.days)); err != nil {
		t.fail(cut, "the settings cannot be changed any more: %v", err)
	}
}

// checkSaves wants every acknowledged checkpoint in the timeline, readable, and a new one.
func (t *trial) checkSaves(cut int) {
	if t.said.save > 0 {
		if out, err := t.run("show", strconv.FormatInt(t.said.save, 10)); err != nil {
			t.fail(cut, "checkpoint %d was acknowledged: %v: %s", t.said.save, err, out)
		}
	}
	want := fmt.Sprintf("after cut %d", cut)
	if err := t.write(want); err != nil {
		t.fail(cut, "write: %v", err)
	}
	if out, err := t.run("save"); err != nil {
		t.fail(cut, "save: %v: %s", err, out)
	}
	if out, err := t.run("cat", "latest", "a"); err != nil || out != want {
		t.fail(cut, "the newest checkpoint has %q: %v", out, err)
	}
}

// checkJSON wants every JSON file of the home to be whole.
func (t *trial) checkJSON(cut int) {
	err := filepath.WalkDir(t.home(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && !json.Valid(b) {
			t.fail(cut, "%s is %d bytes that are no JSON", path, len(b))
		}
		return err
	})
	if err != nil {
		t.fail(cut, "look at the home: %v", err)
	}
}

// checkAgents wants the settings of agents whole, with what is the user's in them, and all or none
// of ours.
func (t *trial) checkAgents(cut int) {
	for name := range userSettings {
		b, err := os.ReadFile(filepath.Join(t.user(), name))
		ours := bytes.Contains(b, []byte("hook "))
		switch {
		case err != nil || !json.Valid(b):
			t.fail(cut, "%s is not whole: %v: %q", name, err, b)
		case !bytes.Contains(b, []byte("theirs")):
			t.fail(cut, "%s lost what is the user's: %s", name, b)
		case ours != t.said.hooks && !t.said.hooksOpen:
			t.fail(cut, "%s has our hooks: %v, and it was acknowledged that it is not so", name, ours)
		}
	}
	if out, err := t.run("agents", "install", "claude-code", "gemini", "--yes"); err != nil {
		t.fail(cut, "the hooks cannot be installed again: %v: %s", err, out)
	}
	t.said.hooks, t.said.hooksOpen = true, false
}
