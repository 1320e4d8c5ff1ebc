//go:build linux

// Package home cuts the power while all files of a home are written: settings, keys, records, the
// queue, the catalog and the settings of agents. Afterwards every file is an old one or a new one,
// whole, what was acknowledged is there, and everything works again.
package home

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("HOME", homeSurvivesCuts) }

func homeSurvivesCuts(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{
		Guarantee: "HOME", What: "a power cut leaves every file of the home whole, with all that was acknowledged",
		Control: "settings that are written in place", Detail: map[string]any{},
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
	var mu sync.Mutex
	var wg sync.WaitGroup
	for k, kind := range []string{"ext4", "xfs"} {
		wg.Go(func() {
			for at, n := 0, r.Figure(6, 200); at < n; at += crashbed.CutsPerBed {
				t := &trial{r: r, exe: exe, kind: kind, rnd: rand.New(rand.NewSource(r.Seed*1000 + int64(2*at+k)))}
				err := t.series(at, min(crashbed.CutsPerBed, n-at))
				mu.Lock()
				v.Tried += t.tried
				v.Caught += t.caught
				for _, text := range t.failed {
					v.Fail("%s: %s", kind, text)
				}
				if err != nil {
					v.Fail("%s, from cut %d: %v", kind, at, err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// trial is a home on a disk whose power is cut again and again.
type trial struct {
	r             *harness.Run
	exe, kind     string
	rnd           *rand.Rand
	bed           *crashbed.Bed
	ws, boot      string // both are on another disk
	boots         int
	tried, caught int64
	failed        []string
	said          said
}

func (t *trial) home() string { return filepath.Join(t.bed.Mnt, "home") }
func (t *trial) user() string { return filepath.Join(t.bed.Mnt, "user") }

func (t *trial) fail(cut int, format string, a ...any) {
	t.failed = append(t.failed, fmt.Sprintf("cut %d: ", cut)+fmt.Sprintf(format, a...))
}

func (t *trial) series(first, n int) (err error) {
	if t.bed, err = crashbed.NewBed(t.r, t.kind); err != nil {
		return err
	}
	defer func() { t.stop(); err = errors.Join(err, t.bed.Close()) }()
	t.ws, t.boot = t.r.Scratch("work"), filepath.Join(t.r.Scratch("boot"), "id")
	if err := t.furnish(); err != nil {
		return err
	}
	for i := range n {
		t.tried++
		if err := t.cut(first + i); err != nil {
			return fmt.Errorf("cut %d: %w", first+i, err)
		}
	}
	return nil
}

// userSettings are what the user has in the settings of agents; the cut must leave them.
var userSettings = map[string]string{
	".claude/settings.json": `{"model": "theirs", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say theirs"}]}]}}`,
	".gemini/settings.json": `{"theme": "theirs"}`,
}

// furnish makes a home with one workspace and two agents.
func (t *trial) furnish() error {
	for name, text := range userSettings {
		path := filepath.Join(t.user(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(t.home(), 0o700), t.newBoot(), t.write("0")); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--yes"}, {"config", keptSetting, "1d"}, {"agents", "install", "claude-code", "gemini", "--yes"}} {
		if out, err := t.run(args...); err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, out)
		}
	}
	t.said = said{days: 1, hooks: true}
	return crashbed.Command("sync", "-f", t.bed.Mnt)
}

func (t *trial) newBoot() error {
	t.boots++
	return os.WriteFile(t.boot, fmt.Appendf(nil, "boot-%d\n", t.boots), 0o644)
}

func (t *trial) write(text string) error {
	return os.WriteFile(filepath.Join(t.ws, "a"), []byte(text), 0o644)
}

// cut lets all writers run, takes the power away, and looks at what is on the disk.
func (t *trial) cut(i int) error {
	mount, err := os.Open(t.bed.Mnt)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range []func(chan struct{}){t.changeSettings, t.changeAgents, t.saveWork, t.fireHooks} {
		wg.Go(func() { w(stop) })
	}
	time.Sleep(time.Duration(30+t.rnd.Intn(700)) * time.Millisecond)
	if i%5 == 4 { // the control writes in place, as the settings once were
		err = os.WriteFile(filepath.Join(t.user(), "in-place.json"), []byte(`{"whole": true}`), 0o644)
	}
	close(stop) // what is said from now on may be said without power
	crashbed.CutPower(mount)
	wg.Wait()
	t.stop()
	if err := errors.Join(err, mount.Close(), t.bed.Remount()); err != nil {
		return err
	}
	if i%2 == 1 {
		if err := t.newBoot(); err != nil {
			return err
		}
	}
	if b, err := os.ReadFile(filepath.Join(t.user(), "in-place.json")); i%5 == 4 && (err != nil || len(b) == 0) {
		t.caught++
	}
	_ = os.Remove(filepath.Join(t.user(), "in-place.json")) // of the control
	t.check(i)
	return nil
}

// stop ends the daemon without a word: it has lost its disk.
func (t *trial) stop() {
	home := &daemonbed.Home{Dir: t.home(), Exe: t.exe}
	home.Kill()
	daemonbed.Await(func() bool { return len(home.Daemons()) == 0 })
}
