package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
)

const (
	defaultTimeout = 20 * time.Second
	maxAnswer      = 64 << 10
	maxHeader      = 64 << 10
)

// SenderOptions say what a sender may do.
type SenderOptions struct {
	Lenient bool           // http and this machine too, for development
	Allow   []netip.Prefix // addresses of the inside that are let pass
	Timeout time.Duration  // for one message, with its answer; 0: 20 seconds
	Clock   clock.Clock    // nil: the one on the wall
	RootCAs *x509.CertPool // nil: those of the system

	// Resolve answers the addresses of a name, and Dial connects to one of them, which
	// passed the filter. nil: as the system does.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// Sender posts messages. It may be used by many at once.
type Sender struct {
	policy    urlPolicy
	timeout   time.Duration
	clock     clock.Clock
	resolve   func(ctx context.Context, host string) ([]netip.Addr, error)
	connect   func(ctx context.Context, network, address string) (net.Conn, error)
	transport *http.Transport
}

// Outcome is what came of one try.
type Outcome struct {
	Status     int           // of the answer; 0: there was none
	RetryAfter time.Duration // not again before that, if above 0
	Throttled  bool          // the receiver has too much to do
	Gone       bool          // it wants no message any more
	Refused    bool          // it was not even tried: the address is not allowed
	Err        error         // nil: delivered
}

// NewSender makes a sender.
func NewSender(o SenderOptions) *Sender {
	s := &Sender{
		policy:  urlPolicy{allowHTTP: o.Lenient, allowLoopback: o.Lenient, allowInternalNames: len(o.Allow) > 0, allowedPrefixes: o.Allow},
		timeout: o.Timeout, clock: o.Clock, resolve: o.Resolve, connect: o.Dial,
	}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	if s.clock == nil {
		s.clock = clock.Wall
	}
	if s.resolve == nil {
		s.resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if s.connect == nil {
		s.connect = (&net.Dialer{Control: s.checkDialAddress}).DialContext
	}
	s.transport = &http.Transport{
		Proxy:       nil, // one from the environment would connect for us, unfiltered
		DialContext: s.dial,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs,
		},
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
		DisableKeepAlives:      true,                                                   // a connection serves the one message it was checked for
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
	return s
}

// CheckURL is CheckURL with what this sender allows.
func (s *Sender) CheckURL(raw string) error {
	_, err := s.policy.checkURL(raw)
	return err
}

// Post sends one message and waits for the answer.
func (s *Sender) Post(ctx context.Context, raw string, header map[string]string, body []byte) Outcome {
	u, err := s.policy.checkURL(raw)
	if err != nil {
		return Outcome{Refused: true, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(context.WithValue(ctx, postContextKey{}, ctx), http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return Outcome{Err: fmt.Errorf("make request: %w", err)}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "retake")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	// Not through a client: the transport alone follows no redirect and keeps no cookie.
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil { // then the connection was closed under it, and says only that
			err = ctx.Err()
		}
		return Outcome{Refused: errors.Is(err, errNotPublic), Err: fmt.Errorf("post message: %w", err)}
	}
	defer func() { _ = resp.Body.Close() }()
	// An answer counts when its head is there; the body is read only to be polite.
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	return s.interpretResponse(resp)
}
