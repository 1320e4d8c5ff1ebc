package webhook_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook/ssrftest"
)

// insideListener is an inside listener that counts who gets to it.
type insideListener struct {
	port int
	hits atomic.Int64
}

func newInsideListener(t *testing.T) *insideListener {
	t.Helper()
	l, err := net.Listen("tcp", ":0") // every address of this machine, of both kinds
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	v := &insideListener{port: l.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v.hits.Add(1)
			_ = c.Close()
		}
	}()
	return v
}

// hitCount returns the count when all that came before was accepted: connections are
// accepted in the order in which they came.
func (v *insideListener) hitCount(t *testing.T) int64 {
	t.Helper()
	before := v.hits.Load()
	c, err := net.Dial("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(v.port)).String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Read(make([]byte, 1)) // ends when it was accepted and closed
	_ = c.Close()
	if v.hits.Load() == before {
		t.Fatal("the listener does not count")
	}
	return v.hits.Load() - 1
}

// publicServer is a receiver that stands for the public address, with a certificate for it.
type publicServer struct {
	*httptest.Server
	roots *x509.CertPool
}

func newPublicServer(t *testing.T, h http.Handler) *publicServer {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := clock.Wall.Now()
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"*.example.com"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, pub, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	p := &publicServer{Server: httptest.NewUnstartedServer(h), roots: x509.NewCertPool()}
	p.roots.AddCert(parsed)
	p.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that hang up are the point of some tests
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

var errNoTraffic = errors.New("this address is not connected to in tests")

// recordingDialer is a dial that records: the public address leads to a receiver, this machine is
// really connected to, and all else leads nowhere.
type recordingDialer struct {
	to    string // of the receiver
	mu    sync.Mutex
	dials []netip.Addr // guarded by mu
}

func (w *recordingDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.dials = append(w.dials, ap.Addr())
	w.mu.Unlock()
	var d net.Dialer
	switch a := ap.Addr().Unmap(); {
	case a == ssrftest.PublicAddress && w.to != "":
		return d.DialContext(ctx, "tcp", w.to)
	case a.IsLoopback(), a.IsUnspecified():
		return d.DialContext(ctx, network, address)
	}
	return nil, errNoTraffic
}

func (w *recordingDialer) addresses() []netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dials)
}

func resolves(list ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, a := range list {
			out = append(out, netip.MustParseAddr(a))
		}
		return out, nil
	}
}
