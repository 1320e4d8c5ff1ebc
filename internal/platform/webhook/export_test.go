package webhook

import (
	"context"
	"net"
)

// Dial is the filter behind the check of the URL.
func (s *Sender) Dial(ctx context.Context, address string) (net.Conn, error) {
	return s.dial(ctx, "tcp", address)
}

// Connect is what stands behind the filter: the dialer with its control.
func (s *Sender) Connect(ctx context.Context, address string) (net.Conn, error) {
	return s.connect(ctx, "tcp", address)
}
