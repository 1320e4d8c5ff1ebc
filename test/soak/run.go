//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// soak is one run.
func soak(ctx context.Context, o options) (r result, err error) {
	b, err := newBed(o)
	if b == nil {
		return r, err
	}
	defer func() { err = b.clear(&r, err) }()
	if err != nil {
		return r, err
	}
	agents, err := b.makeAgents()
	if err != nil {
		return r, err
	}
	look := &sampler{bed: b}
	if o.Control {
		leaker, err := startLeaker()
		if err != nil {
			return r, err
		}
		defer leaker.Wait()         //nolint:errcheck // it was killed
		defer leaker.Process.Kill() //nolint:errcheck // it does not end by itself
		look.leaker = leaker.Process.Pid
	}
	b.began = time.Now()
	b.playAll(ctx, agents, look)
	look.take()
	played := len(look.rows)
	b.checkEnd(agents)
	look.take()
	b.end()
	return b.conclude(look.rows, played), nil
}

// clear ends what is left of the daemon, and removes the directory unless it shows a failure.
func (b *bed) clear(r *result, err error) error {
	if b.daemon != nil {
		b.daemon.Kill()
	}
	if err == nil && (r.Failed == 0 || b.Control) {
		return os.RemoveAll(b.dir)
	}
	r.Kept = b.dir
	fmt.Fprintln(os.Stderr, "soak: the directory is kept:", b.dir)
	return err
}

// makeAgents makes one agent of each dialect.
func (b *bed) makeAgents() (agents []*agent, err error) {
	for i, dialect := range daemonbed.HookAgents {
		a, err := newAgent(b, i, dialect)
		if err != nil {
			return nil, err
		}
		agents = append(agents, a)
	}
	return agents, nil
}

func startLeaker() (*exec.Cmd, error) {
	cmd := exec.Command("/proc/self/exe", "-leak")
	return cmd, cmd.Start()
}

// playAll runs everything at once until the time is over.
func (b *bed) playAll(ctx context.Context, agents []*agent, look *sampler) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.Time))
	defer cancel()
	var wg sync.WaitGroup
	for _, a := range agents {
		wg.Go(func() { a.play(ctx) })
	}
	wg.Go(func() { b.advanceClock(ctx) })
	wg.Go(func() { b.cleanUpDaily(ctx) })
	wg.Go(func() { look.work(ctx) })
	if b.FaultEvery > 0 {
		s := &saboteur{bed: b, rnd: rand.New(rand.NewSource(b.Seed)), agents: agents}
		wg.Go(func() { s.work(ctx) })
	}
	wg.Wait()
}

// cleanUpDaily cleans up once a day by the clock of the programs: some timers of the daemon count real time.
func (b *bed) cleanUpDaily(ctx context.Context) {
	t := time.NewTicker(time.Duration(float64(b.Time) / b.Days))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			b.judge(b.run(b.dir, nil, "space", "--free", "--json"))
		}
	}
}

// endCompared is how many remembered trees of an agent are compared at the end, besides those of pins.
const endCompared = 12

// checkEnd waits until everything was handled, and looks at what is left.
func (b *bed) checkEnd(agents []*agent) {
	b.waitForQueue()
	if b.Control {
		b.changeRemembered(agents[0])
	}
	for _, a := range agents {
		for _, m := range a.lastLook() {
			if err := a.exportAndCompare(m); err != nil {
				b.fail(failedSoak, "%s: %v", a.name, err)
			}
		}
	}
	b.judge(b.run(agents[0].ws, nil, "scrub", "--all", "--json"))
	b.judge(b.run(b.dir, nil, "space", "--free", "--json"))
	for _, name := range []string{"daemon.log", "hook.log"} {
		if line, err := findPanic(filepath.Join(b.home, "data", name)); err != nil {
			b.fail(failedSoak, "%v", err)
		} else if line != "" {
			b.fail(failedPanic, "%s: %s", name, line)
		}
	}
}

// lastLook chooses what is compared at the end: pins, the newest, and some others.
func (a *agent) lastLook() []remembered {
	rest := slices.Clone(a.memory)
	slices.Reverse(rest)
	if len(rest) > endCompared/2 {
		others := rest[endCompared/2:]
		a.rnd.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	}
	var out []remembered
	for i, m := range rest {
		if i < endCompared || m.pin != "" {
			out = append(out, m)
		}
	}
	return out
}

// waitForQueue waits until no event of an agent waits any more.
func (b *bed) waitForQueue() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if queue.Count(b.daemon.Signals()) == 0 {
			return
		}
		b.run(b.dir, nil, "workspaces", "--json") // it starts a daemon if there is none
	}
	b.fail(failedRefusal, "%d events of agents still wait %s after the end", queue.Count(b.daemon.Signals()), patience)
}

// changeRemembered is a part of the control: the newest tree of an agent is not what it was.
func (b *bed) changeRemembered(a *agent) {
	if len(a.memory) == 0 {
		return
	}
	m := &a.memory[len(a.memory)-1]
	text, err := os.ReadFile(m.file)
	if err != nil {
		b.fail(failedSoak, "%v", err)
		return
	}
	t := tree(strings.Split(string(text), "\n"))
	t[len(t)/2] += "0"
	m.digest = t.digest()
	if err := m.write(t); err != nil {
		b.fail(failedSoak, "%v", err)
	}
}

// findPanic returns the first line of a log that tells of a panic.
func findPanic(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text := lines.Text(); strings.Contains(text, "panic") || strings.Contains(text, "fatal error") {
			return text[:min(len(text), 400)], nil
		}
	}
	return "", nil
}

// conclude puts the result together. Slopes are of the rows that were played: at the end real time goes
// on, and the clock of the programs does not.
func (b *bed) conclude(rows []sample, played int) result {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.res
	r.Started, r.Seconds, r.Days = b.began.UTC().Truncate(time.Second), time.Since(b.began).Seconds(), b.day()
	r.fit(rows[:played])
	r.measureHighest(rows)
	r.Samples = thin(rows, maxRows)
	return r
}
