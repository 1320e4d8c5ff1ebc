//go:build !linux

package proc

import (
	"errors"
	"net"
)

// ErrPeerNotLocal means that the other end of a connection is not on this machine.
var ErrPeerNotLocal = errors.New("the other end is not on this machine")

// TCPPeerUID is not supported here.
func TCPPeerUID(net.Conn) (int, error) { return -1, ErrUnsupported }
