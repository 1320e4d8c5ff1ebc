//go:build linux

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("DAEMON-orphan", daemonOrphaned)
	harness.Children["daemon-starter"] = starterChild
}

// daemonOrphaned: a command that starts the daemon ends, its streams close, and its
// process group and control group are ended; the daemon answers on. Where it was
// told to stay in the control group it ends with it, and the next command starts
// another one.
func daemonOrphaned(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "DAEMON", What: "all of its starter ends, control group too: the daemon lives", Control: "plain daemons in the same group, and in the same cgroup", Detail: map[string]any{}}
	start := time.Now()
	before := leftGroups()
	defer tidy(before)
	for _, mode := range []string{byDefault, toldToStay} {
		o := &orphanage{v: &v, mode: mode}
		if err := o.rounds(r, r.Figure(3, 20)); err != nil {
			v.Fail("%s: %v", mode, err)
		}
		v.Detail[mode] = map[string]any{
			"rounds": o.done, "outlived_the_group": o.outlived, "outlived_the_cgroup": o.survived,
			"outlived_groups_that_limit": o.unlimited,
			"eof_ms_at_most":             float64(o.slowest.Microseconds()) / 1000, "told": o.told,
		}
	}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// Settings of daemon-cgroup.
const byDefault, toldToStay = "default", "stay"

// orphanage is the rounds of one setting of daemon-cgroup.
type orphanage struct {
	v    *harness.Verdict
	mode string

	h          *daemonbed.Home    // whose daemon is looked at
	plain      [2]*daemonbed.Home // whose daemons have no protection: in the process group, in the control group
	group      *ownGroup
	limits     *ownGroup
	starter    int // process id, and so the process group
	done       int
	outlived   int
	survived   int
	unlimited  int
	slowest    time.Duration
	told       string // what the daemon tells about its control groups
	ackedSaves []string
}

func (o *orphanage) rounds(r *harness.Run, n int) error {
	var err error
	if o.h, err = daemonbed.Furnished(context.Background(), r, 1); err != nil {
		return err
	}
	stay := []*daemonbed.Home{}
	for i := range o.plain {
		if o.plain[i], err = daemonbed.NewHome(r, o.h.Exe); err != nil {
			return err
		}
		stay = append(stay, o.plain[i])
	}
	if o.mode == toldToStay {
		stay = append(stay, o.h)
	}
	for _, h := range stay {
		if _, err := h.Ask(h.Exe, "config", "daemon-cgroup", "stay"); err != nil {
			return err
		}
	}
	for i := range n {
		o.v.Tried++
		if err := o.round(i); err != nil {
			o.v.Fail("%s %d: %v", o.mode, i, err)
		}
		o.done++
	}
	out, err := o.h.Ask(o.h.Exe, "--solo", "-C", o.h.Root(0), "log", "--json")
	for _, s := range o.ackedSaves {
		if !strings.Contains(string(out), `"`+s+`"`) {
			o.v.Fail("%s: %q is gone", o.mode, s)
		}
	}
	return err
}

func (o *orphanage) round(i int) (err error) {
	name := fmt.Sprintf("ordeal-%d-%s-%d", os.Getpid(), o.mode, i)
	if o.group, err = newGroup(name, managingTrees); err != nil {
		return err
	}
	if o.limits, err = newGroup(name, measuringTrees); err != nil {
		return errors.Join(err, o.group.remove())
	}
	defer func() { err = errors.Join(err, o.clear()) }()
	if err := o.start(i); err != nil {
		return err
	}
	t, err := o.h.State()
	if err != nil || !t.Running {
		return fmt.Errorf("after its starter: running %v, %w", t.Running, err)
	}
	o.told = t.Group
	if err := o.endGroup(t.About.PID); err != nil {
		return err
	}
	if err := o.endCgroup(t.About.PID); err != nil {
		return err
	}
	return o.endLimits(t.About.PID)
}

// clear ends what the round left.
func (o *orphanage) clear() error {
	o.h.End(o.v)
	for _, p := range o.plain {
		p.Kill()
	}
	o.group.kill()
	o.limits.kill()
	return errors.Join(o.group.remove(), o.limits.remove())
}

