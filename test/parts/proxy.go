//go:build unix

package parts

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy hands connections to several servers in turn. It can cut them, and slow them down.
type Proxy struct {
	l       net.Listener
	targets []string
	turn    atomic.Int64
	delay   atomic.Int64 // nanoseconds, for every piece

	mu    sync.Mutex
	conns map[net.Conn]bool // guarded by mu; nil: it is closed
}

// StartProxy listens at a port of its own.
func StartProxy(targets ...string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	p := &Proxy{l: l, targets: targets, conns: map[net.Conn]bool{}}
	go p.accept()
	return p, nil
}

// Address answers host and port.
func (p *Proxy) Address() string { return p.l.Addr().String() }

// Delay makes every piece of bytes wait so long, in both directions.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// Cut breaks all connections and answers how many there were.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		reset(c)
	}
	return len(p.conns)
}

// reset ends a connection without a good end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close() // who reads it is told
}

// Close cuts everything and takes no more.
func (p *Proxy) Close() error {
	p.Cut()
	p.mu.Lock()
	p.conns = nil
	p.mu.Unlock()
	return p.l.Close()
}

func (p *Proxy) accept() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return // closed
		}
		go p.carry(c)
	}
}

func (p *Proxy) carry(in net.Conn) {
	out, err := p.dial()
	if err != nil {
		reset(in)
		return
	}
	if !p.hold(in) || !p.hold(out) {
		reset(in)
		reset(out)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(out, in) })
	both.Go(func() { p.copy(in, out) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, in)
	delete(p.conns, out)
	p.mu.Unlock()
}

// dial takes the next server that is there.
func (p *Proxy) dial() (net.Conn, error) {
	var err error
	first := p.turn.Add(1)
	for i := range p.targets {
		var c net.Conn
		at := p.targets[(int(first)+i)%len(p.targets)]
		if c, err = net.DialTimeout("tcp", at, 5*time.Second); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[c] = true
	return true
}

// copy hands bytes on until one side ends; then both do.
func (p *Proxy) copy(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if d := time.Duration(p.delay.Load()); d > 0 && n > 0 {
			time.Sleep(d)
		}
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			reset(from)
		}
		_, _ = to.Close(), from.Close() // the other direction ends with them
		return
	}
}
