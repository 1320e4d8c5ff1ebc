//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

// remembered is a checkpoint and the tree that it must have. The tree is in a file.
type remembered struct {
	number    int64
	id        retake.CheckpointID
	workspace retake.WorkspaceID
	digest    string
	file      string
	pin       string // "": none
}

const maxPins = 4 // of one workspace

// remember takes down the tree of a checkpoint: every other time of one that the end of the turn took,
// else of one that is saved now.
func (a *agent) remember(t turn) error {
	var cp *retake.Checkpoint
	var err error
	if a.turns%(2*sampleTurns) == 0 {
		if cp, err = a.newest(); err != nil || !t.isOf(cp) {
			return err
		}
	} else {
		out := a.run(a.ws, nil, "save", "sample", "--json")
		if !a.judge(out) {
			return nil
		}
		var saved retake.SaveResult
		if err := out.into(&saved); err != nil {
			return err
		}
		if cp = &saved.Checkpoint; cp.Coverage.Grade != retake.Complete {
			a.note("%s: checkpoint %d is partial", a.name, cp.Number)
			return nil
		}
	}
	now, err := readTree(a.ws)
	if err != nil {
		return err
	}
	m := remembered{number: cp.Number, id: cp.ID, workspace: cp.Workspace, digest: now.digest(), file: filepath.Join(a.bed.place("trees"), string(cp.ID))}
	if a.rnd.Intn(6) == 0 {
		m.pin = a.pin(cp.Number)
	}
	a.memory = append(a.memory, m)
	a.count(func(c *counts) { c.Sampled++ })
	return m.write(now)
}

func (m remembered) write(t tree) error {
	return os.WriteFile(m.file, []byte(strings.Join(t, "\n")), 0o600)
}

func (m remembered) ref() string { return strconv.FormatInt(m.number, 10) }

// pin keeps a checkpoint, and lets go the oldest of too many.
func (a *agent) pin(number int64) string {
	if len(a.pins) >= maxPins {
		if !a.judge(a.run(a.ws, nil, "unpin", a.pins[0], "--json")) {
			return ""
		}
		for i := range a.memory {
			if a.memory[i].pin == a.pins[0] {
				a.memory[i].pin = ""
			}
		}
		a.pins = a.pins[1:]
	}
	name := fmt.Sprintf("keep-%d", number)
	if !a.judge(a.run(a.ws, nil, "pin", strconv.FormatInt(number, 10), name, "--json")) {
		return ""
	}
	a.pins = append(a.pins, name)
	return name
}

// pick chooses a remembered checkpoint.
func (a *agent) pick() (remembered, bool) {
	if len(a.memory) == 0 {
		return remembered{}, false
	}
	return a.memory[a.rnd.Intn(len(a.memory))], true
}

// compareTo compares a tree with a remembered one.
func (a *agent) compareTo(way string, m remembered, got tree, out answer) error {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return err
	}
	want := tree(strings.Split(string(text), "\n"))
	if want.digest() != m.digest {
		return errors.New("the soak lost a tree that it remembers")
	}
	a.compare(way, want, got, out)
	return nil
}

// compare wants two trees to be equal. One that lacks what the command names as damaged is no lie, if
// we made the damage.
func (a *agent) compare(way string, want, got tree, out answer) {
	switch {
	case want.digest() == got.digest():
		a.count(func(c *counts) { c.Compared[way]++ })
	case a.calm.flipped() > 0 && namesDamage(out.text):
		a.count(func(c *counts) { c.Named[way]++ })
	default:
		a.fail(failedBytes, "%s: %s: %s", a.name, differences(want, got), out.said())
	}
}

