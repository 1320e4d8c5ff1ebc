//go:build linux

// Package hooks speaks to hooks under faults: they must end with 0 and in time, and no turn
// be lost or told twice.
package hooks

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("HOOKS", hooksHold) }

const (
	hookLanes    = 3
	sessionTurns = 8               // turns of one session
	soon         = 4 * time.Second // for what waits to be heard by the daemon that is there
	hookControls = 8
)

// hooksHold: real hook processes of four agents, while the daemon is missing, hangs or
// is killed, the disk is full, the clock jumps, the home cannot be written and junk
// lies among the signals. The agent sees an end with 0, in time, and nothing but its
// own dialect; and when the fault is lifted, every turn that was told is a checkpoint,
// once, and nothing waits any more.
func hooksHold(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "HOOKS", What: "hooks under faults: 0, in time, and no turn lost or twice", Control: "what waits is deleted before it is heard", Detail: map[string]any{}}
	start := time.Now()
	n := r.Figure(60, 1000)
	var mu sync.Mutex
	var all sync.WaitGroup
	sum := &hookSum{slowest: map[retake.SignalKind]time.Duration{}, faults: map[string]int{}}
	for i := range hookLanes {
		all.Go(func() {
			l, err := newLane(r, i, &mu, &v, sum)
			if err == nil {
				err = l.work(i, n)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				v.Fail("lane %d: %v", i, err)
			}
		})
	}
	all.Wait()
	for kind, d := range sum.slowest {
		v.Detail["slowest_ms_"+string(kind)] = d.Milliseconds()
	}
	v.Detail["faults"], v.Detail["hooks"], v.Detail["turns_that_nobody_could_keep"] = sum.faults, sum.hooks, sum.unkept
	v.Detail["turns_kept_and_later_dropped_for_room"] = sum.dropped
	v.Detail["heard_only_by_a_new_daemon"] = sum.restarted
	caught, err := forgotten(r, &v)
	if err != nil {
		v.Fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// hookSum is what all lanes add up.
type hookSum struct {
	slowest   map[retake.SignalKind]time.Duration
	faults    map[string]int
	hooks     int
	unkept    int
	dropped   int // for room, with a tombstone
	restarted int
}

// turnTold is one turn whose end was told.
type turnTold struct {
	fault, agent, session, turn, prompt string

	kept retake.CheckpointID // the checkpoint that told of it
}

// lane is one home in which one turn follows the other.
type lane struct {
	*daemonbed.Home
	rnd      *rand.Rand
	mu       *sync.Mutex // guards v and sum, which all lanes share
	v        *harness.Verdict
	sum      *hookSum
	small    *treebed.Place // its disk, when it has one of its own
	speakers map[string]*daemonbed.Speaker
	turns    map[string]int
	told     []turnTold
}

func newLane(r *harness.Run, i int, mu *sync.Mutex, v *harness.Verdict, sum *hookSum) (*lane, error) {
	exe, err := daemonbed.Program(r)
	if err != nil {
		return nil, err
	}
	l := &lane{Home: &daemonbed.Home{Dir: r.Scratch("h"), Exe: exe}, rnd: rand.New(rand.NewSource(r.Seed*1000 + int64(i))), mu: mu, v: v, sum: sum,
		speakers: map[string]*daemonbed.Speaker{}, turns: map[string]int{}}
	floor := "1KB"
	if i == 0 {
		if l.small, err = treebed.SmallDisk(r, smallSize); err != nil {
			return nil, err
		}
		l.Dir, floor = l.small.Dir, smallFloor
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "config.json"), []byte(fmt.Sprintf(`{"floor":%q}`, floor)), 0o600); err != nil {
		return nil, err
	}
	return l, l.Furnish(context.Background(), 2)
}

// work goes through the faults, and looks at everything at the end.
func (l *lane) work(first, n int) error {
	defer func() {
		l.Kill()
		daemonbed.Await(func() bool { return len(l.Daemons()) == 0 })
		if l.small != nil {
			l.small.End()
		}
	}()
	for i := first; i < n; i += hookLanes {
		f := hookFaults[i%len(hookFaults)]
		if err := l.turn(f, i); err != nil {
			return fmt.Errorf("%s, turn %d: %w", f.name, i, err)
		}
	}
	return l.whole()
}

// up sees to it that a daemon listens.
func (l *lane) up() error {
	_, err := l.Ask(l.Exe, "daemon", "start")
	return err
}

// turn is one turn of an agent, with a fault around some of its events.
func (l *lane) turn(f hookFault, i int) error {
	if err := l.up(); err != nil {
		return err
	}
	agent := daemonbed.HookAgents[(i/len(hookFaults))%len(daemonbed.HookAgents)]
	s := l.speaker(agent, i)
	s.Begin(fmt.Sprintf("step %d", i), l.rnd.Intn(2) == 0)
	from, to := l.window()
	lift := func() error { return nil }
	for at, kind := range daemonbed.TurnEvents {
		if at == from {
			var err error
			if lift, err = f.begin(l); err != nil {
				return err
			}
		}
		if kind == retake.SignalCalled {
			if err := os.WriteFile(filepath.Join(s.Dir, "work.txt"), []byte(s.Prompt), 0o644); err != nil {
				return err
			}
		}
		l.judge(f, i, l.one(f, s, kind, at >= from && at <= to))
		if at == to {
			if err := lift(); err != nil {
				return err
			}
		}
	}
	return l.settle(f, s, i)
}

func (l *lane) one(f hookFault, s *daemonbed.Speaker, kind retake.SignalKind, under bool) daemonbed.Fired {
	if under && f.fire != nil {
		return f.fire(l, s, kind)
	}
	return l.Fire(s, kind)
}

// window is which of the four events the fault lasts for.
func (l *lane) window() (from, to int) {
	switch l.rnd.Intn(4) {
	case 0:
		return 0, len(daemonbed.TurnEvents) - 1
	case 1:
		return l.rnd.Intn(len(daemonbed.TurnEvents)), len(daemonbed.TurnEvents) - 1
	default:
		from = l.rnd.Intn(len(daemonbed.TurnEvents))
		return from, from
	}
}

// speaker gives the session of an agent, and a new one now and then.
func (l *lane) speaker(agent string, i int) *daemonbed.Speaker {
	if l.turns[agent]++; l.speakers[agent] == nil || l.turns[agent]%sessionTurns == 0 {
		l.speakers[agent] = daemonbed.NewSpeaker(agent, l.Root(i%2), filepath.Join(l.Dir, "transcript-"+agent+".jsonl"))
	}
	return l.speakers[agent]
}

func (l *lane) judge(f hookFault, i int, got daemonbed.Fired) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.hooks++
	l.sum.slowest[got.Kind] = max(l.sum.slowest[got.Kind], got.Took)
	if err := got.Wrong(); err != nil {
		l.v.Fail("%s, turn %d: %v", f.name, i, err)
	}
}
