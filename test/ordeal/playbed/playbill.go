//go:build linux

// Package playbed holds what ordeals of random histories stand on: a model in plain maps,
// and children that play.
package playbed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// Playbill is a part of the histories, in a process that sees no other one.
type Playbill struct {
	Dir  string
	Seed int64
	From int
	To   int
	Lie  string
}

type Told struct {
	Tried    int64    `json:"tried"`
	Failed   int64    `json:"failed"`
	Failures []string `json:"failures,omitempty"`
}

// Tell runs a child. As root it has process ids of its own: a plan asks every process
// what it holds, and there is only one.
func Tell(r *harness.Run, child string, t Playbill) (Told, error) {
	var out Told
	t.Dir = harness.FastDir(r, child)
	defer os.RemoveAll(t.Dir) //nolint:errcheck // scratch
	order, err := json.Marshal(t)
	if err != nil {
		return out, err
	}
	cmd := exec.Command("/proc/self/exe", "child", child, string(order))
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	}
	var text, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &errs
	if err := cmd.Run(); err != nil {
		return out, fmt.Errorf("the histories broke off: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, json.Unmarshal(text.Bytes(), &out)
}

// PlayAll plays what is ordered, and prints what came of it.
func PlayAll(args []string, play func(Playbill, context.Context) (Told, error)) int {
	var t Playbill
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if os.Getpid() == 1 {
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	out, err := play(t, context.Background())
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Batch is how many histories share a service and its store.
const Batch = 50
