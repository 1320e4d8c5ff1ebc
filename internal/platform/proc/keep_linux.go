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
const supervisorArg = "_keep"

// runSupervisor is a keeper: the parent of one program and, after their own parents, of all that
// it starts. It ends them when the program ends, and when its order pipe closes: whoever
// wants the program closes it, alive or dead.
func runSupervisor(args []string) (handled bool) {
	if len(args) != 1 || args[0] != supervisorArg || !isPipe(requestFD) || !isPipe(replyFD) {
		return false
	}
	runtime.LockOSThread() // rights, urgency and the fate of the child hang on this thread
	unix.CloseOnExec(requestFD)
	unix.CloseOnExec(replyFD)
	orders, words := os.NewFile(requestFD, "order"), gob.NewEncoder(os.NewFile(replyFD, "word"))
	var c supervisorRequest
	if gob.NewDecoder(orders).Decode(&c) != nil {
		return true
	}
	pid, code, err := c.startProgram()
	if err != nil {
		_ = words.Encode(startReport{Why: err.Error()}) // nobody may be there
		return true
	}
	_ = words.Encode(startReport{PID: pid})
	if pid == 0 {
		_ = words.Encode(exitReport{Exit: code})
		return true
	}
	_ = words.Encode(c.superviseProgram(pid, orders))
	return true
}

// startProgram starts the program. Without one, the code is that of a shell.
func (c supervisorRequest) startProgram() (pid, code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, 0, err
	}
	lowerOwnPriority(c.Nice)
	if c.Program.MountPath == "" {
		err = os.Chdir(c.Program.Cwd)
	} else {
		err = c.Program.setUpMounts()
	}
	if err != nil {
		return 0, 0, err
	}
	o := c.Program
	path, err := findProgram(o.Args[0], o.Cwd, o.Env)
	if err == nil {
		pid, err = syscall.ForkExec(path, o.Args, &syscall.ProcAttr{
			Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
		})
	}
	if err == nil {
		return pid, 0, nil
	}
	text, code := notRunnableMessage(err)
	_, _ = os.Stderr.WriteString(text) // the code says as much
	return 0, code, nil
}

// lowerOwnPriority makes us and our children less urgent. A new session is weighed as a whole, so
// it has to be told too.
func lowerOwnPriority(nice int) {
	if nice > 0 {
		nice = reducedPriority(nice)
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice) // it only takes longer for others
		_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(nice)), 0)
	}
}

// superviseProgram waits for the end of the program, and then of all others.
func (c supervisorRequest) superviseProgram(pid int, orders *os.File) exitReport {
	asked, ended, empty := make(chan struct{}), make(chan exitReport, 1), make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		close(asked)
	}()
	go func() {
		defer close(empty)
		reapChildren(pid, ended)
	}()
	return c.stopDescendants(asked, ended, empty)
}

// reapChildren takes the ends of all children until none is left.
func reapChildren(pid int, ended chan<- exitReport) {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return
		case got == pid:
			ended <- exitReportOf(ws)
		}
	}
}

func exitReportOf(ws unix.WaitStatus) exitReport {
	if ws.Signaled() {
		return exitReport{Exit: exitSignalBase + int(ws.Signal()), Signal: int(ws.Signal())}
	}
	return exitReport{Exit: ws.ExitStatus()}
}

// stopDescendants ends all children after the program, or when it is asked to. What does not end
// is left after a while: a process that the kernel holds, or another user's.
func (c supervisorRequest) stopDescendants(asked <-chan struct{}, ended <-chan exitReport, empty <-chan struct{}) exitReport {
	o := exitReport{Cancelled: true}
	select {
	case o = <-ended:
	case <-asked:
		select {
		case o = <-ended: // it was quicker
		default:
		}
	}
	signalDescendants(unix.SIGTERM)
	tick := time.NewTicker(fastPollInterval)
	defer tick.Stop()
	grace, last := time.After(c.Grace), time.After(c.Grace+exitLag/2)
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
				signalDescendants(unix.SIGKILL)
			}
		}
	}
}

// signalDescendants sends a signal to everything that descends from us.
func signalDescendants(sig unix.Signal) {
	for _, pid := range listDescendants(os.Getpid()) {
		_ = unix.Kill(pid, sig) // or it ended by itself
	}
}

// listDescendants lists all below a process, in no order.
func listDescendants(root int) []int {
	pids, err := listProcesses()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, pid := range pids {
		if _, up, err := readNameAndParent(pid); err == nil {
			children[up] = append(children[up], pid)
		}
	}
	all := slices.Clone(children[root])
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
