//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

func init() { register("HOOKS", hooksHold) }

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
func hooksHold(r *run) []verdict {
	v := verdict{Guarantee: "HOOKS", What: "hooks under faults: 0, in time, and no turn lost or twice", Control: "what waits is deleted before it is heard", Detail: map[string]any{}}
	start := time.Now()
	n := r.figure(60, 1000)
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
				v.fail("lane %d: %v", i, err)
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
		v.fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
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
	*home
	rnd      *rand.Rand
	mu       *sync.Mutex // guards v and sum, which all lanes share
	v        *verdict
	sum      *hookSum
	small    *place // its disk, when it has one of its own
	speakers map[string]*speaker
	turns    map[string]int
	told     []turnTold
}

func newLane(r *run, i int, mu *sync.Mutex, v *verdict, sum *hookSum) (*lane, error) {
	exe, err := program(r)
	if err != nil {
		return nil, err
	}
	l := &lane{home: &home{dir: r.scratch("h"), exe: exe}, rnd: rand.New(rand.NewSource(r.seed*1000 + int64(i))), mu: mu, v: v, sum: sum,
		speakers: map[string]*speaker{}, turns: map[string]int{}}
	floor := "1KB"
	if i == 0 {
		if l.small, err = r.smallDisk(smallSize); err != nil {
			return nil, err
		}
		l.dir, floor = l.small.dir, smallFloor
	}
	if err := os.WriteFile(filepath.Join(l.dir, "config.json"), []byte(fmt.Sprintf(`{"floor":%q}`, floor)), 0o600); err != nil {
		return nil, err
	}
	return l, l.furnish(context.Background(), 2)
}

// work goes through the faults, and looks at everything at the end.
func (l *lane) work(first, n int) error {
	defer func() {
		l.kill()
		await(func() bool { return len(l.daemons()) == 0 })
		if l.small != nil {
			l.small.end()
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
	_, err := l.ask(l.exe, "daemon", "start")
	return err
}

// turn is one turn of an agent, with a fault around some of its events.
func (l *lane) turn(f hookFault, i int) error {
	if err := l.up(); err != nil {
		return err
	}
	agent := hookAgents[(i/len(hookFaults))%len(hookAgents)]
	s := l.speaker(agent, i)
	s.begin(fmt.Sprintf("step %d", i), l.rnd.Intn(2) == 0)
	from, to := l.window()
	lift := func() error { return nil }
	for at, kind := range turnEvents {
		if at == from {
			var err error
			if lift, err = f.begin(l); err != nil {
				return err
			}
		}
		if kind == retake.SignalCalled {
			if err := os.WriteFile(filepath.Join(s.dir, "work.txt"), []byte(s.prompt), 0o644); err != nil {
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

func (l *lane) one(f hookFault, s *speaker, kind retake.SignalKind, under bool) fired {
	if under && f.fire != nil {
		return f.fire(l, s, kind)
	}
	return l.fire(s, kind)
}

// window is which of the four events the fault lasts for.
func (l *lane) window() (from, to int) {
	switch l.rnd.Intn(4) {
	case 0:
		return 0, len(turnEvents) - 1
	case 1:
		return l.rnd.Intn(len(turnEvents)), len(turnEvents) - 1
	default:
		from = l.rnd.Intn(len(turnEvents))
		return from, from
	}
}

// speaker gives the session of an agent, and a new one now and then.
func (l *lane) speaker(agent string, i int) *speaker {
	if l.turns[agent]++; l.speakers[agent] == nil || l.turns[agent]%sessionTurns == 0 {
		l.speakers[agent] = newSpeaker(agent, l.root(i%2), filepath.Join(l.dir, "transcript-"+agent+".jsonl"))
	}
	return l.speakers[agent]
}

func (l *lane) judge(f hookFault, i int, got fired) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.hooks++
	l.sum.slowest[got.kind] = max(l.sum.slowest[got.kind], got.took)
	if err := got.wrong(); err != nil {
		l.v.fail("%s, turn %d: %v", f.name, i, err)
	}
}
