package proc

import (
	"context"
	"net"
	"os"
)

// CanDetach reports whether Spawn works here.
const CanDetach = false

// Spawn is not supported: the daemon needs sockets whose peer can be authenticated.
func Spawn(context.Context, Detached) (string, error) { return "", ErrUnsupported }

// markDescriptorsCloseOnExec does nothing: only handles that are passed explicitly are
// inherited.
func markDescriptorsCloseOnExec() error { return nil }

// SpawnNoWait is not supported here.
func SpawnNoWait(Detached) error { return ErrUnsupported }

// OpenStarterPipe returns nil: there is no pipe here.
func OpenStarterPipe(int) *StarterPipe { return nil }

// ResetUmask does nothing: there is no umask here.
func ResetUmask() {}

// IsAlive reports whether there is such a process.
func IsAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // it was only looked up
	return true
}

// Terminate is not supported here.
func Terminate(int) error { return ErrUnsupported }

// PeerUID is not supported here.
func PeerUID(*net.UnixConn) (int, error) { return -1, ErrUnsupported }

// LeaveCgroup does nothing: there are no control groups here.
func LeaveCgroup(bool) string { return "" }
