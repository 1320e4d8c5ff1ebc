//go:build linux && !portable

package fsx

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minLandlockVersion is the first version of Landlock that allows a rename between
// directories. Version 1 refuses that even below the allowed directories.
const minLandlockVersion = 2

// landlockWriteRights are the rights to change names and data. Reading is always allowed, and
// Landlock has no rights for owner, mode, attributes and times.
const landlockWriteRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
	unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
	unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
	unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
	unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
	unix.LANDLOCK_ACCESS_FS_REFER

// landlockTruncateVersion is the first version of Landlock that can restrict truncation.
const landlockTruncateVersion = 3

var landlockVersion = sync.OnceValue(func() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
})

// SupportsLandlock reports whether the kernel supports what RunWithLandlock needs.
func SupportsLandlock() bool { return landlockVersion() >= minLandlockVersion }

// RunWithLandlock runs f on a thread of its own that can create, write, rename and remove
// files only below dirs. The restriction holds for calls from the goroutine of f and for files
// that it opens, not for goroutines that it starts. It returns false without running f if the
// kernel does not support it. A panic of f is passed on to the caller.
func RunWithLandlock(dirs []Dir, f func()) bool {
	var real []*osDir
	for _, d := range dirs {
		if d, ok := UnwrapDir(d).(*osDir); ok {
			real = append(real, d)
		}
	}
	if len(real) == 0 { // a file system in memory needs no restriction
		f()
		return true
	}
	if !SupportsLandlock() {
		return false
	}
	rules, err := createLandlockRuleset(real)
	if err != nil {
		return false
	}
	defer unix.Close(rules) //nolint:errcheck // the thread keeps the ruleset
	end := make(chan goroutineResult)
	go runRestricted(rules, f, end)
	return (<-end).propagate()
}

// goroutineResult is how the restricted goroutine ended.
type goroutineResult struct {
	notRun     bool // f was not run
	goexit     bool // by runtime.Goexit, as a failing test does
	panicValue any
}

// propagate ends the caller's goroutine in the way the restricted one ended, and reports
// whether f was run.
func (o goroutineResult) propagate() bool {
	switch {
	case o.panicValue != nil:
		panic(o.panicValue)
	case o.goexit:
		runtime.Goexit()
	}
	return !o.notRun
}

// runRestricted never unlocks its thread, so that the thread ends with the goroutine and no
// other goroutine is restricted. The main thread of a process would not end, so there f is run
// on another one.
func runRestricted(rules int, f func(), end chan<- goroutineResult) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		inner := make(chan goroutineResult)
		go runRestricted(rules, f, inner)
		end <- <-inner
		return
	}
	o := goroutineResult{goexit: true}
	defer func() {
		o.panicValue = recover()
		end <- o
	}()
	if err := restrictThread(rules); err != nil {
		o = goroutineResult{notRun: true}
		return
	}
	f()
	o.goexit = false
}

// restrictThread applies the ruleset to the calling thread. Without privileges the kernel
// requires no_new_privs first.
func restrictThread(rules int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// createLandlockRuleset returns the descriptor of a ruleset that allows all write rights below
// dirs only.
func createLandlockRuleset(dirs []*osDir) (int, error) {
	rights := uint64(landlockWriteRights)
	if landlockVersion() >= landlockTruncateVersion {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rights}
	// Old kernels accept the first field only.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return -1, errno
	}
	rules := int(fd)
	for _, d := range dirs {
		err := d.withFD("fence", "", func(dir int) error {
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
