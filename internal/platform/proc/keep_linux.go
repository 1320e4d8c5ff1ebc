package proc

import (
	"encoding/gob"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keepWord is the argument by which our own program knows that it is a keeper.
const keepWord = "_keep"

// keep is a keeper: the parent of one program and, after their own parents, of all that
// it starts. It ends them when the program ends, and when its order pipe closes: whoever
// wants the program closes it, alive or dead.
func keep(args []string) (handled bool) {
	if len(args) != 1 || args[0] != keepWord || !isPipe(orderFD) || !isPipe(wordFD) {
		return false
	}
	runtime.LockOSThread() // rights, urgency and the fate of the child hang on this thread
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(wordFD)
	orders, words := os.NewFile(orderFD, "order"), gob.NewEncoder(os.NewFile(wordFD, "word"))
	var c charge
	if gob.NewDecoder(orders).Decode(&c) != nil {
		return true
	}
	pid, code, err := c.begin()
	if err != nil {
		_ = words.Encode(begun{Why: err.Error()}) // nobody may be there
		return true
	}
	_ = words.Encode(begun{PID: pid})
	if pid == 0 {
		_ = words.Encode(over{Exit: code})
		return true
	}
	_ = words.Encode(c.watch(pid, orders))
	return true
}

// begin starts the program. Without one, the code is that of a shell.
func (c charge) begin() (pid, code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, 0, err
	}
	slow(c.Nice)
	if c.Order.Over == "" {
		err = os.Chdir(c.Order.Cwd)
	} else {
		err = c.Order.enter()
	}
	if err != nil {
		return 0, 0, err
	}
	o := c.Order
	path, err := find(o.Args[0], o.Cwd, o.Env)
	if err == nil {
		pid, err = syscall.ForkExec(path, o.Args, &syscall.ProcAttr{
			Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
		})
	}
	if err == nil {
		return pid, 0, nil
	}
	text, code := refusal(err)
	_, _ = os.Stderr.WriteString(text) // the code says as much
	return 0, code, nil
}

// slow makes us and our children less urgent. A new session is weighed as a whole, so
// it has to be told too.
func slow(nice int) {
	if nice > 0 {
		nice = slower(nice)
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice) // it only takes longer for others
		_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(nice)), 0)
	}
}

// watch waits for the end of the program, and then of all others.
func (c charge) watch(pid int, orders *os.File) over {
	asked, ended, empty := make(chan struct{}), make(chan over, 1), make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		close(asked)
	}()
	go func() {
		defer close(empty)
		collect(pid, ended)
	}()
	return c.tend(asked, ended, empty)
}

// collect takes the ends of all children until none is left.
func collect(pid int, ended chan<- over) {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return
		case got == pid:
			ended <- endOf(ws)
		}
	}
}

func endOf(ws unix.WaitStatus) over {
	if ws.Signaled() {
		return over{Exit: exitSignal + int(ws.Signal()), Signal: int(ws.Signal())}
	}
	return over{Exit: ws.ExitStatus()}
}

// tend ends all children after the program, or when it is asked to. What does not end
// is left after a while: a process that the kernel holds, or another user's.
func (c charge) tend(asked <-chan struct{}, ended <-chan over, empty <-chan struct{}) over {
	o := over{Ours: true}
	select {
	case o = <-ended:
	case <-asked:
		select {
		case o = <-ended: // it was quicker
		default:
		}
	}
	signalAll(unix.SIGTERM)
	tick := time.NewTicker(goneEvery)
	defer tick.Stop()
	grace, last := time.After(c.Grace), time.After(c.Grace+lag/2)
	hard := false
	for {
		select {
		case <-empty:
			return o
		case <-grace:
			hard = true
		case <-last:
			return o
		case <-tick.C:
			if hard {
				signalAll(unix.SIGKILL)
			}
		}
	}
}

// signalAll sends a signal to everything that descends from us.
func signalAll(sig unix.Signal) {
	for _, pid := range descendants(os.Getpid()) {
		_ = unix.Kill(pid, sig) // or it ended by itself
	}
}

// descendants lists all below a process, in no order.
func descendants(root int) []int {
	pids, err := processes()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, pid := range pids {
		if _, up, err := nameOf(pid); err == nil {
			children[up] = append(children[up], pid)
		}
	}
	all := slices.Clone(children[root])
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
