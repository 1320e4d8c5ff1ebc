//go:build linux

// Package daemon starts, kills and replaces the daemon under its clients: what was
// acknowledged must be there, once.
package daemon

import (
	"context"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("DAEMON-kill", daemonKilled) }

const (
	killClients    = 16
	killWorkspaces = 16
	refusedShare   = 0.03 // of saves that may end with an error while daemons are killed
	controlClaims  = 6
)

// daemonKilled: many clients save while the daemon is killed again and again, and
// whoever asks next starts another one. What was acknowledged is there, once.
func daemonKilled(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "DAEMON", What: "daemon killed under 16 clients: acknowledged is there, once", Control: "success is reported before the answer", Detail: map[string]any{}}
	start := time.Now()
	if err := killRound(r, &v); err != nil {
		v.Fail("%v", err)
	}
	if err := earlyClaims(r, &v); err != nil {
		v.Fail("control: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

func killRound(r *harness.Run, v *harness.Verdict) error {
	ctx := context.Background()
	h, err := daemonbed.Furnished(ctx, r, killWorkspaces)
	if err != nil {
		return err
	}
	saves, kills := r.Figure(120, 1000), r.Figure(8, 50)
	l, a := &ledger{}, &assassin{h: h, kills: kills, saves: saves, rnd: rand.New(rand.NewSource(r.Seed)), victims: map[int]bool{}}
	began, done := time.Now(), make(chan struct{})
	var clients, killer sync.WaitGroup
	killer.Go(func() { a.work(l, done) })
	for c := range killClients {
		rnd := rand.New(rand.NewSource(r.Seed*100 + int64(c)))
		clients.Go(func() {
			for step := c; step < saves; step += killClients {
				l.deed(h, h.Exe, c, rnd.Intn(killWorkspaces), step)
			}
		})
	}
	clients.Wait()
	close(done)
	killer.Wait()
	v.Detail["seconds_of_saves"] = time.Since(began).Seconds()
	h.End(v)
	v.Tried = int64(len(l.promises))
	if a.done < kills {
		v.Fail("%d kills of %d", a.done, kills)
	}
	if len(l.refused) > int(refusedShare*float64(saves)) {
		v.Fail("%d saves of %d ended with an error: %s", len(l.refused), saves, l.errors[0])
	}
	v.Detail["saves"], v.Detail["acknowledged"], v.Detail["refused"] = saves, len(l.promises), len(l.refused)
	v.Detail["refused_share"], v.Detail["killed"], v.Detail["killed_at_birth"] = float64(len(l.refused))/float64(saves), a.done, a.birth
	v.Detail["errors"] = l.errors[:min(3, len(l.errors))]
	l.keptBy(ctx, h, v)
	l.readAlone(h, v)
	return nil
}

// assassin kills the daemon at checkpoints spread over the saves.
type assassin struct {
	h       *daemonbed.Home
	rnd     *rand.Rand
	kills   int
	saves   int
	victims map[int]bool // a process that was killed takes a while to go
	done    int
	birth   int // of the kills, those that met a daemon which had just begun
}

const (
	atBirth   = 4  // one kill in so many is followed by one more, as soon as there is a next daemon
	killDelay = 80 // milliseconds at most, from the checkpoint it is due
)

func (a *assassin) work(l *ledger, done <-chan struct{}) {
	for a.done < a.kills {
		due := a.saves * a.done / a.kills
		if !a.await(done, func() bool { return l.started() > due }) {
			return
		}
		<-time.After(a.delay()) // the checkpoint is random; that is the point
		if !a.await(done, a.strike) {
			return
		}
		if a.done < a.kills && a.rnd.Intn(atBirth) == 0 && a.await(done, func() bool { return len(a.fresh()) > 0 }) {
			<-time.After(a.delay() / 10)
			a.birth++
			a.await(done, a.strike)
		}
	}
}

func (a *assassin) delay() time.Duration {
	return time.Duration(a.rnd.Intn(killDelay*1000)) * time.Microsecond
}

// await waits as the others do, and answers false when the clients are done.
func (a *assassin) await(done <-chan struct{}, holds func() bool) bool {
	over := false
	return daemonbed.Await(func() bool {
		select {
		case <-done:
			over = true
		default:
		}
		return over || holds()
	}) && !over
}

// fresh are the daemons that were not killed yet.
func (a *assassin) fresh() []int {
	return slices.DeleteFunc(a.h.Daemons(), func(pid int) bool { return a.victims[pid] })
}

func (a *assassin) strike() bool {
	pids := a.fresh()
	for _, pid := range pids {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			a.victims[pid] = true
			a.done++
		}
	}
	return len(pids) > 0
}

// earlyClaims is the control: a client that sends, does not wait for the answer
// and calls it done; the daemon is killed right behind.
func earlyClaims(r *harness.Run, v *harness.Verdict) error {
	ctx := context.Background()
	h, err := daemonbed.Furnished(ctx, r, 1)
	if err != nil {
		return err
	}
	defer h.End(v)
	l := &ledger{}
	for i := range controlClaims {
		if _, err := h.Ask(h.Exe, "daemon", "start"); err != nil {
			return err
		}
		p := promise{client: i, file: "f", text: fmt.Sprintf("claim %d", i), id: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString())}
		if err := os.WriteFile(filepath.Join(h.Root(0), p.file), []byte(p.text), 0o644); err != nil {
			return err
		}
		if err := sendOnly(h, p); err != nil {
			return err
		}
		h.Kill()
		if !daemonbed.Await(func() bool { return len(h.Daemons()) == 0 }) {
			return fmt.Errorf("kill: it lives on")
		}
		l.promises = append(l.promises, p)
	}
	example := ""
	for _, p := range l.promises {
		c := harness.Verdict{}
		(&ledger{promises: []promise{p}}).keptBy(ctx, h, &c)
		if c.Failed > 0 {
			v.Caught++
			example = c.Failures[0]
		}
	}
	v.Detail["control_tried"], v.Detail["control_example"] = controlClaims, example
	return nil
}

// sendOnly sends a save as any client does, and hangs up.
func sendOnly(h *daemonbed.Home, p promise) error {
	c, err := net.Dial("unix", filepath.Join(h.Dir, "run", "daemon.sock"))
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is read
	body := fmt.Sprintf(`{"id":%q,"intent":%q}`, p.id, p.text)
	_, err = fmt.Fprintf(c, "POST /v1/workspaces/%s/checkpoints HTTP/1.1\r\nHost: retake\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		h.Ids[p.ws], len(body), body)
	return err
}
