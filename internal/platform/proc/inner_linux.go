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
const exitInner = 125

// Inner is the other side of RunInside and of RunIsolated. A main program calls it before anything
// else, with its arguments after the name, and exits with the code if it was
// meant. It does not return when the program begins.
func Inner(args []string) (handled bool, exit int) {
	understood.Store(true)
	if keep(args) {
		return true, 0
	}
	if len(args) != 1 || args[0] != innerWord || !isPipe(orderFD) || !isPipe(wordFD) {
		return false, 0
	}
	runtime.LockOSThread() // rights belong to a thread, and the one that begins the program counts
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(wordFD)
	word := os.NewFile(wordFD, "word")
	var o order
	err := gob.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o)
	if err == nil {
		err = o.enter()
	}
	if err != nil {
		fmt.Fprintln(word, err)
		return true, exitInner
	}
	if _, err := word.WriteString(ready); err != nil {
		return true, exitInner // nobody waits for it any more
	}
	return true, o.become()
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// enter sets up what the program sees. Nothing may be bound before all mounts are
// private: it could be seen outside.
func (o order) enter() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount(o.Dir, o.Over, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s over %s: %w", o.Dir, o.Over, err)
	}
	if err := unix.Chdir(o.Cwd); err != nil {
		return fmt.Errorf("enter %s: %w", o.Cwd, err)
	}
	if !o.Raised {
		return nil
	}
	if err := dropRights(); err != nil {
		return fmt.Errorf("give up rights: %w", err)
	}
	return nil
}

// dropRights gives up every right of this thread in its user namespace.
func dropRights() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// become begins the program, or tells why not.
func (o order) become() int {
	path, err := find(o.Args[0], o.Cwd, o.Env)
	if err == nil {
		err = &exec.Error{Name: o.Args[0], Err: syscall.Exec(path, o.Args, o.Env)}
	}
	text, code := refusal(err)
	fmt.Fprint(os.Stderr, text)
	return code
}
