//go:build linux

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// bed is a home with its programs, its clock and its workspaces.
type bed struct {
	options
	*book
	dir, home, exe string
	daemon         *daemonbed.Home // finds and kills the daemon
	clock          *shiftedClock
	began          time.Time
	calm           disturbance
	busy           sync.RWMutex // commands that save hold it shared; the clock advances when none runs
}

// usualFloor is the minimum free space while the disk is not said to be low.
const usualFloor = "1MB"

// newBed builds the programs and makes a home. The caller removes b.dir, also after an error.
func newBed(o options) (*bed, error) {
	dir, err := os.MkdirTemp(o.dir, "soak-")
	if err != nil {
		return nil, err
	}
	b := &bed{options: o, book: newBook(o), dir: dir, home: filepath.Join(dir, "home"), began: time.Now()}
	b.clock = &shiftedClock{file: filepath.Join(dir, "clock")}
	b.day = func() float64 { return (b.clock.steadyShift() + time.Since(b.began)).Hours() / 24 }
	for _, d := range []string{b.home, b.place("user"), b.place("forks"), b.place("trees")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return b, err
		}
	}
	if err := b.clock.advanceTo(0); err != nil {
		return b, err
	}
	if b.exe, err = daemonbed.Program(&harness.Run{Dir: dir}); err != nil {
		return b, err
	}
	b.daemon = &daemonbed.Home{Dir: b.home, Exe: b.exe}
	if err := b.wrapEngine(); err != nil {
		return b, err
	}
	settings, err := json.Marshal(map[string]string{
		"budget": strconv.Itoa(o.Limit) + "MB", "floor": usualFloor, "keep-within": o.KeepWithin, "gone-after": o.GoneAfter,
		"daemon-idle": "0", // four hours are seconds here
	})
	if err != nil {
		return b, err
	}
	return b, os.WriteFile(filepath.Join(b.home, "config.json"), settings, 0o600)
}

func (b *bed) place(name string) string { return filepath.Join(b.dir, name) }

// wrapEngine puts a script in the place of retaked. A daemon does not inherit the environment of the
// command that starts it, so nothing else gives it the clock. The script is not younger than the program:
// commands would take it for an upgrade.
func (b *bed) wrapEngine() error {
	at := filepath.Dir(b.exe)
	engine := filepath.Join(at, "engine", "retaked")
	if err := errors.Join(os.Mkdir(filepath.Dir(engine), 0o755), os.Rename(filepath.Join(at, "retaked"), engine),
		os.Link(b.exe, filepath.Join(at, "engine", "retake"))); err != nil {
		return err
	}
	i, err := os.Stat(engine)
	if err != nil {
		return err
	}
	script := filepath.Join(at, "retaked")
	text := fmt.Sprintf("#!/bin/sh\nexport RETAKE_TEST_CLOCK='%s' RETAKE_TEST_SPEED=%d\nexec '%s' \"$@\"\n", b.clock.file, b.speed(), engine)
	return errors.Join(os.WriteFile(script, []byte(text), 0o755), os.Chtimes(script, i.ModTime(), i.ModTime()))
}

// speed is how many times faster than the times of files the clock runs.
func (b *bed) speed() int {
	return max(1, int(b.Days*24/time.Duration(b.Time).Hours()))
}

func (b *bed) environ() []string {
	return []string{"RETAKE_HOME=" + b.home, "HOME=" + b.place("user"), "PATH=/usr/bin:/bin", "TZ=UTC", "RETAKE_TEST_CLOCK=" + b.clock.file, "RETAKE_TEST_SPEED=" + strconv.Itoa(b.speed())}
}

// saving are the commands that read or write a workspace.
var saving = []string{"hook", "save", "restore", "undo", "redo"}

// upkeep are the commands that read the whole store, and show how far they are.
var upkeep = []string{"space", "scrub", "purge", "doctor", "rebuild"}

const (
	patience       = 30 * time.Second // how long a command or a hook may take
	upkeepPatience = 5 * time.Minute  // how long upkeep may take
)

// answer is what a command said.
type answer struct {
	args  []string
	dir   string
	out   []byte // standard output
	text  string // both outputs
	code  int
	began time.Time
	took  time.Duration
	late  bool
}

// run runs a command in a directory.
func (b *bed) run(dir string, in []byte, args ...string) answer {
	if slices.Contains(saving, args[0]) {
		b.busy.RLock()
		defer b.busy.RUnlock()
	}
	limit := patience
	if slices.Contains(upkeep, args[0]) || slices.Contains(args, "--purge") {
		limit = upkeepPatience
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.exe, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = dir, b.environ(), bytes.NewReader(in), time.Second
	cmd.Cancel = func() error {
		b.keepStacks(args)
		return cmd.Process.Kill()
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	a := answer{args: args, dir: dir, began: time.Now()}
	err := cmd.Run()
	a.took, a.out, a.text, a.late = time.Since(a.began), out.Bytes(), errs.String()+out.String(), ctx.Err() != nil
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		a.code = ended.ExitCode()
	case err != nil:
		a.code, a.text = -1, err.Error()
	}
	b.count(func(c *counts) {
		name := a.name()
		if name != "hook" {
			c.Commands[name]++
		}
		c.Slowest[name] = max(c.Slowest[name], span(a.took.Round(time.Millisecond)))
	})
	return a
}

// keepStacks writes down what the daemon does while a command waits too long for it.
func (b *bed) keepStacks(args []string) {
	text, err := b.profile("goroutine?debug=2")
	if err != nil {
		text = []byte(err.Error())
	}
	name := fmt.Sprintf("stacks-%s-%d.txt", args[0], time.Now().UnixMilli())
	_ = os.WriteFile(b.place(name), text, 0o600) // the failure stands without it
}

func (a answer) name() string { return a.args[0] }

// said is the beginning of what it said, on one line.
func (a answer) said() string {
	text := strings.Join(strings.Fields(a.text), " ")
	if len(text) > 600 {
		text = text[:600] + " …"
	}
	return fmt.Sprintf("retake %s in %s: exit %d after %s: %s", strings.Join(a.args, " "), filepath.Base(a.dir), a.code, a.took.Round(time.Millisecond), text)
}

// into decodes what a command with --json said.
func (a answer) into(v any) error {
	if err := json.Unmarshal(a.out, v); err != nil {
		return fmt.Errorf("%w: %s", err, a.said())
	}
	return nil
}

// end stops the daemon. What is left of it is killed.
func (b *bed) end() {
	a := b.run(b.dir, nil, "daemon", "stop", "--json")
	if a.code != 0 || a.late {
		b.fail(failedRefusal, "%s", a.said())
	}
	if b.daemon.Kill() > 0 {
		b.fail(failedRefusal, "a daemon is left after retake daemon stop")
	}
}
