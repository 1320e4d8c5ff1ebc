package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const (
	maxAddresses = 16              // of one name that are tried
	shortestDial = 2 * time.Second // that one address gets, when there is time
)

var errNotPublic = errors.New("the address is not public")

// postContextKey is where the dial finds the context of its message. The one that it is given
// does not end with the message: the transport keeps what it dials for later ones, and
// whoever never answers would hold a connection for ever. Here each serves one message
// and is closed with it.
type postContextKey struct{}

// dial resolves a name once and connects to one of the addresses that came out, so that
// there is no second answer that could be another. An address that is not public is passed
// over: where a network makes up IPv6 addresses for IPv4 hosts, every name has one.
func (s *Sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if post, ok := ctx.Value(postContextKey{}).(context.Context); ok {
		ctx = post
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("split address: %w", err)
	}
	list, err := s.publicAddresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var first error // of those that were tried, the first says most
	for i, a := range list {
		conn, err := s.dialAddress(ctx, network, net.JoinHostPort(a.String(), port), len(list)-i)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() })
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// PublicAddress answers one address of a host that may be spoken to, for others who speak to
// hosts that a tenant names.
func (s *Sender) PublicAddress(ctx context.Context, host string) (string, error) {
	all, err := s.publicAddresses(ctx, host)
	if err != nil {
		return "", err
	}
	return all[0].String(), nil
}

// publicAddresses answers those of a host that a message may go to, one at least. What is not
// public is not told: the receiver's owner may not know the inside.
func (s *Sender) publicAddresses(ctx context.Context, host string) ([]netip.Addr, error) {
	list := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		list = append(list, a)
	} else {
		found, err := s.resolve(ctx, host)
		if err != nil {
			return nil, lookupError(host, err)
		}
		for _, a := range found {
			list = append(list, a.Unmap()) // the system gives IPv4 answers in this form
		}
	}
	var open []netip.Addr
	for _, a := range list {
		if s.policy.blockReason(a) == "" {
			open = append(open, a)
		}
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("look up %s: it has no address", host)
	case len(open) == 0:
		return nil, fmt.Errorf("look up %s: %w", host, errNotPublic)
	}
	return open[:min(len(open), maxAddresses)], nil
}

// lookupError tells why a name has no address, without the name server that was asked.
func lookupError(host string, err error) error {
	if d := (*net.DNSError)(nil); errors.As(err, &d) {
		switch {
		case d.IsNotFound:
			return fmt.Errorf("look up %s: there is no such host", host)
		case d.IsTimeout:
			return fmt.Errorf("look up %s: no answer in time", host)
		}
		return fmt.Errorf("look up %s: the name server has trouble", host)
	}
	return fmt.Errorf("look up %s: %w", host, err)
}

// dialAddress leaves time for the addresses that follow: one that never answers must not
// take all of it.
func (s *Sender) dialAddress(ctx context.Context, network, address string, left int) (net.Conn, error) {
	if left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(s.timeout/time.Duration(left), shortestDial))
		defer cancel()
	}
	return s.connect(ctx, network, address)
}

// checkDialAddress is asked by the dialer about the address that the kernel is about to be given.
// All was filtered before; this holds also if that had a hole.
func (s *Sender) checkDialAddress(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return fmt.Errorf("dial %s %s: %w", network, address, errNotPublic)
	}
	if s.policy.blockReason(ap.Addr()) != "" {
		return fmt.Errorf("dial address: %w", errNotPublic)
	}
	return nil
}
