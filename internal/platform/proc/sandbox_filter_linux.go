//go:build linux && (amd64 || arm64)

package proc

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowedSyscalls are what a Go program needs to compute and to use the streams it has. All
// other calls fail with EPERM: those that open, connect, start, trace or signal.
var allowedSyscalls = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK, unix.SYS_FCNTL,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_MEMBARRIER, unix.SYS_RSEQ,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETRUSAGE, unix.SYS_GETRANDOM,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PPOLL,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// Where the kernel shows a call to the filter: its number, the machine, the first argument.
const (
	syscallNumberOffset, archOffset, firstArgOffset = 0, 4, 16

	x32SyscallBit = 0x40000000 // numbers of another calling convention begin here
)

const (
	bpfLoad    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfEqual   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfAtLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	bpfAnyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	bpfReturn  = unix.BPF_RET | unix.BPF_K
)

// seccompProgram allows allowedSyscalls, new threads of this process, and signals between
// them. clone3 returns ENOSYS, so that callers fall back to clone, whose flags the filter can
// inspect.
func seccompProgram(machine, pid uint32) []unix.SockFilter {
	const yes, no, never = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_KILL_PROCESS
	p := []unix.SockFilter{
		{Code: bpfLoad, K: archOffset},
		{Code: bpfEqual, Jt: 1, K: machine},
		{Code: bpfReturn, K: never},
		{Code: bpfLoad, K: syscallNumberOffset},
		{Code: bpfAtLeast, Jf: 1, K: x32SyscallBit},
		{Code: bpfReturn, K: no},
		{Code: bpfEqual, Jf: 1, K: unix.SYS_CLONE3},
		{Code: bpfReturn, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	for _, call := range allowedSyscalls {
		p = append(p, unix.SockFilter{Code: bpfEqual, Jf: 1, K: call}, unix.SockFilter{Code: bpfReturn, K: yes})
	}
	return append(p,
		unix.SockFilter{Code: bpfEqual, Jf: 3, K: unix.SYS_CLONE},
		unix.SockFilter{Code: bpfLoad, K: firstArgOffset},
		unix.SockFilter{Code: bpfAnyBit, Jf: 4, K: unix.CLONE_THREAD},
		unix.SockFilter{Code: bpfReturn, K: yes},
		unix.SockFilter{Code: bpfEqual, Jf: 2, K: unix.SYS_TGKILL},
		unix.SockFilter{Code: bpfLoad, K: firstArgOffset},
		unix.SockFilter{Code: bpfEqual, Jt: 1, K: pid},
		unix.SockFilter{Code: bpfReturn, K: no},
		unix.SockFilter{Code: bpfReturn, K: yes},
	)
}

// installSeccompFilter applies the filter to all threads at once.
func installSeccompFilter() error {
	machine := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		machine = unix.AUDIT_ARCH_AARCH64
	}
	p := seccompProgram(machine, uint32(unix.Getpid()))
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return errno
	}
	return nil
}
