package webhook_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/platform/webhook/ssrftest"
)

const minCases = 300

// redirects returns as the case says that is told by its number in the path.
func redirects(cases []ssrftest.Case, port int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err == nil && cases[i].Status != 0 {
			w.Header().Set("Location", cases[i].LocationWithPort(port))
			w.WriteHeader(cases[i].Status)
		}
	}
}

func addressed(c ssrftest.Case, i, port int) string {
	if c.Status != 0 {
		return fmt.Sprintf("%s%d", c.URLWithPort(port), i)
	}
	return c.URLWithPort(port)
}

func TestNothingReachesTheInside(t *testing.T) {
	t.Parallel()
	cases := ssrftest.Cases()
	if len(cases) < minCases {
		t.Fatalf("%d cases, want %d", len(cases), minCases)
	}
	v := newInsideListener(t)
	p := newPublicServer(t, redirects(cases, v.port))
	refused, followed := 0, 0
	for i, c := range cases {
		w := &recordingDialer{to: p.Listener.Addr().String()}
		s := webhook.NewSender(webhook.SenderOptions{Resolve: c.Resolver(), Dial: w.dial, RootCAs: p.roots, Timeout: 10 * time.Second})
		o := s.Post(t.Context(), addressed(c, i, v.port), nil, []byte("{}"))
		if c.Rebinds() {
			if o.Err != nil || o.Status != http.StatusOK {
				t.Errorf("%s: the public address got %+v", c.URL, o)
			}
			o = s.Post(t.Context(), addressed(c, i, v.port), nil, []byte("{}"))
		}
		switch {
		case o.Err == nil:
			t.Errorf("%s (%s, %s): delivered", c.URL, c.Class, c.Why)
		case c.Status != 0 && o.Status == c.Status && !o.Refused, c.Status == 0 && o.Status == 0 && o.Refused:
			refused++
		default:
			t.Errorf("%s (%s, %s): %+v", c.URL, c.Class, c.Why, o)
		}
		for _, a := range w.addresses() {
			if a != ssrftest.PublicAddress {
				followed++
				t.Errorf("%s (%s, %s): dialed %s", c.URL, c.Class, c.Why, a)
			}
		}
	}
	hits := v.hitCount(t)
	if hits != 0 {
		t.Errorf("%d connections reached the inside", hits)
	}
	t.Logf("%d cases, %d refused, %d dials and %d connections to the inside", len(cases), refused, followed, hits)
}

// The same with the dialer of the system, whose control is the last wall. Only cases that
// lead to this machine: if the walls fall, nothing may go out to a network.
func TestNothingReachesTheInsideThroughTheSystem(t *testing.T) {
	t.Parallel()
	v := newInsideListener(t)
	n := 0
	for _, c := range ssrftest.Cases() {
		if !c.Reaches || c.Status != 0 || c.Rebinds() { // the last two are public at first
			continue
		}
		n++
		s := webhook.NewSender(webhook.SenderOptions{Resolve: c.Resolver()})
		if o := s.Post(t.Context(), c.URLWithPort(v.port), nil, nil); !o.Refused || o.Status != 0 {
			t.Errorf("%s (%s, %s): %+v", c.URL, c.Class, c.Why, o)
		}
	}
	hits := v.hitCount(t)
	if hits != 0 || n < 100 {
		t.Errorf("%d cases, %d connections reached the inside", n, hits)
	}
	t.Logf("%d cases, %d connections to the inside", n, hits)
}

// A careless client gets to the listener: that nothing came there is the sender's doing.
func TestACarelessClientReachesTheInside(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other kernels do not take all of these addresses for this machine")
	}
	cases := ssrftest.Cases()
	v := newInsideListener(t)
	p := newPublicServer(t, redirects(cases, v.port))
	six := hasSix(v.port)
	reached, skipped := 0, 0
	for i, c := range cases {
		if !c.Reaches {
			continue
		}
		if !six && (strings.Contains(c.URL+c.Location, "[") || c.Answers != nil && c.Answers[len(c.Answers)-1][0].Is6()) {
			skipped++
			continue
		}
		before := v.hits.Load()
		postCarelessly(t, c, p, addressed(c, i, v.port))
		if v.hits.Load() == before {
			t.Errorf("%s (%s): a careless client does not reach the listener", c.URL, c.Class)
			continue
		}
		reached++
	}
	if reached < 100 {
		t.Errorf("only %d cases reached the listener", reached)
	}
	t.Logf("%d cases reached the listener, %d need IPv6, which is not here", reached, skipped)
}

