package proc

import (
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// exitInner is the code of an inner side that could not do it; nobody sees it.
const exitHelperFailed = 125

// RunHelper is the other side of RunInside and of RunIsolated. A main program calls it before anything
// else, with its arguments after the name, and exits with the code if it was
// meant. It does not return when the program begins.
func RunHelper(args []string) (handled bool, exit int) {
	helperAvailable.Store(true)
	if runSupervisor(args) {
		return true, 0
	}
	if len(args) != 1 || args[0] != insideArg || !isPipe(requestFD) || !isPipe(replyFD) {
		return false, 0
	}
	runtime.LockOSThread() // rights belong to a thread, and the one that begins the program counts
	unix.CloseOnExec(requestFD)
	unix.CloseOnExec(replyFD)
	word := os.NewFile(replyFD, "word")
	var o helperRequest
	err := gob.NewDecoder(os.NewFile(requestFD, "order")).Decode(&o)
	if err == nil {
		err = o.setUpMounts()
	}
	if err != nil {
		fmt.Fprintln(word, err)
		return true, exitHelperFailed
	}
	if _, err := word.WriteString(readyReply); err != nil {
		return true, exitHelperFailed // nobody waits for it any more
	}
	return true, o.execProgram()
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// setUpMounts sets up what the program sees. Nothing may be bound before all mounts are
// private: it could be seen outside.
func (o helperRequest) setUpMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
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

// dropCapabilities gives up every right of this thread in its user namespace.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// execProgram begins the program, or tells why not.
func (o helperRequest) execProgram() int {
	path, err := findProgram(o.Args[0], o.Cwd, o.Env)
	if err == nil {
		err = &exec.Error{Name: o.Args[0], Err: syscall.Exec(path, o.Args, o.Env)}
	}
	text, code := notRunnableMessage(err)
	fmt.Fprint(os.Stderr, text)
	return code
}
