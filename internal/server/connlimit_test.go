package server

import (
	"io"
	"net"
	"testing"
)

// namedConn is a connection from an address.
type namedConn struct {
	net.Conn
	from net.Addr
}

func (c namedConn) RemoteAddr() net.Addr { return c.from }

// listed is a listener that has these connections.
type listed struct {
	net.Listener
	conns []net.Conn
}

func (l *listed) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, io.EOF
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}

// One address gets some connections and others still get theirs; a closed one makes room.
func TestConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	from := func(text string) net.Conn {
		a, b := net.Pipe()
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		at, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		return namedConn{a, at}
	}
	in := &listed{}
	refused := 0
	l := limitAddresses(in, 2, func() { refused++ })
	accept := func(text ...string) (got []net.Conn) {
		for _, a := range text {
			in.conns = append(in.conns, from(a))
		}
		for {
			c, err := l.Accept()
			if err != nil {
				return got
			}
			got = append(got, c)
		}
	}
	first := accept("10.0.0.1:1", "10.0.0.1:2", "10.0.0.1:3", "10.0.0.2:1", "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3")
	if len(first) != 6 {
		t.Fatalf("%d connections", len(first))
	}
	_, _ = first[0].Close(), first[0].Close() // counts once
	if got := accept("10.0.0.1:4", "10.0.0.1:5"); len(got) != 1 {
		t.Errorf("%d connections after one was closed", len(got))
	}
	if refused != 2 {
		t.Errorf("%d refused", refused)
	}
	if v6 := accept("[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8:0:1::1]:1"); len(v6) != 3 {
		t.Errorf("%d of IPv6, want 2 of one network and 1 of another", len(v6))
	}
}
