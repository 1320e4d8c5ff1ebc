package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/platform/webhook/ssrftest"
)

const hookURL = "https://" + ssrftest.PublicHost + "/in?a=b"

// newTestSender posts to a receiver that stands behind the public name.
func newTestSender(t *testing.T, h http.HandlerFunc) *webhook.Sender {
	t.Helper()
	p := newPublicServer(t, h)
	w := &recordingDialer{to: p.Listener.Addr().String()}
	return webhook.NewSender(webhook.SenderOptions{
		Resolve: resolves(ssrftest.PublicAddress.String()), Dial: w.dial, RootCAs: p.roots, Clock: clock.NewManual(noon),
	})
}

func TestPost(t *testing.T) {
	t.Parallel()
	private, shown, _ := webhook.NewSecret(retake.SchemeShared)
	body := []byte(`{"type":"checkpoint.created"}`)
	got := make(chan error, 1)
	s := newTestSender(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		err := webhook.Verify(shown, r.Header, b, noon)
		if want := "POST hooks.example.com /in?a=b application/json HTTP/1.1"; err == nil {
			if seen := strings.Join([]string{r.Method, r.Host, r.RequestURI, r.Header.Get("Content-Type"), r.Proto}, " "); seen != want || !bytes.Equal(b, body) || !r.Close {
				err = fmt.Errorf("request %q %q, want %q", seen, b, want)
			}
		}
		got <- err
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusAccepted)
	})
	for range 2 {
		o := s.Post(t.Context(), hookURL, webhook.Header("msg_1", noon, webhook.Sign(retake.SchemeShared, private, "msg_1", noon, body)), body)
		if o != (webhook.Outcome{Status: http.StatusAccepted}) {
			t.Errorf("outcome %+v", o)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

func TestNoCookieComesBack(t *testing.T) {
	t.Parallel()
	cookies := make(chan string, 2)
	s := newTestSender(t, func(w http.ResponseWriter, r *http.Request) {
		cookies <- r.Header.Get("Cookie")
		w.Header().Set("Set-Cookie", "a=b")
	})
	for range 2 {
		if o := s.Post(t.Context(), hookURL, nil, nil); o.Err != nil {
			t.Fatal(o.Err)
		}
		if c := <-cookies; c != "" {
			t.Errorf("cookie %q", c)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	date := func(d time.Duration) string { return noon.Add(d).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		status int
		after  string
		want   webhook.Outcome
		failed bool
	}{
		{200, "", webhook.Outcome{}, false},
		{204, "60", webhook.Outcome{}, false},
		{299, "", webhook.Outcome{}, false},
		{300, "", webhook.Outcome{}, true},
		{301, "", webhook.Outcome{}, true},
		{308, "", webhook.Outcome{}, true},
		{400, "", webhook.Outcome{}, true},
		{404, "7", webhook.Outcome{RetryAfter: 7 * time.Second}, true},
		{410, "60", webhook.Outcome{Gone: true}, true},
		{429, "", webhook.Outcome{Throttled: true, RetryAfter: 30 * time.Second}, true},
		{429, "0", webhook.Outcome{Throttled: true, RetryAfter: 30 * time.Second}, true},
		{429, "1", webhook.Outcome{Throttled: true, RetryAfter: time.Second}, true},
		{429, "120", webhook.Outcome{Throttled: true, RetryAfter: 2 * time.Minute}, true},
		{429, "86400", webhook.Outcome{Throttled: true, RetryAfter: 24 * time.Hour}, true},
		{429, "86401", webhook.Outcome{Throttled: true, RetryAfter: 24 * time.Hour}, true},
		{429, "99999999999999999999999", webhook.Outcome{Throttled: true, RetryAfter: 24 * time.Hour}, true},
		{429, "-5", webhook.Outcome{Throttled: true, RetryAfter: 30 * time.Second}, true},
		{429, "1.5", webhook.Outcome{Throttled: true, RetryAfter: 30 * time.Second}, true},
		{429, "soon", webhook.Outcome{Throttled: true, RetryAfter: 30 * time.Second}, true},
		{502, date(time.Hour), webhook.Outcome{Throttled: true, RetryAfter: time.Hour}, true},
		{504, date(48 * time.Hour), webhook.Outcome{Throttled: true, RetryAfter: 24 * time.Hour}, true},
		{504, date(-time.Hour), webhook.Outcome{Throttled: true, RetryAfter: 30 * time.Second}, true},
		{503, "", webhook.Outcome{}, true},
		{503, date(time.Minute), webhook.Outcome{RetryAfter: time.Minute}, true},
		{503, "Sun, 06 Nov 9999 08:49:37 GMT", webhook.Outcome{RetryAfter: 24 * time.Hour}, true},
		{500, "", webhook.Outcome{}, true},
	} {
		s := newTestSender(t, func(w http.ResponseWriter, _ *http.Request) {
			if c.after != "" {
				w.Header().Set("Retry-After", c.after)
			}
			w.WriteHeader(c.status)
		})
		o := s.Post(t.Context(), hookURL, nil, nil)
		failed := o.Err != nil
		o.Err, c.want.Status = nil, c.status
		if o != c.want || failed != c.failed {
			t.Errorf("%d with %q: %+v, failed %t; want %+v, %t", c.status, c.after, o, failed, c.want, c.failed)
		}
	}
}

// An answer that never ends costs what its first bytes cost.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	s := newTestSender(t, func(w http.ResponseWriter, _ *http.Request) {
		n, chunk := 0, make([]byte, 4096)
		for {
			m, err := w.Write(chunk)
			if n += m; err != nil || n > 1<<30 {
				written <- n
				return
			}
		}
	})
	if o := s.Post(t.Context(), hookURL, nil, nil); o.Err != nil || o.Status != http.StatusOK {
		t.Errorf("%+v", o)
	}
	if n := <-written; n > 64<<20 { // what lies in the buffers of the kernel counts too
		t.Errorf("%d bytes were taken", n)
	}
}

func TestEndlessHeader(t *testing.T) {
	t.Parallel()
	s := newTestSender(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("A", strings.Repeat("a", 1<<20)) })
	if o := s.Post(t.Context(), hookURL, nil, nil); o.Err == nil || o.Status != 0 || o.Refused {
		t.Errorf("%+v", o)
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	t.Parallel()
	p := newPublicServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a message arrived") }))
	w := &recordingDialer{to: p.Listener.Addr().String()}
	resolve := resolves(ssrftest.PublicAddress.String())
	strangers := webhook.NewSender(webhook.SenderOptions{Resolve: resolve, Dial: w.dial})
	known := webhook.NewSender(webhook.SenderOptions{Resolve: resolve, Dial: w.dial, RootCAs: p.roots})
	for name, o := range map[string]webhook.Outcome{
		"unknown issuer": strangers.Post(t.Context(), hookURL, nil, nil),
		"other name":     known.Post(t.Context(), "https://example.org/", nil, nil),
		"address":        known.Post(t.Context(), "https://"+ssrftest.PublicAddress.String()+"/", nil, nil),
	} {
		if o.Err == nil || o.Refused || !strings.Contains(o.Err.Error(), "certificate") {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestLenient(t *testing.T) {
	t.Parallel()
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer r.Close()
	s := webhook.NewSender(webhook.SenderOptions{Lenient: true})
	_, port, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), ":")
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if o := s.Post(t.Context(), "http://"+host+":"+port+"/", nil, nil); o.Err != nil {
			t.Errorf("%s: %v", host, o.Err)
		}
	}
	for _, u := range []string{
		"http://10.0.0.1/", "http://169.254.169.254/", "http://[::ffff:127.0.0.1]:" + port + "/", "http://0.0.0.0:" + port + "/", "http://2130706433:" + port + "/",
		"http://a@127.0.0.1:" + port + "/", "ftp://127.0.0.1/", "http://printer.local/", "http://db/",
	} {
		if o := s.Post(t.Context(), u, nil, nil); !o.Refused || webhook.CheckURL(u, true) == nil {
			t.Errorf("%s: %+v", u, o)
		}
	}
	inside := webhook.NewSender(webhook.SenderOptions{Lenient: true, Resolve: resolves("10.0.0.1", "169.254.169.254")})
	if o := inside.Post(t.Context(), "http://hooks.example.com/", nil, nil); !o.Refused {
		t.Errorf("%+v", o)
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	w := &recordingDialer{}
	s := webhook.NewSender(webhook.SenderOptions{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, Resolve: resolves("10.2.0.1", "10.1.0.7"), Dial: w.dial})
	for _, u := range []string{"https://10.1.2.3/", "https://hooks.corp/", "https://hooks.example.com/"} {
		if err := s.CheckURL(u); err != nil {
			t.Errorf("%s: %v", u, err)
		}
		if o := s.Post(t.Context(), u, nil, nil); o.Refused {
			t.Errorf("%s: %+v", u, o)
		}
	}
	for _, u := range []string{"https://10.2.0.1/", "https://127.0.0.1/", "https://[::ffff:10.1.2.3]/", "http://10.1.2.3/"} {
		if o := s.Post(t.Context(), u, nil, nil); !o.Refused || s.CheckURL(u) == nil {
			t.Errorf("%s: %+v", u, o)
		}
	}
	want := []netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("10.1.0.7"), netip.MustParseAddr("10.1.0.7")}
	if got := w.addresses(); !slices.Equal(got, want) {
		t.Errorf("dialed %v, want %v", got, want)
	}
}

// Addresses are tried in the order in which they come, and those of the inside never.
func TestAddressesInOrder(t *testing.T) {
	t.Parallel()
	p := newPublicServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w := &recordingDialer{to: p.Listener.Addr().String()}
	s := webhook.NewSender(webhook.SenderOptions{
		Resolve: resolves("127.0.0.1", "1.1.1.1", "10.0.0.1", "2606:4700::1", "64:ff9b::1.1.1.1", ssrftest.PublicAddress.String(), "8.8.8.8"), Dial: w.dial, RootCAs: p.roots,
	})
	if o := s.Post(t.Context(), hookURL, nil, nil); o.Err != nil {
		t.Fatal(o.Err)
	}
	want := []netip.Addr{netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("2606:4700::1"), ssrftest.PublicAddress}
	if got := w.addresses(); !slices.Equal(got, want) {
		t.Errorf("dialed %v, want %v", got, want)
	}
}

func TestManyAddresses(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 200 {
		list = append(list, fmt.Sprintf("1.1.1.%d", i))
	}
	w := &recordingDialer{}
	s := webhook.NewSender(webhook.SenderOptions{Resolve: resolves(list...), Dial: w.dial})
	if o := s.Post(t.Context(), hookURL, nil, nil); !errors.Is(o.Err, errNoTraffic) || len(w.addresses()) != 16 {
		t.Errorf("%+v, dialed %d", o, len(w.addresses()))
	}
}

// What the owner of a webhook reads tells nothing of the inside.
func TestErrorsKeepTheInside(t *testing.T) {
	t.Parallel()
	for name, resolve := range map[string]func(context.Context, string) ([]netip.Addr, error){
		"inside": resolves("10.11.12.13"),
		"none":   resolves(),
		"unknown": func(context.Context, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "a", Server: "10.11.12.13:53", IsNotFound: true}
		},
		"slow": func(context.Context, string) ([]netip.Addr, error) {
			return nil, fmt.Errorf("look: %w", &net.DNSError{Err: "timeout", Server: "10.11.12.13:53", IsTimeout: true})
		},
		"ill": func(context.Context, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "server misbehaving", Server: "10.11.12.13:53"}
		},
	} {
		o := webhook.NewSender(webhook.SenderOptions{Resolve: resolve}).Post(t.Context(), hookURL, nil, nil)
		if o.Err == nil || strings.Contains(o.Err.Error(), "10.11.12.13") || o.Refused != (name == "inside") {
			t.Errorf("%s: %+v", name, o)
		}
	}
}
