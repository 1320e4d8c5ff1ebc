package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// markDescriptorsCloseOnExec keeps the descriptors that this process inherited from leaking
// into the processes it starts.
func markDescriptorsCloseOnExec() error {
	err := unix.CloseRange(StarterFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) { // an old kernel, or a sandbox that blocks the call
		return markListedCloseOnExec("/proc/self/fd")
	}
	return err
}

// isZombie reports whether a process has ended and was not reaped yet.
func isZombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	at := bytes.LastIndexByte(b, ')') // the name before it may contain any bytes
	return at > 0 && at+2 < len(b) && (b[at+2] == 'Z' || b[at+2] == 'X')
}

// PeerUID asks the kernel for the user at the other end.
func PeerUID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("ask for the peer: %w", err)
	}
	var cred *unix.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) {
		cred, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return -1, fmt.Errorf("ask for the peer: %w", err)
	}
	if asked != nil {
		return -1, fmt.Errorf("ask for the peer: %w", asked)
	}
	return int(cred.Uid), nil
}
