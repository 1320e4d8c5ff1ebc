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

// SenderOptions configure a sender.
type SenderOptions struct {
	Lenient bool           // also allow http and loopback, for development
	Allow   []netip.Prefix // internal addresses that are allowed
	Timeout time.Duration  // for one message including the response; 0: 20 seconds
	Clock   clock.Clock    // nil: the system clock
	RootCAs *x509.CertPool // nil: those of the system

	// Resolve returns the addresses of a name, and Dial connects to one of them, which
	// has passed the filter. nil: as the system does.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// Sender posts messages. It may be used concurrently.
type Sender struct {
	policy    urlPolicy
	timeout   time.Duration
	clock     clock.Clock
	resolve   func(ctx context.Context, host string) ([]netip.Addr, error)
	connect   func(ctx context.Context, network, address string) (net.Conn, error)
	transport *http.Transport
}

// Outcome is the result of one attempt.
type Outcome struct {
	Status     int           // of the response; 0: there was none
	RetryAfter time.Duration // do not retry earlier, if above 0
	Throttled  bool          // the receiver is overloaded
	Gone       bool          // the receiver wants no more messages
	Refused    bool          // nothing was sent: the address is not allowed
	Err        error         // nil: delivered
}

// NewSender returns a sender.
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
		Proxy:       nil, // one from the environment would connect for us, without the filter
		DialContext: s.dial,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs,
		},
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only
		DisableKeepAlives:      true,                                                   // a connection is only used for the message it was checked for
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
	return s
}

// CheckURL is the function CheckURL with the options of this sender.
func (s *Sender) CheckURL(raw string) error {
	_, err := s.policy.checkURL(raw)
	return err
}

// Post sends one message and waits for the response.
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
	// Not by a client: the transport alone follows no redirects and keeps no cookies.
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil { // the error is only that the connection was closed
			err = ctx.Err()
		}
		return Outcome{Refused: errors.Is(err, ErrNotPublic), Err: fmt.Errorf("post message: %w", err)}
	}
	defer func() { _ = resp.Body.Close() }()
	// The header is all that counts; the body is read only to be polite.
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	return s.interpretResponse(resp)
}
