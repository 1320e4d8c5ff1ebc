//go:build linux

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// settle wants what was told to be a checkpoint now, and nothing to wait.
func (l *lane) settle(f hookFault, s *daemonbed.Speaker, i int) error {
	l.mu.Lock()
	l.v.Tried++
	l.sum.faults[f.name]++
	if f.lossy {
		l.sum.unkept++
	}
	l.mu.Unlock()
	if err := l.heard(fmt.Sprintf("%s, turn %d", f.name, i)); err != nil {
		return err
	}
	if f.lossy {
		return nil
	}
	t := turnTold{fault: fmt.Sprintf("%s, turn %d", f.name, i), agent: s.Agent, session: s.Session, turn: s.Turn, prompt: s.Prompt}
	good, err := l.compare([]turnTold{t})
	l.told = append(l.told, good...)
	return err
}

// heard waits until nothing waits: for a while by itself, then with a new daemon. What
// waits for ever is taken away, so that the next turns can be looked at.
func (l *lane) heard(when string) error {
	if err := l.up(); err != nil {
		return err
	}
	empty := func() bool { return queue.Count(l.Signals()) == 0 }
	if within(soon, empty) {
		return nil
	}
	l.mu.Lock()
	l.sum.restarted++
	l.mu.Unlock()
	if _, err := l.Ask(l.Exe, "daemon", "stop"); err != nil {
		return err
	}
	if err := l.up(); err != nil {
		return err
	}
	if within(harness.Patience/2, empty) {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(l.Signals(), "*.signal"))
	for _, name := range names {
		l.complain("%s: %s waits for ever", when, filepath.Base(name))
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// within waits so long for a condition at most.
func within(d time.Duration, holds func() bool) bool {
	for end := time.Now().Add(d); time.Now().Before(end); <-time.After(daemonbed.PollEvery) {
		if holds() {
			return true
		}
	}
	return holds()
}

func (l *lane) complain(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.v.Fail(format, a...)
}

// compare holds the timelines against what was told. Nothing waits any more, so what
// is no checkpoint by now is in the memory of a process alone, or nowhere. It answers the
// turns that are right.
func (l *lane) compare(told []turnTold) (good []turnTold, err error) {
	checkpoints, err := l.checkpoints()
	if err != nil {
		return nil, err
	}
	for _, t := range told {
		n, id := t.count(checkpoints)
		if n == 1 {
			t.kept = id
			good = append(good, t)
			continue
		}
		if n == 0 && l.madeRoom(t.kept) {
			continue
		}
		later := ""
		if n == 0 && within(soon, func() bool {
			checkpoints, err = l.checkpoints()
			n, _ := t.count(checkpoints)
			return err == nil && n > 0
		}) {
			later = "; one came later, and a kill before that would have lost it"
		}
		l.complain("%s: %s ended a turn once, nothing waits, and %d checkpoints tell of it%s (%s)", t.fault, t.agent, n, later, t.near(checkpoints))
	}
	return good, nil
}

func (l *lane) checkpoints() ([]retake.Checkpoint, error) {
	c := l.Client()
	defer c.Close() //nolint:errcheck // scratch
	var out []retake.Checkpoint
	for _, id := range l.Ids {
		tl, err := c.Log(context.Background(), retake.LogQuery{Workspace: id, Limit: 1 << 20})
		if err != nil {
			return nil, err
		}
		out = append(out, tl.Checkpoints...)
	}
	return out, nil
}

// count is how many checkpoints stand at the end of this turn.
func (t turnTold) count(checkpoints []retake.Checkpoint) (n int, id retake.CheckpointID) {
	for _, cp := range checkpoints {
		if cp.Trigger == retake.TriggerTurn && cp.Turn != nil && cp.Turn.Agent == t.agent && cp.Turn.Session == t.session && t.is(*cp.Turn) {
			n++
			id = cp.ID
		}
	}
	return n, id
}

// madeRoom reports whether a checkpoint that was there has a tombstone now. A disk that is
// filled again and again makes the daemon drop the oldest, which is what it is for.
func (l *lane) madeRoom(id retake.CheckpointID) bool {
	if id == "" || l.small == nil {
		return false
	}
	ctx := context.Background()
	cat, err := sqlite.Open(ctx, filepath.Join(l.Dir, "data", "catalog.db"), "local", sqlite.Options{})
	if err != nil {
		return false
	}
	defer cat.Close() //nolint:errcheck // only read
	for _, ws := range l.Ids {
		stones, err := cat.Tombstones(ctx, ws)
		if err == nil && slices.ContainsFunc(stones, func(s retake.Tombstone) bool { return s.ID == id }) {
			l.mu.Lock()
			l.sum.dropped++
			l.mu.Unlock()
			return true
		}
	}
	return false
}

func (t turnTold) is(turn retake.Turn) bool {
	if t.turn == "" {
		return turn.Prompt == t.prompt
	}
	return turn.ID == t.turn
}

// near is what the newest checkpoints say, for whoever looks into a failure.
func (t turnTold) near(checkpoints []retake.Checkpoint) string {
	var out []string
	for _, cp := range checkpoints {
		if cp.Turn != nil && cp.Turn.Session == t.session && len(out) < 4 {
			b, _ := json.Marshal(map[string]any{"n": cp.Number, "trigger": cp.Trigger, "prompt": cp.Turn.Prompt, "failed": cp.Turn.Failed, "late": cp.Turn.Late.String(), "id": cp.Turn.ID})
			out = append(out, string(b))
		}
	}
	return strings.Join(out, " ")
}

// whole looks again at the end, as it is and as the store alone makes it.
func (l *lane) whole() (err error) {
	if l.told, err = l.compare(l.told); err != nil {
		return err
	}
	if _, err := l.Ask(l.Exe, "daemon", "stop"); err != nil {
		return err
	}
	s, err := l.Alone(context.Background())
	if err != nil {
		return err
	}
	_, err = s.Rebuild(context.Background())
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	_, err = l.compare(l.told)
	return err
}

// forgotten is the control: nobody can hear, and what waits is deleted.
func forgotten(r *harness.Run, v *harness.Verdict) (int64, error) {
	blind := harness.Verdict{}
	l, err := newLane(r, hookLanes, &sync.Mutex{}, &blind, &hookSum{slowest: map[retake.SignalKind]time.Duration{}, faults: map[string]int{}})
	if err != nil {
		return 0, err
	}
	defer l.End(v)
	for i := range hookControls {
		if err := l.up(); err != nil {
			return 0, err
		}
		s := l.speaker(daemonbed.HookAgents[i%len(daemonbed.HookAgents)], i)
		s.Begin(fmt.Sprintf("control %d", i), false)
		lift, err := noRun(l)
		if err != nil {
			return 0, err
		}
		for _, kind := range daemonbed.TurnEvents {
			l.Fire(s, kind)
		}
		if err := errors.Join(os.RemoveAll(l.Signals()), lift()); err != nil {
			return 0, err
		}
		if err := l.settle(hookFault{name: "control"}, s, i); err != nil {
			return 0, err
		}
	}
	v.Detail["control_tried"] = hookControls
	if len(blind.Failures) > 0 {
		v.Detail["control_example"] = blind.Failures[0]
	}
	return blind.Failed, nil
}
