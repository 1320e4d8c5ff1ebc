package daemon_test

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = 65534

// As somebody else, on a socket that everybody may reach.
func TestStrangerIsNotAnswered(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	h := newHouse(t)
	h.begin(h.solo)
	must(t, os.Chmod(h.conf.SocketDir, 0o711))
	must(t, os.Chmod(h.conf.Socket, 0o666))
	if got := askAs(t, nobody, h.conf.Socket); got != "" {
		t.Errorf("a stranger is told %q", got)
	}
	must(t, os.Chmod(h.conf.SocketDir, 0o700))
	c := &http.Client{Transport: &http.Transport{DialContext: dialer(h.conf.Socket)}}
	resp, err := c.Get("http://d/daemon/state")
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the user is told %s", resp.Status)
	}
	c.CloseIdleConnections()
	must(t, h.end())
}

// askAs asks from a thread that belongs to another user.
func askAs(t *testing.T, uid int, socket string) string {
	t.Helper()
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends with us
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			got <- answer{err: e}
			return
		}
		text, err := rawAsk(socket)
		got <- answer{text, err}
	}()
	a := wait(t, got)
	must(t, a.err)
	return a.text
}

func rawAsk(socket string) (string, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), "ask")
	defer f.Close()
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		return "", err
	}
	_, _ = f.WriteString("GET /daemon/state HTTP/1.0\r\n\r\n") // the other end may have hung up
	b, _ := io.ReadAll(f)
	return string(b), nil
}
