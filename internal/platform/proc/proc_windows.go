package proc

import (
	"context"
	"net"
	"os"
)

// CanDetach reports whether Spawn works here.
const CanDetach = false

// Spawn is for systems on which the other end of a socket can be asked who it is.
func Spawn(context.Context, Detached) (string, error) { return "", ErrUnsupported }

// markDescriptorsCloseOnExec has nothing to do: only what is named is inherited.
func markDescriptorsCloseOnExec() error { return nil }

// SpawnNoWait is not done here.
func SpawnNoWait(Detached) error { return ErrUnsupported }

// OpenStarterPipe finds no pipe.
func OpenStarterPipe(int) *StarterPipe { return nil }

// ResetUmask has nothing to set.
func ResetUmask() {}

// IsAlive reports whether there is such a process.
func IsAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // only looked
	return true
}

// Terminate cannot ask a process here.
func Terminate(int) error { return ErrUnsupported }

// PeerUID trusts nobody.
func PeerUID(*net.UnixConn) (int, error) { return -1, ErrUnsupported }

// LeaveCgroup has nothing to leave here.
func LeaveCgroup(bool) string { return "" }
