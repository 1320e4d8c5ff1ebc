//go:build linux

// Package g27 runs commands that destroy files, after their hook was answered: every byte that is
// gone afterwards is in a checkpoint from before, or that checkpoint says that it is not saved.
//
// The commands are real and so are the shells. Each lane is a child with a mount namespace of its own,
// in which a home directory of two workspaces and other files lies on a file system in memory; the
// commands can write nothing else. An oracle that shares no code with the product compares all files
// before and after each command.
package g27

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("G27", heldOrNamed)
	harness.Children["g27"] = laneChild
}

const (
	lanes       = 2
	quickPlays  = 60
	maxHookTime = 2 * time.Second // what an agent waits for a hook
	manyNow     = 2               // times longer on a machine that has more to do than it can
)

func heldOrNamed(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G27", What: "what a command destroys was saved before it, or named as not saved",
		Control: "the same rows without what they say of files outside", Detail: map[string]any{},
	}
	start := time.Now()
	if os.Getuid() != 0 {
		v.Detail["skipped"] = "mounts need root"
		return []harness.Verdict{v}
	}
	exe, err := daemonbed.Program(r)
	if err != nil {
		v.Fail("build: %v", err)
		return []harness.Verdict{v}
	}
	sum := newTally()
	var mu sync.Mutex
	harness.Share(lanes, func(i int) {
		t, err := startLane(r, exe, i)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			v.Fail("lane %d: %v", i, err)
			return
		}
		sum.add(t)
	})
	sum.report(&v)
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// startLane runs a child in a mount namespace of its own, and reads what it counted.
func startLane(r *harness.Run, exe string, i int) (*tally, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "child", "g27", "-exe", exe, "-lane", strconv.Itoa(i), "-plays", strconv.Itoa(r.Figure(quickPlays, 0)))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err = cmd.Run()
	t := newTally()
	if jerr := json.Unmarshal(out.Bytes(), t); jerr != nil {
		return nil, errors.Join(err, jerr)
	}
	return t, err
}

// laneChild plays the calls of one lane, and prints what it counted.
func laneChild(args []string) int {
	var exe string
	var nth, plays int
	f := flag.NewFlagSet("g27", flag.ContinueOnError)
	f.StringVar(&exe, "exe", "", "the program")
	f.IntVar(&nth, "lane", 0, "which lane")
	f.IntVar(&plays, "plays", 0, "how many calls all lanes play; 0: all")
	if err := f.Parse(args); err != nil {
		return 2
	}
	sum, err := playLane(exe, nth, plays)
	if err != nil {
		fmt.Fprintln(os.Stderr, "g27:", err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(sum); err != nil {
		return 1
	}
	return 0
}

func playLane(exe string, nth, plays int) (sum *tally, err error) {
	l, err := openLane(exe)
	if l != nil {
		defer func() { err = errors.Join(err, l.close()) }()
	}
	if err != nil {
		return nil, err
	}
	for i, p := range pick(corpus(), plays) {
		if i%lanes != nth {
			continue
		}
		if missing := p.missing(); missing != "" {
			l.sum.Missing[missing]++
			continue
		}
		if err := l.try(i+1, &p); err != nil {
			l.sum.Failures = append(l.sum.Failures, failure{p.class, p.String(), "harness: " + err.Error() + l.lastWords()})
		}
	}
	return l.sum, nil
}

// pick chooses a spread sample of all classes, in the order of the corpus; 0: all.
func pick(all []play, n int) []play {
	if n == 0 || n >= len(all) {
		return all
	}
	classes := map[string][]int{}
	var order []string
	for i, p := range all {
		if classes[p.class] == nil {
			order = append(order, p.class)
		}
		classes[p.class] = append(classes[p.class], i)
	}
	var chosen []int
	for i, c := range order {
		share := (n - len(chosen)) / (len(order) - i)
		list := classes[c]
		share = min(max(share, 1), len(list))
		for k := range share {
			chosen = append(chosen, list[k*len(list)/share])
		}
	}
	slices.Sort(chosen)
	out := make([]play, len(chosen))
	for i, c := range chosen {
		out[i] = all[c]
	}
	return out
}
