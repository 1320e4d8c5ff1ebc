package proc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// ErrNotHere means that the kernel of this machine knows no such other end.
var ErrPeerNotLocal = errors.New("the other end is not on this machine")

// Columns of the kernel's list of connections, and the state in which both ends are open.
const (
	tcpLocal, tcpRemote, tcpState, tcpUID = 1, 2, 3, 7

	tcpEstablished = "01"
)

// TCPPeerUID asks the kernel whose socket is at the other end of a connection over the
// loopback. One that its owner has closed already belongs to nobody: -1.
func TCPPeerUID(c net.Conn) (int, error) {
	theirs, ok := tcpAddrPort(c.RemoteAddr())
	ours, ok2 := tcpAddrPort(c.LocalAddr())
	if !ok || !ok2 {
		return -1, fmt.Errorf("ask who is at the other end: %w", ErrUnsupported)
	}
	for _, list := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // a socket of the newer kind may speak to an address of the older
		uid, err := findSocketOwner(list, theirs, ours)
		if !errors.Is(err, ErrPeerNotLocal) && !errors.Is(err, os.ErrNotExist) {
			return uid, err
		}
	}
	return -1, fmt.Errorf("ask who is at the other end: %w", ErrPeerNotLocal)
}

func tcpAddrPort(a net.Addr) (netip.AddrPort, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port()), true
}

// findSocketOwner looks for the socket that is ours seen from the other side.
func findSocketOwner(list string, local, remote netip.AddrPort) (int, error) {
	f, err := os.Open(list)
	if err != nil {
		return -1, fmt.Errorf("ask who is at the other end: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		w := strings.Fields(lines.Text())
		if len(w) <= tcpUID || !matchesTCPAddress(w[tcpLocal], local) || !matchesTCPAddress(w[tcpRemote], remote) {
			continue
		}
		uid, err := strconv.Atoi(w[tcpUID])
		if err != nil {
			return -1, fmt.Errorf("ask who is at the other end: %w", err)
		}
		if uid == 0 && w[tcpState] != tcpEstablished {
			return -1, nil // what was closed is listed as root's
		}
		return uid, nil
	}
	if err := lines.Err(); err != nil {
		return -1, fmt.Errorf("ask who is at the other end: %w", err)
	}
	return -1, fmt.Errorf("ask who is at the other end: %w", ErrPeerNotLocal)
}

// matchesTCPAddress compares an address as the kernel lists it: words of four bytes, each in the order
// of the machine, and the port.
func matchesTCPAddress(listed string, want netip.AddrPort) bool {
	text, port, ok := strings.Cut(listed, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || uint16(n) != want.Port() {
		return false
	}
	var b []byte
	for ; len(text) >= 8; text = text[8:] {
		word, err := strconv.ParseUint(text[:8], 16, 32)
		if err != nil {
			return false
		}
		b = binary.NativeEndian.AppendUint32(b, uint32(word))
	}
	a, ok := netip.AddrFromSlice(b)
	return ok && a.Unmap() == want.Addr()
}
