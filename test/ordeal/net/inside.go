//go:build linux

package net

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// netChild is in a network of its own from its first instruction on; so is all
// that it starts.
func netChild(args []string) int {
	in := &inside{h: &daemonbed.Home{Dir: args[1], Exe: args[0]}, pages: args[2], src: args[3], only: args[4]}
	if err := in.all(); err != nil {
		in.rep.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(in.rep); err != nil {
		return 1
	}
	return 0
}

// inside is one stay in the network of its own.
type inside struct {
	h     *daemonbed.Home
	pages string // the compiled script suite
	src   string // where it lies
	only  string // which of its pages
	rep   netReport
}

func (in *inside) all() error {
	if err := wayOut(); err != nil {
		return err
	}
	if c, err := sentSoFar(); err != nil || c != (counters{}) {
		return fmt.Errorf("before anything ran: %+v, %w", c, err)
	}
	stop, seen := in.watch()
	err := errors.Join(in.commands(), in.suite())
	close(stop)
	for s := range <-seen {
		in.rep.Sockets = append(in.rep.Sockets, s)
	}
	var cerr error
	in.rep.Sent, cerr = sentSoFar()
	return errors.Join(err, cerr, in.control())
}

// outside is the only way out, and its other end.
const outside, farEnd = "out0", "far0"

// wayOut makes an interface with an address and a default route, on which the
// kernel itself has nothing to say: no neighbours to ask for, no version 6.
func wayOut() error {
	for _, which := range []string{"all", "default"} {
		p := filepath.Join("/proc/sys/net/ipv6/conf", which, "disable_ipv6")
		if err := harness.IgnoreAbsent(os.WriteFile(p, []byte("1"), 0o644)); err != nil {
			return err
		}
	}
	for _, line := range []string{
		"link set lo up",
		"link add " + outside + " type veth peer name " + farEnd,
		"link set " + farEnd + " arp off up",
		"link set " + outside + " arp off up",
		"addr add 192.0.2.1/24 dev " + outside,
		"route add default via 192.0.2.2",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// commands uses a home as people do, with a daemon.
func (in *inside) commands() error {
	root := in.h.Root(0)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	defer in.step(func() error { _, err := in.h.Ask(in.h.Exe, "daemon", "stop"); return err }, "daemon stop")
	for i, line := range []string{
		"init " + root + " --yes", "save first", "status", "diff", "log", "show latest", "save second", "workspaces",
		"space", "space --free", "scrub", "doctor", "rebuild", "daemon status", "version",
	} {
		text := []byte(fmt.Sprintf("text %d", i))
		if err := os.WriteFile(filepath.Join(root, "f"), text, 0o644); err != nil {
			return err
		}
		in.step(func() error {
			_, err := in.h.Ask(in.h.Exe, append([]string{"-C", root}, strings.Fields(line)...)...)
			return err
		}, line)
	}
	if t, err := in.h.State(); err != nil || !t.Running {
		return fmt.Errorf("the daemon: running %v, %w", t.Running, err)
	}
	return nil
}

// step runs one thing and looks what it sent.
func (in *inside) step(do func() error, what string) {
	in.rep.Steps++
	before, err := sentSoFar()
	err = errors.Join(err, do())
	after, aerr := sentSoFar()
	if err = errors.Join(err, aerr); err != nil {
		in.rep.Failed = append(in.rep.Failed, fmt.Sprintf("%s: %v", what, err))
	}
	if after != before {
		in.rep.Failed = append(in.rep.Failed, fmt.Sprintf("%s: sent %+v, before it %+v", what, after, before))
	}
}

// suite runs the pages of the command line.
func (in *inside) suite() error {
	var out []byte
	in.step(func() (err error) {
		cmd := exec.Command(in.pages, "-test.v", "-test.run", in.only)
		cmd.Dir = in.src
		out, err = cmd.CombinedOutput()
		return err
	}, "the pages")
	in.rep.Steps--
	for line := range strings.Lines(string(out)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "--- PASS: TestScripts") && strings.Contains(line, "/"):
			in.rep.Steps++
		case strings.HasPrefix(line, "--- FAIL: "), strings.HasPrefix(line, "FAIL: "):
			in.rep.Failed = append(in.rep.Failed, line)
		}
	}
	return nil
}

const lookEvery = 10 * time.Millisecond

// watch looks for sockets that are not unix ones until stop is closed.
func (in *inside) watch() (stop chan struct{}, seen chan map[string]bool) {
	stop, seen = make(chan struct{}), make(chan map[string]bool, 1)
	go func() {
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		found := map[string]bool{}
		for {
			for _, s := range inetSockets() {
				found[s] = true
			}
			in.rep.Looks++
			select {
			case <-stop:
				seen <- found
				return
			case <-t.C:
			}
		}
	}()
	return stop, seen
}

// control sends one packet and opens one socket: both must be noticed.
func (in *inside) control() error {
	before, err := sentSoFar()
	if err != nil {
		return err
	}
	c, err := net.Dial("udp", "198.51.100.7:9")
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is read
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	in.rep.Listener = len(inetSockets()) > 0
	after, err := sentSoFar()
	in.rep.Packet = after.Out - before.Out
	return err
}
