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

// apply sets the limits first, because the filter forbids setting them. Seccomp covers all
// threads in every build; Landlock is the second line of defence.
func (c Sandbox) apply(try func(what string, err error)) {
	c.setCommonLimits(try)
	try("memory", setRlimit(unix.RLIMIT_DATA, uint64(c.MaxMemory)))
	try("address space", c.setAddressSpaceLimit())
	runtime.LockOSThread() // both need no_new_privs, set on the same thread
	defer runtime.UnlockOSThread()
	try("new privileges", syscallAllThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1))
	try("landlock", restrictWithLandlock())
	try("seccomp", installSeccompFilter())
}

// spareAddressSpace is allowed beyond the memory limit for what the runtime reserves and never
// touches.
const spareAddressSpace = 4 << 30

// setAddressSpaceLimit allows what is mapped now, because the runtime makes large
// reservations, and a bounded rest.
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

// syscallAllThreads makes a call on all threads. The runtime cannot do that in a build with
// cgo: then it is made on this thread only, and seccomp passes no_new_privs on to the others.
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

// landlockFSRights are the rights over paths, by the version of Landlock that introduced them.
var landlockFSRights = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}, // the first thirteen
	{2, unix.LANDLOCK_ACCESS_FS_REFER},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

// landlockNetVersion is the first version of Landlock with TCP rights. The scope for signals
// is not used: rulesets are per thread, and our threads signal each other.
const landlockNetVersion = 4

// restrictWithLandlock forbids access to every path, and TCP.
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
	defer unix.Close(int(fd)) //nolint:errcheck // the threads keep the ruleset
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	if errno == syscall.ENOTSUP {
		return errors.New("not in a build with C code")
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// landlockAttr returns everything that a version can forbid, and the size of the struct for
// it: kernels refuse fields that they do not know.
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
