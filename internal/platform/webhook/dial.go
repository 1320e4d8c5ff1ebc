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
	maxAddresses = 16              // most addresses that are tried for one name
	shortestDial = 2 * time.Second // shortest timeout for one address
)

// ErrNotPublic is an address that no connection is made to.
var ErrNotPublic = errors.New("the address is not public")

// postContextKey is the key of the message's context in the context of the dial. The transport
// passes the dial a context that does not end with the message, because it may keep the
// connection for later ones, so a receiver that never answers would hold it forever. Here each
// connection serves one message and is closed with it.
type postContextKey struct{}

// dial resolves a name once and connects to one of the resulting addresses, so that there is
// no second lookup that could return another one (DNS rebinding). Addresses that are not
// public are skipped, not refused: with DNS64 every name has one.
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
	var first error // the first error is the most useful
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

// PublicAddress returns one public address of a host, for other clients of hosts that a tenant
// chooses.
func (s *Sender) PublicAddress(ctx context.Context, host string) (string, error) {
	all, err := s.publicAddresses(ctx, host)
	if err != nil {
		return "", err
	}
	return all[0].String(), nil
}

// publicAddresses returns the public addresses of a host, at least one. The error does not say
// what the other addresses are: the owner of the receiver must not learn about the internal
// network.
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
			list = append(list, a.Unmap()) // the system returns IPv4 addresses in mapped form
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
		return nil, fmt.Errorf("look up %s: %w", host, ErrNotPublic)
	}
	return open[:min(len(open), maxAddresses)], nil
}

// lookupError returns why a name has no address, without the name server that was asked.
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

// dialAddress leaves time for the left addresses that follow: one that does not respond must
// not use up all of it.
func (s *Sender) dialAddress(ctx context.Context, network, address string, left int) (net.Conn, error) {
	if left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(s.timeout/time.Duration(left), shortestDial))
		defer cancel()
	}
	return s.connect(ctx, network, address)
}

// checkDialAddress is called by the dialer with the address that is passed to the kernel. The
// addresses were filtered before; this is the second line of defence.
func (s *Sender) checkDialAddress(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return fmt.Errorf("dial %s %s: %w", network, address, ErrNotPublic)
	}
	if s.policy.blockReason(ap.Addr()) != "" {
		return fmt.Errorf("dial address: %w", ErrNotPublic)
	}
	return nil
}
