//go:build linux

// Package g5 attacks a restore while it writes: it must never write outside of its
// workspace.
package g5

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("G5-escape", escapes)
	harness.Children["g5"] = raidChild
}

// powerless is a user without rights, who owns the root and all that lies outside.
const powerless = 65534

// raid is one root under attack, in a process of its own.
type raid struct {
	Dir   string        // the yard
	How   string        // who restores: handles, both, path, path-fenced
	Foes  []string      // who attacks; none: everybody
	Want  int64         // attempts
	Limit time.Duration // for all of it
	Seed  int64
}

// raided is what came of it. An attempt is one file operation of the restorer below
// the root; every path there is contested.
type raided struct {
	Attempts int64            `json:"attempts"`
	Rounds   int64            `json:"restores"`
	Swaps    map[string]int64 `json:"swaps"`
	Written  int64            `json:"written"`
	Deleted  int64            `json:"deleted"`
	Left     int64            `json:"left"`
	Longest  int64            `json:"longest_ms"`
	Escapes  int64            `json:"escapes"`
	Seconds  float64          `json:"seconds"`
	Failures []string         `json:"failures,omitempty"`
}

// escapes lets adversaries exchange what a restore works on for what lies outside.
// Each fence stands alone in one of the rows; without any, the same restorer must
// escape.
func escapes(r *harness.Run) []harness.Verdict {
	free := map[string]raided{}
	caught := int64(0)
	for _, who := range users() {
		got, err := raidAs(r, who, raid{How: "path", Want: int64(r.Figure(5_000, 100_000)), Limit: 30 * time.Second})
		if err == nil {
			caught += got.Escapes
		}
		free[who] = got
	}
	handles := siege(r, "handles", "a restore never leaves the root, by its handles alone", r.Figure(200_000, 4_000_000), nil)
	both := siege(r, "both", "the same with the kernel's fence around it", r.Figure(20_000, 200_000), nil)
	fence := siege(r, "path-fenced", "a restorer by path never leaves the kernel's fence", r.Figure(50_000, 500_000), []string{"dirlink", "filelink", "root"})
	beyond, err := raidAs(r, "root", raid{How: "path-fenced", Foes: []string{"hardlink", "bind"}, Want: int64(r.Figure(5_000, 50_000)), Limit: 10 * time.Second})
	if err != nil {
		fence.Fail("what the fence cannot see: %v", err)
	}
	fence.Detail["hard links and mounts, which the fence cannot see"] = beyond
	rows := []*harness.Verdict{&handles, &both, &fence}
	out := make([]harness.Verdict, 0, len(rows))
	for _, v := range rows {
		v.Control, v.Caught = "a restorer by path, with no fence", caught
		v.Detail["control"] = free
		out = append(out, *v)
	}
	return out
}

func users() []string {
	if os.Getuid() != 0 {
		return []string{"owner"}
	}
	return []string{"root", "owner"}
}

// siege runs one kind of restorer, as root and as an owner without rights.
func siege(r *harness.Run, how, what string, want int, foes []string) harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G5", What: what, Detail: map[string]any{}}
	all := users()
	for i, who := range all {
		got, err := raidAs(r, who, raid{
			How: how, Foes: foes, Want: int64(want / len(all)), Limit: time.Duration(r.Figure(60, 400)) * time.Second, Seed: r.Seed + int64(i),
		})
		if err != nil {
			v.Fail("%s: %v", who, err)
		}
		for _, f := range got.Failures {
			v.Fail("%s: %s", who, f)
		}
		v.Tried += got.Attempts
		v.Failed += max(0, got.Escapes-int64(len(got.Failures)))
		v.Detail[who] = got
		if got.Attempts < int64(want/len(all)) {
			v.Fail("%s: only %d attempts in the time", who, got.Attempts)
		}
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// raidAs runs one in a child: mounts stay in a namespace of its own, and an owner has
// no rights but his own.
func raidAs(r *harness.Run, who string, o raid) (raided, error) {
	var out raided
	o.Dir = harness.FastDir(r, "g5")
	defer os.RemoveAll(o.Dir) //nolint:errcheck // scratch
	if err := os.Chmod(o.Dir, 0o755); err != nil {
		return out, err
	}
	order, err := json.Marshal(o)
	if err != nil {
		return out, err
	}
	cmd := exec.Command("/proc/self/exe", "child", "g5", string(order))
	cmd.Dir = o.Dir
	var told, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &errs
	switch {
	case os.Getuid() == 0 && who == "owner":
		if err := os.Chown(o.Dir, powerless, powerless); err != nil {
			return out, err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: powerless, Gid: powerless}}
	case os.Getuid() == 0:
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	if err := cmd.Run(); err != nil {
		return out, fmt.Errorf("the raid broke off: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, json.Unmarshal(told.Bytes(), &out)
}

func raidChild(args []string) int {
	var o raid
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	y, err := newYard(o)
	if err == nil {
		defer y.close()
		err = y.hold(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(y.tale); err != nil {
		return 1
	}
	return 0
}
