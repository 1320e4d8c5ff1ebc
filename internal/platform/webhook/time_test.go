package webhook_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
)

// pipeDialer is a dial whose addresses are pipes: one that is served answers, others hang.
func pipeDialer(serve string, mu *sync.Mutex, dials *[]string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		mu.Lock()
		*dials = append(*dials, address)
		mu.Unlock()
		if address != serve {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ours, theirs := net.Pipe()
		go func() {
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
			_ = theirs.Close()
		}()
		return ours, nil
	}
}

func TestOneDeadAddressDoesNotTakeAllTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var dials []string
		s := webhook.NewSender(webhook.SenderOptions{Lenient: true, Resolve: resolves("1.1.1.1", "8.8.8.8"), Dial: pipeDialer("8.8.8.8:80", &mu, &dials)})
		begin := clock.Wall.Now()
		o := s.Post(t.Context(), "http://hooks.example.com/", nil, nil)
		if took := clock.Wall.Now().Sub(begin); o.Err != nil || took != 10*time.Second || len(dials) != 2 {
			t.Errorf("%+v after %v, dialed %v", o, took, dials)
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var dials []string
		s := webhook.NewSender(webhook.SenderOptions{Lenient: true, Resolve: resolves("1.1.1.1"), Dial: pipeDialer("", &mu, &dials)})
		begin := clock.Wall.Now()
		o := s.Post(t.Context(), "http://hooks.example.com/", nil, nil)
		if took := clock.Wall.Now().Sub(begin); !errors.Is(o.Err, context.DeadlineExceeded) || o.Refused || took != 20*time.Second {
			t.Errorf("%+v after %v", o, took)
		}
	})
}

// Who takes a connection and says nothing holds it no longer than the message lasts. A
// bubble does not end while one of its goroutines is left.
func TestSilenceIsNotHeldFor(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		synctest.Test(t, func(t *testing.T) {
			closed := make(chan error, 1)
			s := webhook.NewSender(webhook.SenderOptions{
				Lenient: true, Resolve: resolves("1.1.1.1"),
				Dial: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						_, err := io.Copy(io.Discard, theirs)
						closed <- err
					}()
					return ours, nil
				},
			})
			begin := clock.Wall.Now()
			o := s.Post(t.Context(), scheme+"://hooks.example.com/", nil, nil)
			if took := clock.Wall.Now().Sub(begin); !errors.Is(o.Err, context.DeadlineExceeded) || took != 20*time.Second {
				t.Errorf("%s: %+v after %v", scheme, o, took)
			}
			if err := <-closed; err != nil {
				t.Errorf("%s: %v", scheme, err)
			}
		})
	}
}
