//go:build linux

// Package g31 attacks a system daemon as the user whose history it keeps: no checkpoint may be lost,
// and nothing be written that the user himself could not write.
//
// Everything happens in a child with its own mounts and processes: a user is added, the daemon is
// installed for him as root does it, and a process of his tries whatever an agent could.
package g31

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("G31", outOfReach)
	harness.Children["g31"] = machineChild
	harness.Children["g31-attacker"] = attackerChild
}

const (
	quickAttempts = 300
	fullAttempts  = 12000
	controlTries  = 100
)

func outOfReach(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G31", What: "what the user of a system daemon does loses no checkpoint and writes nothing that he could not write",
		Control: "the same attacks on a daemon that runs as the user", Detail: map[string]any{},
	}
	start := time.Now()
	if os.Getuid() != 0 {
		v.Detail["skipped"] = "other users need root"
		return []harness.Verdict{v}
	}
	exe, err := daemonbed.Program(r)
	if err != nil {
		v.Fail("build: %v", err)
		return []harness.Verdict{v}
	}
	o, err := runMachine(exe, r.Figure(quickAttempts, fullAttempts), r.Seed, false)
	if err != nil {
		v.Fail("%v", err)
	}
	v.Tried = int64(o.Attempts)
	for _, f := range o.Failures {
		v.Fail("%s", f)
	}
	v.Detail["attempts"], v.Detail["checkpoints"], v.Detail["files compared"] = o.Kinds, o.Checkpoints, o.Compared
	c, err := runMachine(exe, controlTries, r.Seed, true)
	if err != nil && len(c.Failures) == 0 {
		v.Detail["control"] = err.Error()
	}
	v.Caught = int64(len(c.Failures))
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// outcome is what one machine went through.
type outcome struct {
	Attempts, Checkpoints, Compared int
	Kinds                           map[string]int
	Failures                        []string
}

func runMachine(exe string, attempts int, seed int64, control bool) (o outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	cmd := exec.Command(self, "child", "g31", "-exe", exe, "-attempts", strconv.Itoa(attempts), "-seed", strconv.FormatInt(seed, 10), "-control="+strconv.FormatBool(control))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err = cmd.Run()
	if jerr := json.Unmarshal(out.Bytes(), &o); jerr != nil {
		return o, errors.Join(err, jerr)
	}
	return o, err
}

func machineChild(args []string) int {
	var m machine
	f := flag.NewFlagSet("g31", flag.ContinueOnError)
	f.StringVar(&m.exe, "exe", "", "the program")
	f.IntVar(&m.attempts, "attempts", 0, "how many attacks")
	f.Int64Var(&m.seed, "seed", 1, "of the attacks")
	f.BoolVar(&m.control, "control", false, "attack a daemon of the user")
	if f.Parse(args) != nil {
		return 2
	}
	o, err := m.live()
	if err != nil {
		fmt.Fprintln(os.Stderr, "g31:", err)
		return 1
	}
	if json.NewEncoder(os.Stdout).Encode(o) != nil {
		return 1
	}
	return 0
}
