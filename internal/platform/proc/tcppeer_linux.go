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

// ErrPeerNotLocal means that the other end of a connection is not on this machine.
var ErrPeerNotLocal = errors.New("the other end is not on this machine")

// Columns of /proc/net/tcp, and the state of an established connection.
const (
	tcpLocal, tcpRemote, tcpState, tcpUID = 1, 2, 3, 7

	tcpEstablished = "01"
)

// TCPPeerUID asks the kernel for the owner of the socket at the other end of a loopback
// connection. It returns -1 for a socket that was closed already.
func TCPPeerUID(c net.Conn) (int, error) {
	theirs, ok := tcpAddrPort(c.RemoteAddr())
	ours, ok2 := tcpAddrPort(c.LocalAddr())
	if !ok || !ok2 {
		return -1, fmt.Errorf("ask who is at the other end: %w", ErrUnsupported)
	}
	for _, list := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // an IPv6 socket may be connected to an IPv4 address
		uid, err := findSocketOwner(list, theirs, ours)
		if !errors.Is(err, ErrPeerNotLocal) && !errors.Is(err, os.ErrNotExist) {
			return uid, err
		}
	}
	return -1, fmt.Errorf("ask who is at the other end: %w", ErrPeerNotLocal)
}

// tcpAddrPort returns the address in its IPv4 form if it has one.
func tcpAddrPort(a net.Addr) (netip.AddrPort, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port()), true
}

// findSocketOwner returns the owner of the socket with these addresses.
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
			return -1, nil // a closed socket is listed with user 0
		}
		return uid, nil
	}
	if err := lines.Err(); err != nil {
		return -1, fmt.Errorf("ask who is at the other end: %w", err)
	}
	return -1, fmt.Errorf("ask who is at the other end: %w", ErrPeerNotLocal)
}

// matchesTCPAddress compares with an address as the kernel lists it: hexadecimal words of four
// bytes in the byte order of the machine, and the port.
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
