//go:build linux

// Package net counts packets and sockets: the local assembly must have none.
package net

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("NET", noNetwork)
	harness.Children["net-inside"] = netChild
}

// netReport is what the process in the network of its own saw.
type netReport struct {
	Steps    int64    // commands and pages
	Failed   []string // of those that did not end well, or sent something
	Sent     counters // by everything
	Sockets  []string // not unix ones
	Looks    int      // at the sockets
	Packet   uint64   // counted after one was sent on purpose
	Listener bool     // that was opened on purpose was seen
	Error    string
}

// noNetwork: the local assembly sends nothing and opens no socket but unix ones. It
// runs in a network of its own with one way out, where the kernel is silent.
func noNetwork(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "NET", What: "the local assembly sends no packet and opens no inet socket", Control: "one packet is sent, one socket opened", Detail: map[string]any{}}
	start := time.Now()
	rep, err := netInside(r)
	if err != nil {
		v.Fail("%v", err)
	}
	v.Tried = rep.Steps
	for _, f := range rep.Failed {
		v.Fail("%s", f)
	}
	if rep.Sent != (counters{}) {
		v.Fail("sent: %+v", rep.Sent)
	}
	for _, s := range rep.Sockets {
		v.Fail("socket: %s", s)
	}
	if rep.Packet == 1 && rep.Listener {
		v.Caught = 2
	}
	v.Detail["sent"], v.Detail["looks_at_sockets"] = rep.Sent, rep.Looks
	v.Detail["control_packets"], v.Detail["control_socket_seen"] = rep.Packet, rep.Listener
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// quickPages are those of the script suite that run in the quick tier.
const quickPages = "TestScripts$/^(help|status|show-diff|init-save-log|care)$"

// netInside runs the child, whose network is new. The pages are compiled outside.
func netInside(r *harness.Run) (rep netReport, err error) {
	exe, err := daemonbed.Program(r)
	if err != nil {
		return rep, err
	}
	pages := filepath.Join(r.Scratch("pages"), "pages")
	if err := daemonbed.GoMakes("test", "-c", "-buildvcs=false", "-tags", "testing", "-o", pages, "github.com/retake-dev/retake/test/script"); err != nil {
		return rep, err
	}
	src, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/retake-dev/retake/test/script").Output()
	if err != nil {
		return rep, fmt.Errorf("find the pages: %w", err)
	}
	h, err := daemonbed.NewHome(r, exe)
	if err != nil {
		return rep, err
	}
	defer h.Kill()
	only := quickPages
	if r.Tier == "c" {
		only = "TestScripts"
	}
	cmd := exec.Command(os.Args[0], "child", "net-inside", exe, h.Dir, pages, string(bytes.TrimSpace(src)), only)
	cmd.Env = append(cmd.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.Output()
	if err != nil {
		return rep, fmt.Errorf("run in a network of its own: %w: %.400s", err, out)
	}
	if err := json.Unmarshal(out, &rep); err != nil {
		return rep, err
	}
	if rep.Error != "" {
		err = fmt.Errorf("in a network of its own: %s", rep.Error)
	}
	return rep, err
}
