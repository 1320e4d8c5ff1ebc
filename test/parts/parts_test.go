//go:build unix

package parts_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retake-dev/retake/test/parts"
)

var child = flag.Bool("child", false, "be the process that is killed")

// until asks until it is so.
func until(t *testing.T, what string, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !yes(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// TestKillAndFreeze: a process goes with its children, and stands still when it is told to.
func TestKillAndFreeze(t *testing.T) {
	t.Parallel()
	p := parts.Sleeper(t.TempDir())
	for range 2 {
		if err := p.Begin(); err != nil {
			t.Fatal(err)
		}
		pid := p.PID()
		if err := p.Freeze(); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "linux" {
			until(t, "it is not frozen", func() bool {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				return err == nil && strings.Contains(string(b), ") T ")
			})
		}
		p.Thaw()
		p.Kill()
		if p.Running() || !gone(pid) {
			t.Error("it runs after a kill")
		}
	}
}

// TestScratchAndProcessesEndWithUs: who is killed leaves neither processes nor files.
func TestScratchAndProcessesEndWithUs(t *testing.T) {
	if *child {
		beKilled(t)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children with their parent")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestScratchAndProcessesEndWithUs$", "-child")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	var pid int
	if _, err := fmt.Fscanln(bufio.NewReader(out), &dir, &pid); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil || gone(pid) {
		t.Fatalf("%v, process gone: %v", err, gone(pid))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	until(t, "a process is left", func() bool { return gone(pid) })
	until(t, "a directory is left", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
}

func beKilled(t *testing.T) {
	dir, _, err := parts.Scratch("")
	if err != nil {
		t.Fatal(err)
	}
	p := parts.Sleeper(dir)
	if err := p.Begin(); err != nil {
		t.Fatal(err)
	}
	fmt.Println(dir, p.PID())
	select {}
}

// TestProxy: connections go to all targets in turn, around those that are away, and break
// when they are cut.
func TestProxy(t *testing.T) {
	t.Parallel()
	var targets []string
	for i := range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		targets = append(targets, l.Addr().String())
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_, _ = fmt.Fprintln(c, i)
			}
		}()
	}
	p, err := parts.StartProxy(append(targets, "127.0.0.1:1")...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	said := map[string]int{}
	var conns []net.Conn
	for range 9 {
		c, err := net.Dial("tcp", p.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		said[line]++
		conns = append(conns, c)
	}
	if len(said) != 2 || said["0\n"] < 3 || said["1\n"] < 3 {
		t.Errorf("targets were asked %v", said)
	}
	if n := p.Cut(); n != 18 {
		t.Errorf("%d ends were cut", n)
	}
	for _, c := range conns {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection outlives the cut")
		}
	}
}

// TestCounter: requests are counted by method, bodies by their bytes, and the host that was
// signed arrives.
func TestCounter(t *testing.T) {
	t.Parallel()
	hosts := make(chan string, 3)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		hosts <- r.Host
		_, _ = io.WriteString(w, "twelve bytes")
	}))
	defer s.Close()
	c, err := parts.StartCounter(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := c.Counts()
	for _, r := range []struct{ method, path, body string }{{"PUT", "/b/x", "five!"}, {"GET", "/b/x", ""}, {"GET", "/b?list-type=2", ""}} {
		req, err := http.NewRequestWithContext(t.Context(), r.method, "http://"+c.Address()+r.path, strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if host := <-hosts; host != c.Address() {
			t.Errorf("host %s", host)
		}
	}
	got := c.Counts().Since(before)
	if got.Requests["PUT"] != 1 || got.Requests["GET"] != 1 || got.Requests["LIST"] != 1 || got.Sent != 5 || got.Received != 36 {
		t.Errorf("%+v", got)
	}
}
