//go:build linux

package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("DAEMON-start", daemonStarted) }

const fewestStarters, mostStarters = 2, 20

// daemonStarted: of many clients that find no daemon one starts it, and all are
// answered by that one.
func daemonStarted(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "DAEMON", What: "2 to 20 clients race to start the daemon: one is there", Control: "the lock is taken away", Detail: map[string]any{}}
	start := time.Now()
	rounds := r.Figure(10, 100)
	clients := 0
	for i := range rounds {
		n := fewestStarters + i*(mostStarters-fewestStarters)/(rounds-1)
		clients += n
		v.Tried++
		if err := startRound(r, n, i%2 == 1, &v); err != nil {
			v.Fail("%d clients: %v", n, err)
		}
	}
	v.Detail["clients"] = clients
	caught, err := lockless(r, &v)
	if err != nil {
		v.Fail("control: %v", err)
	}
	v.Caught = caught
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// startRound lets n clients loose on a home that is empty, or has a workspace to
// save.
func startRound(r *harness.Run, n int, full bool, v *harness.Verdict) error {
	exe, err := daemonbed.Program(r)
	if err != nil {
		return err
	}
	h, err := daemonbed.NewHome(r, exe)
	if err != nil {
		return err
	}
	if full {
		if err := h.Furnish(context.Background(), 1); err != nil {
			return err
		}
	}
	defer os.RemoveAll(h.Dir) //nolint:errcheck // scratch
	defer h.End(v)
	told, errs := make([]int, n), make([]error, n)
	var all sync.WaitGroup
	for c := range n {
		all.Go(func() { told[c], errs[c] = starter(h, c, full) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	daemonbed.Await(func() bool { return len(h.Daemons()) == 1 }) // one that came second may still be on its way out
	return single(h, told)
}

// starter asks for something, which starts the daemon, and then who answered; or
// asks for the daemon itself.
func starter(h *daemonbed.Home, c int, full bool) (pid int, err error) {
	what := []string{"daemon", "status"}
	switch {
	case c%3 == 0:
		what = []string{"daemon", "start"}
	case full:
		_, err = h.Ask(h.Exe, "-C", h.Root(0), "save", fmt.Sprintf("client %d", c))
	default:
		_, err = h.Ask(h.Exe, "workspaces")
	}
	if err != nil {
		return 0, err
	}
	t, err := h.Tells(what...)
	return t.About.PID, err
}

// single complains unless there is exactly one daemon, everybody was answered by
// it, and no other one was ever ready.
func single(h *daemonbed.Home, told []int) error {
	there := h.Daemons()
	if len(there) != 1 {
		return fmt.Errorf("%d daemons are there: %v", len(there), there)
	}
	for _, pid := range told {
		if pid != there[0] {
			return fmt.Errorf("a client was told of %d, and %d is there", pid, there[0])
		}
	}
	log, err := os.ReadFile(filepath.Join(h.Dir, "data", "daemon.log"))
	if err != nil {
		return err
	}
	if n := strings.Count(string(log), "msg=ready"); n != 1 {
		return fmt.Errorf("%d daemons were ready", n)
	}
	return nil
}

// lockless is the control: the directory of locks is put aside between two starts.
func lockless(r *harness.Run, v *harness.Verdict) (caught int64, err error) {
	h, err := daemonbed.Furnished(context.Background(), r, 1)
	if err != nil {
		return 0, err
	}
	defer h.End(v)
	told, err := h.Tells("daemon", "start")
	if err != nil {
		return 0, err
	}
	locks := filepath.Join(h.Dir, "data", "locks")
	if err := os.Rename(locks, locks+".aside"); err != nil {
		return 0, err
	}
	second := exec.Command(h.Exe, "daemon", "run")
	second.Env, second.Dir = h.Env(), "/"
	if err := second.Start(); err != nil {
		return 0, err
	}
	defer func() {
		h.Kill() // the first one is out of reach of a stop
		_ = second.Wait()
	}()
	other := func() bool {
		t, err := h.State()
		return err == nil && t.Running && t.About.PID != told.About.PID
	}
	if !daemonbed.Await(other) {
		return 0, fmt.Errorf("no second daemon came")
	}
	if err := single(h, []int{told.About.PID, second.Process.Pid}); err != nil {
		v.Detail["control_example"] = err.Error()
		caught++
	}
	return caught, nil
}
