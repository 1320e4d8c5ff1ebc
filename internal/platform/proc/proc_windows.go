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

// keepDescriptors has nothing to do: only what is named is inherited.
func keepDescriptors() error { return nil }

// Launch is not done here.
func Launch(Detached) error { return ErrUnsupported }

// ToStarter finds no pipe.
func ToStarter(int) *Starter { return nil }

// Settle has nothing to set.
func Settle() {}

// Alive reports whether there is such a process.
func Alive(pid int) bool {
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
