package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// apply takes the limits first, because the rest forbids to set them. The filter is the
// wall that covers all threads in every build; Landlock is the second one.
func (c Sandbox) apply(try func(what string, err error)) {
	c.setCommonLimits(try)
	try("memory", setRlimit(unix.RLIMIT_DATA, uint64(c.MaxMemory)))
	try("address space", c.setAddressSpaceLimit())
	runtime.LockOSThread() // both walls need a promise that was given on the same thread
	defer runtime.UnlockOSThread()
	try("new privileges", syscallAllThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1))
	try("landlock", restrictWithLandlock())
	try("seccomp", installSeccompFilter())
}

// spare is address space beside the memory: what the runtime reserves and never touches.
const spareAddressSpace = 4 << 30

// setAddressSpaceLimit allows what is mapped now, for reservations of the runtime are large, and a bounded rest.
func (c Sandbox) setAddressSpaceLimit() error {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(b), &pages); err != nil {
		return err
	}
	return setRlimit(unix.RLIMIT_AS, pages*uint64(os.Getpagesize())+uint64(c.MaxMemory)+spareAddressSpace)
}

// syscallAllThreads makes a call on all threads. In a build with C code the runtime cannot: then
// it is made on this one, and the filter hands the promise on to the others.
func syscallAllThreads(call, a, b uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(call, a, b, 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		_, _, errno = unix.Syscall6(call, a, b, 0, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// pathRights are the rights over paths by the version of Landlock that brought them.
var landlockFSRights = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}, // the first thirteen
	{2, unix.LANDLOCK_ACCESS_FS_REFER},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

// netVersion is the first Landlock that knows TCP. The one that knows signals is not used
// for them: each thread has rules of its own, and ours signal each other.
const landlockNetVersion = 4

// restrictWithLandlock forbids every path, and TCP.
func restrictWithLandlock() error {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return errno
	}
	attr, size := landlockAttr(int(v))
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd)) //nolint:errcheck // the threads keep the rules
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	if errno == syscall.ENOTSUP {
		return errors.New("not in a build with C code")
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// landlockAttr is all that a version can forbid, and how long it is: kernels refuse fields
// that they do not know.
func landlockAttr(version int) (attr unix.LandlockRulesetAttr, size uintptr) {
	for _, r := range landlockFSRights {
		if version >= r.version {
			attr.Handled_access_fs |= r.rights
		}
	}
	size = unsafe.Sizeof(attr.Handled_access_fs)
	if version >= landlockNetVersion {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	return attr, size
}
