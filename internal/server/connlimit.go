package server

import (
	"net"
	"net/netip"
	"sync"
)

// maxConnsPerAddress is how many connections one address may have open. Proxies on the same machine
// have no limit; one on another machine is one address.
const maxConnsPerAddress = 2048

// addressLimiter is a listener that closes connections of an address that has too many.
type addressLimiter struct {
	net.Listener
	limit   int
	refused func() // is called for each connection that is closed

	mu   sync.Mutex
	open map[netip.Addr]int // guarded by mu
}

func limitAddresses(l net.Listener, limit int, refused func()) net.Listener {
	return &addressLimiter{Listener: l, limit: limit, refused: refused, open: map[netip.Addr]int{}}
}

// Accept returns the next connection that is within the limit.
func (l *addressLimiter) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at, err := netip.ParseAddrPort(c.RemoteAddr().String())
		if err != nil || at.Addr().IsLoopback() {
			return c, nil
		}
		from := countedAddress(at.Addr())
		if l.enter(from) {
			return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		l.refused()
		_ = c.Close() // it is not told why: that would take the connection that it may not have
	}
}

// countedAddress returns what counts as one address: of IPv6 the network, in which a host can take any.
func countedAddress(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.Is4() {
		return a
	}
	return netip.PrefixFrom(a.WithZone(""), 64).Masked().Addr()
}

func (l *addressLimiter) enter(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[a] >= l.limit {
		return false
	}
	l.open[a]++
	return true
}

func (l *addressLimiter) leave(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[a]--; l.open[a] == 0 {
		delete(l.open, a)
	}
}

type limitedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection and gives its place back.
func (c *limitedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