// usable reports whether a command on a remembered checkpoint worked. One that is not found must have been
// deleted by retention.
func (a *agent) usable(m remembered, out answer) (bool, error) {
	if out.code != exitNotFound {
		return a.judge(out), nil
	}
	dropped, there, err := a.lookUp(m)
	if err != nil {
		return false, err
	}
	if there {
		a.fail(failedHidden, "%s: checkpoint %d is in the catalog: %s", a.name, m.number, out.said())
		return false, nil
	}
	a.memory = slices.DeleteFunc(a.memory, func(o remembered) bool { return o.id == m.id })
	if err := os.Remove(m.file); err != nil {
		return false, err
	}
	switch {
	case m.pin != "":
		a.fail(failedLost, "%s: checkpoint %d is pinned as %s: %s", a.name, m.number, m.pin, out.said())
	case !dropped:
		a.fail(failedLost, "%s: checkpoint %d has no tombstone: %s", a.name, m.number, out.said())
	default:
		a.count(func(c *counts) { c.Forgotten++ })
	}
	return false, nil
}

// lookUpTries is how often the catalog is asked: while it is rebuilt it may have neither.
const lookUpTries = 25

// lookUp asks the catalog whether a checkpoint was deleted in order, or is there.
func (b *bed) lookUp(m remembered) (dropped, there bool, err error) {
	ctx := context.Background()
	cat, err := sqlite.Open(ctx, filepath.Join(b.home, "data", "catalog.db"), "local", sqlite.Options{})
	if err != nil {
		return false, false, err
	}
	defer cat.Close() //nolint:errcheck // only read
	for range lookUpTries {
		stones, err := cat.Tombstones(ctx, m.workspace)
		if err != nil {
			return false, false, err
		}
		rows, err := cat.ByPrefix(ctx, m.workspace, string(m.id))
		dropped = slices.ContainsFunc(stones, func(s retake.Tombstone) bool { return s.ID == m.id })
		if there = len(rows) > 0; err != nil || dropped || there {
			return dropped, there, err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return false, false, nil
}

// compareExport writes a remembered checkpoint to an archive and compares it.
func (a *agent) compareExport(turn) error {
	m, ok := a.pick()
	if !ok {
		return nil
	}
	return a.exportAndCompare(m)
}

func (a *agent) exportAndCompare(m remembered) error {
	file := a.bed.place(a.name + ".tar")
	defer os.Remove(file) //nolint:errcheck // scratch
	out := a.run(a.ws, nil, "export", m.ref(), file, "--yes", "--json")
	if ok, err := a.usable(m, out); !ok {
		return err
	}
	got, err := readArchive(file)
	if err != nil {
		return err
	}
	return a.compareTo("export", m, got, out)
}

// restoreInPlace goes back to a remembered checkpoint and compares the workspace.
func (a *agent) restoreInPlace(turn) error {
	m, ok := a.pick()
	if !ok {
		return nil
	}
	out := a.run(a.ws, nil, "restore", m.ref(), "--yes", "--json", "--accept", acceptAll)
	ok, err := a.usable(m, out)
	if err == nil && !ok && out.code != exitNotFound {
		ok, err = a.finishRestore()
	}
	if err != nil || !ok {
		return err
	}
	got, err := readTree(a.ws)
	if err != nil {
		return err
	}
	return a.compareTo("restore", m, got, out)
}

const maxForks = 2 // of one workspace

// compareFork makes a fork of a remembered checkpoint and compares it. It stays for a while.
func (a *agent) compareFork(t turn) error {
	m, ok := a.pick()
	if !ok {
		return nil
	}
	if len(a.forks) >= maxForks {
		return a.removeFork(t)
	}
	dir := filepath.Join(a.bed.place("forks"), fmt.Sprintf("%s-%d", a.name, a.turns))
	out := a.run(a.ws, nil, "fork", m.ref(), dir, "--json")
	a.forks = append(a.forks, dir)
	if ok, err := a.usable(m, out); !ok {
		return errors.Join(err, a.removeFork(t))
	}
	got, err := readTree(dir)
	if err != nil {
		return err
	}
	return a.compareTo("fork", m, got, out)
}

// removeFork erases the oldest fork, with its history. One that was refused may be there or not.
func (a *agent) removeFork(turn) error {
	if len(a.forks) == 0 {
		return nil
	}
	dir := a.forks[0]
	out := a.run(a.ws, nil, "deinit", filepath.Base(dir), "--purge", "--yes", "--json")
	if !a.judge(out, exitNotFound) && out.code != exitNotFound {
		return nil // another time
	}
	a.forks = a.forks[1:]
	return os.RemoveAll(dir)
}