// start runs the starter, and measures how long after its end its streams close.
func (o *orphanage) start(i int) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	intent := fmt.Sprintf("%s %d", o.mode, i)
	args := append([]string{"child", "daemon-starter", o.h.Exe, o.h.Dir, o.plain[0].Dir, o.plain[1].Dir, o.h.Root(0), intent}, append(o.group.dirs, o.limits.dirs...)...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close() // theirs now
	if err != nil {
		return err
	}
	o.starter = cmd.Process.Pid
	type ending struct {
		text []byte
		at   time.Time
	}
	closed := make(chan ending, 1)
	go func() {
		b, _ := io.ReadAll(r) // what came counts
		closed <- ending{b, time.Now()}
	}()
	err = cmd.Wait()
	ended := time.Now()
	select {
	case e := <-closed:
		o.slowest = max(o.slowest, e.at.Sub(ended))
		if err != nil {
			return fmt.Errorf("starter: %w: %.400s", err, e.text)
		}
	case <-time.After(harness.Patience):
		return errors.New("the streams of the starter stay open after its end")
	}
	o.ackedSaves = append(o.ackedSaves, intent)
	return nil
}

// endGroup kills the process group of the starter. One plain daemon is in it.
func (o *orphanage) endGroup(pid int) error {
	if err := o.victims(); err != nil {
		return err
	}
	if err := syscall.Kill(-o.starter, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the process group: %w", err)
	}
	if daemonbed.Await(func() bool { return len(o.plain[0].Daemons()) == 0 }) {
		o.v.Caught++
	}
	if err := o.answers(pid, "group"); err != nil {
		return fmt.Errorf("after the process group: %w", err)
	}
	o.outlived++
	return nil
}

// victims looks that the unprotected are where the blows will fall.
func (o *orphanage) victims() error {
	for i, p := range o.plain {
		pids := p.Daemons()
		if len(pids) != 1 || !o.group.holds(pids[0]) {
			return fmt.Errorf("plain daemon %d: %v", i, pids)
		}
	}
	return nil
}

// endCgroup ends the control groups of the starter. The other plain daemon is in
// them, with a session of its own.
func (o *orphanage) endCgroup(pid int) error {
	stays := o.group.holds(pid)
	if !o.group.kill() {
		return errors.New("somebody stays in the control group")
	}
	if daemonbed.Await(func() bool { return len(o.plain[1].Daemons()) == 0 }) {
		o.v.Caught++
	}
	if stays { // who was killed takes a checkpoint to go
		daemonbed.Await(func() bool { return !proc.IsAlive(pid) })
	}
	if proc.IsAlive(pid) {
		o.survived++
		return o.answers(pid, "cgroup") // a save, so a daemon that is about to end does not pass
	}
	if o.mode != toldToStay {
		return fmt.Errorf("ended with the control group, in which it was: %v", stays)
	}
	return o.saves("another")
}

// endLimits ends the groups that only limit. The daemon does not leave them, so
// it is counted and not judged; the next command must be answered.
func (o *orphanage) endLimits(pid int) error {
	if !proc.IsAlive(pid) {
		return nil
	}
	stays := o.limits.holds(pid)
	if !o.limits.kill() {
		return errors.New("somebody stays in a group that limits")
	}
	if !stays || !daemonbed.Await(func() bool { return !proc.IsAlive(pid) }) {
		o.unlimited++
	}
	return o.saves("limits")
}

// answers wants a save done by the same process.
func (o *orphanage) answers(pid int, after string) error {
	if !proc.IsAlive(pid) {
		return fmt.Errorf("process %d is gone", pid)
	}
	if err := o.saves(after); err != nil {
		return err
	}
	t, err := o.h.State()
	if err != nil || t.About.PID != pid {
		return fmt.Errorf("%d answers instead of %d: %w", t.About.PID, pid, err)
	}
	return nil
}

func (o *orphanage) saves(after string) error {
	intent := fmt.Sprintf("%s %d after %s", o.mode, o.done, after)
	if _, err := o.h.Ask(o.h.Exe, "-C", o.h.Root(0), "save", intent); err != nil {
		return err
	}
	o.ackedSaves = append(o.ackedSaves, intent)
	return nil
}

// starterChild is a hook or an agent: it enters its control groups, starts two
// daemons as one starts a program, and saves, which starts the third.
func starterChild(args []string) int {
	exe, homes, root, intent := args[0], args[1:4], args[4], args[5]
	if err := enter(args[6:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i, dir := range homes[1:] {
		cmd := exec.Command(exe, "daemon", "run")
		cmd.Env, cmd.Dir = (&daemonbed.Home{Dir: dir}).Env(), "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: i == 1}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		socket := filepath.Join(dir, "run", "daemon.sock")
		if !daemonbed.Await(func() bool { c, err := net.Dial("unix", socket); return err == nil && c.Close() == nil }) {
			fmt.Fprintln(os.Stderr, "no plain daemon listens at", socket)
			return 1
		}
	}
	cmd := exec.Command(exe, "-C", root, "save", intent)
	cmd.Env, cmd.Dir = (&daemonbed.Home{Dir: homes[0]}).Env(), "/"
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
