//go:build !portable

package fsx_test

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onThread runs f on a thread that dies with it, after change made it another.
func onThread(t *testing.T, change func() error, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := change(); err != nil {
			t.Errorf("change the thread: %v", err)
			return
		}
		f()
	}()
	<-done
}

const nobody = 65534

// asNobody runs f without any rights but those of nobody. Only root can.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	onThread(t, func() error {
		for _, call := range [][4]uintptr{
			{unix.SYS_SETGROUPS},
			{unix.SYS_SETRESGID, nobody, nobody, nobody},
			{unix.SYS_SETRESUID, nobody, nobody, nobody},
		} {
			if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
				return errno
			}
		}
		return nil
	}, f)
}

// withoutSyscall runs f on a kernel that answers errno to a call whose argument has
// one of these bits.
func withoutSyscall(t *testing.T, call uintptr, arg int, bits uint32, errno unix.Errno, f func()) {
	t.Helper()
	const load, equal, anyOf, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS,
		unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	const callAt, argsAt, allow, refuse = 0, 16, 0x7fff0000, 0x00050000
	low := uint32(argsAt + 8*arg) // the low half comes first here
	if *(*byte)(unsafe.Pointer(&[]uint16{1}[0])) == 0 {
		t.Skip("the filter is for little-endian machines")
	}
	filter := []unix.SockFilter{
		{Code: load, K: callAt},
		{Code: equal, K: uint32(call), Jt: 0, Jf: 3},
		{Code: load, K: low},
		{Code: anyOf, K: bits, Jt: 0, Jf: 1},
		{Code: answer, K: refuse | uint32(errno)},
		{Code: answer, K: allow},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	onThread(t, func() error {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	}, f)
	runtime.KeepAlive(filter)
}
