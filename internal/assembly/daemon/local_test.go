//go:build unix

package daemon_test

import (
	"context"
	"net"
	"os/exec"
	"sync"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/service/servicetest"
)

// What every assembly of the service must do, through a socket and a daemon.
func TestLocal(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, servicetest.Harness{
		Open: func(t *testing.T, home string) retake.Service {
			h := houseIn(t, home)
			if word := h.begin(h.solo); word != "ready" {
				t.Fatalf("the daemon says %q", word)
			}
			return &through{Client: h.client(), end: sync.OnceValue(h.end)}
		},
		Copy: func(t *testing.T, from, to string) {
			if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
				t.Fatalf("cp -a: %v: %s", err, out)
			}
		},
	})
}

// through is a client whose daemon ends with it.
type through struct {
	*client.Client
	end func() error
}

func (s *through) Close() error {
	if err := s.Client.Close(); err != nil {
		return err
	}
	return s.end()
}

func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}
