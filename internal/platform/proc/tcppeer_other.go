//go:build !linux

package proc

import (
	"errors"
	"net"
)

// ErrNotHere means that the kernel of this machine knows no such other end.
var ErrPeerNotLocal = errors.New("the other end is not on this machine")

// TCPPeerUID cannot be asked for here.
func TCPPeerUID(net.Conn) (int, error) { return -1, ErrUnsupported }