func hasSix(port int) bool {
	c, err := net.Dial("tcp", net.JoinHostPort("::1", fmt.Sprint(port)))
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// postCarelessly checks a name once, as if that meant something, and then lets a plain client go.
func postCarelessly(t *testing.T, c ssrftest.Case, p *publicServer, address string) {
	t.Helper()
	resolve := c.Resolver()
	if c.Rebinds() {
		_, _ = resolve(t.Context(), "")
	}
	w := &recordingDialer{to: p.Listener.Addr().String()}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			if _, err := netip.ParseAddr(host); err == nil {
				return w.dial(ctx, network, addr)
			}
			list, err := resolve(ctx, host)
			if err != nil || len(list) == 0 {
				return nil, errors.New("no address")
			}
			return w.dial(ctx, network, net.JoinHostPort(list[0].String(), port))
		},
	}}
	resp, err := client.Post(address, "application/json", strings.NewReader("{}"))
	if err == nil {
		_ = resp.Body.Close()
	}
}

// The check of the URL alone refuses every case that can be known from the URL, and is
// Invalid: it is the customer's to mend.
func TestTheURLAlone(t *testing.T) {
	t.Parallel()
	n := 0
	for _, c := range ssrftest.Cases() {
		err := webhook.CheckURL(c.URLWithPort(4443), false)
		if c.Late {
			if err != nil {
				t.Errorf("%s is said to be fine, but %v", c.URL, err)
			}
			continue
		}
		n++
		if !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s (%s, %s): %v", c.URL, c.Class, c.Why, err)
		}
	}
	if n < minCases {
		t.Errorf("only %d cases", n)
	}
}

// The dial alone refuses every host that can be read at all, as if the check had a hole.
func TestTheDialAlone(t *testing.T) {
	t.Parallel()
	v := newInsideListener(t)
	n := 0
	for _, c := range ssrftest.Cases() {
		u, err := url.Parse(c.URLWithPort(v.port))
		if err != nil || u.Hostname() == "" || c.Status != 0 {
			continue
		}
		n++
		w := &recordingDialer{}
		s := webhook.NewSender(webhook.SenderOptions{Resolve: c.Resolver(), Dial: w.dial})
		address := net.JoinHostPort(u.Hostname(), fmt.Sprint(v.port))
		if c.Rebinds() {
			_, _ = s.Dial(t.Context(), address)
		}
		conn, err := s.Dial(t.Context(), address)
		if conn != nil {
			_ = conn.Close()
		}
		if !errors.Is(err, webhook.ErrNotPublic) {
			t.Errorf("%s (%s, %s): %v", c.URL, c.Class, c.Why, err)
		}
	}
	if hits := v.hitCount(t); hits != 0 || n < minCases {
		t.Errorf("%d cases, %d connections reached the inside", n, hits)
	}
}

// The control alone refuses, as if check and dial had a hole.
func TestTheControlAlone(t *testing.T) {
	t.Parallel()
	v := newInsideListener(t)
	s := webhook.NewSender(webhook.SenderOptions{})
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "localhost"} {
		conn, err := s.Connect(t.Context(), net.JoinHostPort(host, fmt.Sprint(v.port)))
		if conn != nil {
			_ = conn.Close()
		}
		if !errors.Is(err, webhook.ErrNotPublic) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if hits := v.hitCount(t); hits != 0 {
		t.Errorf("%d connections reached the inside", hits)
	}
}

func TestPublicIsAllowed(t *testing.T) {
	t.Parallel()
	for _, u := range ssrftest.Public() {
		if err := webhook.CheckURL(u, false); err != nil {
			t.Errorf("%s: %v", u, err)
		}
		w := &recordingDialer{}
		s := webhook.NewSender(webhook.SenderOptions{Resolve: resolves(ssrftest.PublicAddress.String()), Dial: w.dial})
		if o := s.Post(t.Context(), u, nil, nil); o.Refused || !errors.Is(o.Err, errNoTraffic) || len(w.addresses()) != 1 {
			t.Errorf("%s: %+v, dialed %v", u, o, w.addresses())
		}
	}
}

func TestCasesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range ssrftest.Cases() {
		key := fmt.Sprint(c.URL, c.Answers, c.Status, c.Location)
		if seen[key] {
			t.Errorf("%q is there twice", c.URL)
		}
		if seen[key] = true; c.Why == "" || c.Class == "" {
			t.Errorf("%q has no reason", c.URL)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, c := range ssrftest.Cases() {
		f.Add(c.URLWithPort(443))
	}
	for _, u := range ssrftest.Public() {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		w := &recordingDialer{}
		s := webhook.NewSender(webhook.SenderOptions{Resolve: resolves("127.0.0.1", "10.0.0.1", "fd00::1", "::ffff:127.0.0.1"), Dial: w.dial})
		err := webhook.CheckURL(raw, false)
		o := s.Post(t.Context(), raw, nil, nil)
		if err != nil && !o.Refused || o.Err == nil {
			t.Errorf("%q: the check says %v, the sender %+v", raw, err, o)
		}
		for _, a := range w.addresses() { // only a public address in the URL itself
			if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || a.Is4In6() || a.Zone() != "" {
				t.Errorf("%q leads to %s", raw, a)
			}
		}
	})
}
