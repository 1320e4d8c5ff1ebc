//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// agent works in a workspace of its own, which nothing else changes.
type agent struct {
	*bed
	name    string
	ws      string
	rnd     *rand.Rand
	editor  *editor
	speaker *daemonbed.Speaker
	turns   int
	memory  []remembered
	pins    []string
	forks   []string // directories, the oldest first
}

const (
	sessionTurns = 12 // turns of one session
	sampleTurns  = 10 // turns between two trees that are remembered
)

// newAgent makes a workspace and protects it.
func newAgent(b *bed, i int, dialect string) (*agent, error) {
	a := &agent{bed: b, name: dialect, ws: b.place(dialect), rnd: rand.New(rand.NewSource(b.Seed*1000 + int64(i)))}
	a.editor = &editor{root: a.ws, rnd: a.rnd, size: b.Files}
	if err := os.Mkdir(a.ws, 0o755); err != nil {
		return nil, err
	}
	if err := makeTree(a.ws, a.rnd, b.Files); err != nil {
		return nil, err
	}
	if out := b.run(a.ws, nil, "init", "--no-input", "--json"); out.code != 0 {
		return nil, fmt.Errorf("protect a workspace: %s", out.said())
	}
	return a, nil
}

// play works until the time is over. The pace is that of the starts of turns.
func (a *agent) play(ctx context.Context) {
	for ctx.Err() == nil {
		next := time.After(time.Duration(float64(a.Pace) * (0.7 + 0.6*a.rnd.Float64())))
		if err := a.step(); err != nil {
			a.fail(failedSoak, "%s: %v", a.name, err)
			return
		}
		select {
		case <-ctx.Done():
		case <-next:
		}
	}
}

// turn is what is known of a turn.
type turn struct {
	prompt string
	began  time.Time
	before tree // of the workspace, if it was read
	taken  bool // all hooks took their checkpoints
}

// actions follow a turn with their chances in a thousand.
var actions = []struct {
	chance int
	do     func(*agent, turn) error
}{
	{60, (*agent).undo}, {40, (*agent).restoreInPlace}, {25, (*agent).compareExport}, {40, (*agent).compareFork}, {35, (*agent).removeFork}, {60, (*agent).save},
}

// step is a turn, and what its user does then.
func (a *agent) step() error {
	draw := a.rnd.Intn(1000)
	action, after := -1, 0
	for i := range actions {
		if after += actions[i].chance; action < 0 && draw < after {
			action = i
		}
	}
	t, err := a.turn(action == 0)
	if err != nil {
		return err
	}
	if a.turns%sampleTurns == 0 {
		if err := a.remember(t); err != nil {
			return err
		}
	}
	if action < 0 {
		return nil
	}
	return actions[action].do(a, t)
}

// turn is one turn: a prompt, calls of tools that change files, and the end.
func (a *agent) turn(read bool) (turn, error) {
	if a.turns%sessionTurns == 0 {
		a.speaker = daemonbed.NewSpeaker(a.name, a.ws, filepath.Join(a.bed.place("user"), fmt.Sprintf("%s-%d.jsonl", a.name, a.turns)))
	}
	a.turns++
	a.speaker.Begin(fmt.Sprintf("%s step %d", a.name, a.turns), a.rnd.Intn(6) == 0)
	t := turn{prompt: a.speaker.Prompt, began: time.Now(), taken: true}
	if read {
		var err error
		if t.before, err = readTree(a.ws); err != nil {
			return t, err
		}
	}
	if err := a.talk("user", t.prompt); err != nil {
		return t, err
	}
	t.taken = a.fire(retake.SignalPrompt)
	for range 1 + a.rnd.Intn(2) {
		t.taken = a.fire(retake.SignalCall) && t.taken
		if err := a.editor.edit(); err != nil {
			return t, err
		}
		t.taken = a.fire(retake.SignalCalled) && t.taken
	}
	if err := a.talk("assistant", "Done: "+t.prompt); err != nil {
		return t, err
	}
	t.taken = a.fire(retake.SignalTurnEnd) && t.taken
	a.count(func(c *counts) { c.Turns++ })
	return t, nil
}

// talk adds a line to the conversation, as Claude Code writes it. Retake keeps it with the turn.
func (a *agent) talk(who, text string) error {
	line, err := json.Marshal(map[string]any{
		"type": who, "sessionId": a.speaker.Session, "uuid": uuid.NewString(), "cwd": a.ws, "timestamp": time.Now().Add(a.clock.steadyShift()).UTC(),
		"message": map[string]any{"role": who, "content": []map[string]string{{"type": "text", "text": text + " " + string(someText(a.rnd))}}},
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(a.speaker.Transcript, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func (a *agent) fire(kind retake.SignalKind) bool {
	_, payload := a.speaker.Says(kind)
	return a.judgeHook(a.run(a.ws, payload, "hook", a.name))
}

// save is a save by the user, with edits of his own.
func (a *agent) save(turn) error {
	if err := a.editor.edit(); err != nil {
		return err
	}
	a.judge(a.run(a.ws, nil, "save", "by hand", "--json"))
	return nil
}

// newest is the newest checkpoint, or nil.
func (a *agent) newest() (*retake.Checkpoint, error) {
	out := a.run(a.ws, nil, "log", "--json", "--limit", "1")
	if !a.judge(out) {
		return nil, nil
	}
	var t retake.Timeline
	if err := out.into(&t); err != nil || len(t.Checkpoints) == 0 {
		return nil, err
	}
	return &t.Checkpoints[0], nil
}

// isOf reports whether a checkpoint has the files of the end of a turn.
func (t turn) isOf(cp *retake.Checkpoint) bool {
	return cp != nil && cp.Trigger == retake.TriggerTurn && cp.Coverage.Grade == retake.Complete && cp.Turn != nil && cp.Turn.Late == 0 && strings.Contains(cp.Turn.Prompt, t.prompt)
}

var acceptAll = func() string {
	var out []string
	for _, c := range retake.ObstacleClasses {
		if c != retake.ObstacleDamaged { // damage must be named, not passed over
			out = append(out, c)
		}
	}
	return strings.Join(out, ",")
}()

// undo takes back the turn that just ended, and perhaps does it again. Both are compared, unless a fault
// came between: then undo may mean another change.
func (a *agent) undo(t turn) error {
	cp, err := a.newest()
	if err != nil {
		return err
	}
	after, err := readTree(a.ws)
	if err != nil {
		return err
	}
	for _, way := range []struct {
		name string
		want tree
	}{{"undo", t.before}, {"redo", after}}[:1+a.rnd.Intn(2)] {
		out := a.run(a.ws, nil, way.name, "--yes", "--json", "--accept", acceptAll)
		if !a.judge(out, exitNotFound) {
			_, err := a.finishRestore()
			return err
		}
		why := ""
		switch {
		case !t.taken:
			why = "a hook took no checkpoint"
		case a.calm.since(t.began):
			why = "a fault"
		case !t.isOf(cp):
			why = "the turn is not the newest checkpoint"
		}
		if why != "" {
			a.count(func(c *counts) { c.Undone[why]++ })
			return nil
		}
		got, err := readTree(a.ws)
		if err != nil {
			return err
		}
		a.compare(way.name, way.want, got, out)
	}
	return nil
}

// finishRestore finishes a restore that a fault interrupted, if there is one.
func (a *agent) finishRestore() (finished bool, err error) {
	out := a.run(a.ws, nil, "restore", "--finish", "--yes", "--json", "--accept", acceptAll)
	return a.judge(out, exitNotFound), nil
}
