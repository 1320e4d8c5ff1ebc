package proc_test

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/retake-dev/retake/internal/platform/proc"
)

// Both kinds of socket can reach an address of the older kind; the owner is told of both.
func TestOwnerOfTheOtherEnd(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	if uid, err := proc.TCPPeerUID(here); err != nil || uid != os.Getuid() {
		t.Errorf("%d %v, not %d", uid, err, os.Getuid())
	}
	c.Close()
	// What was closed belongs to nobody, or the kernel has forgotten it, or it still tells whose it was.
	if uid, err := proc.TCPPeerUID(here); err == nil && uid != -1 && uid != os.Getuid() || err != nil && !errors.Is(err, proc.ErrPeerNotLocal) {
		t.Errorf("after its end: %d %v", uid, err)
	}
}

func TestOtherEndOfNoAddress(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := proc.TCPPeerUID(a); !errors.Is(err, proc.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
