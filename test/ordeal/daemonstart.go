//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func init() { register("DAEMON-start", daemonStarted) }

const fewestStarters, mostStarters = 2, 20

// daemonStarted: of many clients that find no daemon one starts it, and all are
// answered by that one.
func daemonStarted(r *run) []verdict {
	v := verdict{Guarantee: "DAEMON", What: "2 to 20 clients race to start the daemon: one is there", Control: "the lock is taken away", Detail: map[string]any{}}
	start := time.Now()
	rounds := r.figure(10, 100)
	clients := 0
	for i := range rounds {
		n := fewestStarters + i*(mostStarters-fewestStarters)/(rounds-1)
		clients += n
		v.Tried++
		if err := startRound(r, n, i%2 == 1, &v); err != nil {
			v.fail("%d clients: %v", n, err)
		}
	}
	v.Detail["clients"] = clients
	caught, err := lockless(r, &v)
	if err != nil {
		v.fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
}

// startRound lets n clients loose on a home that is empty, or has a workspace to
// save.
func startRound(r *run, n int, full bool, v *verdict) error {
	exe, err := program(r)
	if err != nil {
		return err
	}
	h, err := newHome(r, exe)
	if err != nil {
		return err
	}
	if full {
		if err := h.furnish(context.Background(), 1); err != nil {
			return err
		}
	}
	defer os.RemoveAll(h.dir) //nolint:errcheck // scratch
	defer h.end(v)
	told, errs := make([]int, n), make([]error, n)
	var all sync.WaitGroup
	for c := range n {
		all.Go(func() { told[c], errs[c] = h.starter(c, full) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	await(func() bool { return len(h.daemons()) == 1 }) // one that came second may still be on its way out
	return h.single(told)
}

// starter asks for something, which starts the daemon, and then who answered; or
// asks for the daemon itself.
func (h *home) starter(c int, full bool) (pid int, err error) {
	what := []string{"daemon", "status"}
	switch {
	case c%3 == 0:
		what = []string{"daemon", "start"}
	case full:
		_, err = h.ask(h.exe, "-C", h.root(0), "save", fmt.Sprintf("client %d", c))
	default:
		_, err = h.ask(h.exe, "workspaces")
	}
	if err != nil {
		return 0, err
	}
	t, err := h.tells(what...)
	return t.About.PID, err
}

// single complains unless there is exactly one daemon, everybody was answered by
// it, and no other one was ever ready.
func (h *home) single(told []int) error {
	there := h.daemons()
	if len(there) != 1 {
		return fmt.Errorf("%d daemons are there: %v", len(there), there)
	}
	for _, pid := range told {
		if pid != there[0] {
			return fmt.Errorf("a client was told of %d, and %d is there", pid, there[0])
		}
	}
	log, err := os.ReadFile(filepath.Join(h.dir, "data", "daemon.log"))
	if err != nil {
		return err
	}
	if n := strings.Count(string(log), "msg=ready"); n != 1 {
		return fmt.Errorf("%d daemons were ready", n)
	}
	return nil
}

// lockless is the control: the directory of locks is put aside between two starts.
func lockless(r *run, v *verdict) (caught int64, err error) {
	h, err := furnished(context.Background(), r, 1)
	if err != nil {
		return 0, err
	}
	defer h.end(v)
	told, err := h.tells("daemon", "start")
	if err != nil {
		return 0, err
	}
	locks := filepath.Join(h.dir, "data", "locks")
	if err := os.Rename(locks, locks+".aside"); err != nil {
		return 0, err
	}
	second := exec.Command(h.exe, "daemon", "run")
	second.Env, second.Dir = h.env(), "/"
	if err := second.Start(); err != nil {
		return 0, err
	}
	defer func() {
		h.kill() // the first one is out of reach of a stop
		_ = second.Wait()
	}()
	other := func() bool {
		t, err := h.state()
		return err == nil && t.Running && t.About.PID != told.About.PID
	}
	if !await(other) {
		return 0, fmt.Errorf("no second daemon came")
	}
	if err := h.single([]int{told.About.PID, second.Process.Pid}); err != nil {
		v.Detail["control_example"] = err.Error()
		caught++
	}
	return caught, nil
}
