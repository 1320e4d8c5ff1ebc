package proc

import (
	"encoding/json"
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

// supervisorArg is the argument by which our own program recognizes that it is a supervisor.
const supervisorArg = "_keep"

// runSupervisor makes this process a supervisor: the parent of one program and, as a
// subreaper, of its orphaned descendants. It ends them when the program ends, and when its
// request pipe closes, which happens also when the requesting process dies.
func runSupervisor(args []string) (handled bool) {
	if len(args) != 1 || args[0] != supervisorArg || !isPipe(requestFD) || !isPipe(replyFD) {
		return false
	}
	runtime.LockOSThread() // capabilities, priority and Pdeathsig depend on this thread
	unix.CloseOnExec(requestFD)
	unix.CloseOnExec(replyFD)
	orders, words := os.NewFile(requestFD, "order"), json.NewEncoder(os.NewFile(replyFD, "word"))
	var c supervisorRequest
	if json.NewDecoder(orders).Decode(&c) != nil {
		return true
	}
	pid, code, err := c.startProgram()
	if err != nil {
		_ = words.Encode(startReport{Why: err.Error()}) // the parent may be gone
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

// startProgram starts the program. If the program cannot be run, pid is 0 and code is what a
// shell would return.
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
	_, _ = os.Stderr.WriteString(text) // the exit code says the same
	return 0, code, nil
}

// lowerOwnPriority lowers the priority of this process and its children. A new session is
// scheduled as one autogroup, whose priority has to be set too.
func lowerOwnPriority(nice int) {
	if nice > 0 {
		nice = reducedPriority(nice)
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice) // best effort
		_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(nice)), 0)
	}
}

// superviseProgram waits for the end of the program, and then of all its descendants.
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

// reapChildren waits for all children until none is left, and sends the end of pid to ended.
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

// stopDescendants terminates all descendants after the program ended, or when asked to. It
// gives up on processes that do not end in time: those blocked in the kernel, or of another
// user.
func (c supervisorRequest) stopDescendants(asked <-chan struct{}, ended <-chan exitReport, empty <-chan struct{}) exitReport {
	o := exitReport{Cancelled: true}
	select {
	case o = <-ended:
	case <-asked:
		select {
		case o = <-ended: // it ended at the same time
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

// signalDescendants sends a signal to all descendants of this process.
func signalDescendants(sig unix.Signal) {
	for _, pid := range listDescendants(os.Getpid()) {
		_ = unix.Kill(pid, sig) // or it ended by itself
	}
}

// listDescendants returns all descendants of a process, in no order.
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
