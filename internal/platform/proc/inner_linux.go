package proc

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// exitHelperFailed is the exit code of a helper that could not start the program. It is never
// shown.
const exitHelperFailed = 125

// RunHelper is the child side of RunMounted and of RunIsolated. A main program calls it before
// anything else, with its arguments after the program name, and exits with the returned code
// if handled is true. It does not return if the program starts.
func RunHelper(args []string) (handled bool, exit int) {
	helperAvailable.Store(true)
	if runSupervisor(args) || runSpawner(args) {
		return true, 0
	}
	if len(args) != 1 || args[0] != insideArg || !isPipe(requestFD) || !isPipe(replyFD) {
		return false, 0
	}
	runtime.LockOSThread() // capabilities are per thread, and those of the thread that calls exec count
	unix.CloseOnExec(requestFD)
	unix.CloseOnExec(replyFD)
	word := os.NewFile(replyFD, "word")
	var o helperRequest
	err := json.NewDecoder(os.NewFile(requestFD, "order")).Decode(&o)
	if err == nil {
		err = o.setUpMounts()
	}
	if err != nil {
		fmt.Fprintln(word, err)
		return true, exitHelperFailed
	}
	if _, err := word.WriteString(readyReply); err != nil {
		return true, exitHelperFailed // the parent is gone
	}
	return true, o.execProgram()
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// setUpMounts sets up what the program sees. The mounts follow those outside before anything is
// bound: a bind mount is not visible outside, and what is unmounted outside is not kept alive here.
func (o helperRequest) setUpMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	if err := unix.Mount(o.Dir, o.MountPath, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s over %s: %w", o.Dir, o.MountPath, err)
	}
	if err := unix.Chdir(o.Cwd); err != nil {
		return fmt.Errorf("enter %s: %w", o.Cwd, err)
	}
	if !o.DropCapabilities {
		return nil
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	return nil
}

// dropCapabilities drops all capabilities of this thread in its user namespace.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// execProgram replaces this process by the program. If that fails it prints why and returns
// the exit code.
func (o helperRequest) execProgram() int {
	path, err := findProgram(o.Args[0], o.Cwd, o.Env)
	if err == nil {
		err = &exec.Error{Name: o.Args[0], Err: syscall.Exec(path, o.Args, o.Env)}
	}
	text, code := notRunnableMessage(err)
	fmt.Fprint(os.Stderr, text)
	return code
}
