//go:build linux

package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// Trees of control groups: those by which services, jobs and sessions are ended,
// and those of the first version that are there to measure and to limit.
var managingTrees, measuringTrees = []string{"", "unified", "systemd"}, []string{"pids", "freezer"}

// ownGroup is one control group in each of some trees.
type ownGroup struct{ dirs []string }

func newGroup(name string, trees []string) (*ownGroup, error) {
	g := &ownGroup{}
	for _, t := range trees {
		at := filepath.Join("/sys/fs/cgroup", t)
		if _, err := os.Stat(filepath.Join(at, "cgroup.procs")); err != nil {
			continue // no tree of this machine
		}
		d := filepath.Join(at, name)
		if err := os.Mkdir(d, 0o755); err != nil {
			return g, errors.Join(err, g.remove())
		}
		g.dirs = append(g.dirs, d)
	}
	return g, nil
}

// enter moves this process.
func enter(dirs []string) error {
	for _, d := range dirs {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), []byte("0"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func members(dir string) []int {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for f := range strings.FieldsSeq(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// holds reports whether a process is in one of the groups.
func (g *ownGroup) holds(pid int) bool {
	for _, d := range g.dirs {
		for _, m := range members(d) {
			if m == pid {
				return true
			}
		}
	}
	return false
}

// kill ends everybody in the groups, as a job or a container is ended.
func (g *ownGroup) kill() bool {
	return daemonbed.Await(func() bool {
		left := 0
		for _, d := range g.dirs {
			_ = os.WriteFile(filepath.Join(d, "cgroup.kill"), []byte("1"), 0) // the first version has none
			for _, pid := range members(d) {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL) // gone is fine
			}
		}
		return left == 0
	})
}

func (g *ownGroup) remove() error {
	var err error
	daemonbed.Await(func() bool { // a process that has ended leaves a moment later
		err = nil
		for _, d := range g.dirs {
			err = errors.Join(err, harness.IgnoreAbsent(os.Remove(d)))
		}
		return err == nil
	})
	return err
}

// leftGroups are those that daemons which leave make for themselves.
func leftGroups() []string {
	found, err := filepath.Glob("/sys/fs/cgroup/*/retake-daemon")
	top, terr := filepath.Glob("/sys/fs/cgroup/retake-daemon")
	if errors.Join(err, terr) != nil {
		return nil
	}
	return append(found, top...)
}

// tidy removes the groups that were not there before. One that is in use stays.
func tidy(before []string) {
	for _, d := range leftGroups() {
		known := false
		for _, b := range before {
			known = known || b == d
		}
		if !known {
			_ = os.Remove(d)
		}
	}
}
