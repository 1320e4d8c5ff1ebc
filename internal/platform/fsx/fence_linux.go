//go:build linux && !portable

package fsx

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenceVersion is the first Landlock that lets a name move between directories.
// The one before refuses that even inside the fence, so nobody could work there.
const fenceVersion = 2

// fenceRights are the ways to change names and data. Reading is not among them,
// and Landlock knows none for owner, mode, attributes and time.
const fenceRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
	unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
	unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
	unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
	unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
	unix.LANDLOCK_ACCESS_FS_REFER

// truncateVersion is the first Landlock that can hold truncation back.
const truncateVersion = 3

var landlockVersion = sync.OnceValue(func() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
})

// CanFence reports whether the kernel can do what Fence asks for.
func CanFence() bool { return landlockVersion() >= fenceVersion }

// Fence runs f on a thread of its own that may make, write, rename and remove
// files only below dirs, by Landlock. Only calls made in f's own goroutine are
// fenced, and only files that are opened there. It reports false, and does not
// run f, where the kernel cannot. A panic of f comes out of Fence.
func Fence(dirs []Dir, f func()) bool {
	var real []*osDir
	for _, d := range dirs {
		if d, ok := bare(d).(*osDir); ok {
			real = append(real, d)
		}
	}
	if len(real) == 0 { // in memory there is nothing to keep out of
		f()
		return true
	}
	if !CanFence() {
		return false
	}
	rules, err := fenceRules(real)
	if err != nil {
		return false
	}
	defer unix.Close(rules) //nolint:errcheck // the thread keeps the rules
	end := make(chan outcome)
	go runFenced(rules, f, end)
	return (<-end).answer()
}

// outcome is how the fenced goroutine ended.
type outcome struct {
	refused bool // f was not run
	exited  bool // by runtime.Goexit, as a failing test does
	panic   any
}

// answer ends the caller's goroutine as the fenced one ended.
func (o outcome) answer() bool {
	switch {
	case o.panic != nil:
		panic(o.panic)
	case o.exited:
		runtime.Goexit()
	}
	return !o.refused
}

// runFenced never unlocks its thread, so that the thread ends with it and nobody
// else is fenced. The first thread of a process would not end: it steps aside.
func runFenced(rules int, f func(), end chan<- outcome) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		inner := make(chan outcome)
		go runFenced(rules, f, inner)
		end <- <-inner
		return
	}
	o := outcome{exited: true}
	defer func() {
		o.panic = recover()
		end <- o
	}()
	if err := restrict(rules); err != nil {
		o = outcome{refused: true}
		return
	}
	f()
	o.exited = false
}

// restrict fences the calling thread. Without privileges the kernel asks first
// for the promise never to gain new ones.
func restrict(rules int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// fenceRules answers a descriptor of rules that allow all rights below dirs.
func fenceRules(dirs []*osDir) (int, error) {
	rights := uint64(fenceRights)
	if landlockVersion() >= truncateVersion {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rights}
	// Old kernels know the first field only.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return -1, errno
	}
	rules := int(fd)
	for _, d := range dirs {
		err := d.do("fence", "", func(dir int) error {
			beneath := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(dir)}
			_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules),
				unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
			if errno != 0 {
				return errno
			}
			return nil
		})
		if err != nil {
			_ = unix.Close(rules)
			return -1, err
		}
	}
	return rules, nil
}
