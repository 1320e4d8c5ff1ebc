package proc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/proc"
)

// machine is a made-up view of /proc and of the control groups.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T, groups string) machine {
	t.Helper()
	m := machine{t, t.TempDir()}
	m.write("proc/self/cgroup", groups)
	m.write("proc/self/mountinfo", strings.Join([]string{
		`20 1 0:1 / / rw - ext4 /dev/sda rw`,
		`25 20 0:21 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`,
		`26 20 0:22 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory`,
		`27 20 0:23 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct`,
		`28 20 0:24 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset`,
		`29 20 0:25 /part /elsewhere rw,relatime - cgroup cgroup rw,pids`, "",
	}, "\n"))
	for _, d := range []string{"unified/user.slice/user-7.slice/user@7.service", "memory", "cpu", "cpuset"} {
		if err := os.MkdirAll(filepath.Join(m.root, "sys/fs/cgroup", d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m machine) write(name, text string) {
	m.t.Helper()
	p := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// in reports whether process 42 was put into a group.
func (m machine) in(group string) bool {
	b, err := os.ReadFile(filepath.Join(m.root, "sys/fs/cgroup", group, "cgroup.procs"))
	return err == nil && string(b) == "42"
}

func TestGroupsAreLeftWhereTheyAreTheUsers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "0::/user.slice/user-7.slice/user@7.service/app.slice/term.scope\n")
	if why := proc.LeaveCgroupIn(m.root, 42, 7, false); why != "" {
		t.Errorf("it stays: %s", why)
	}
	if !m.in("unified/user.slice/user-7.slice/user@7.service/retake-daemon") {
		t.Error("it is not in a group of its own")
	}
}

func TestGroupsOfOthersAreLeftUnlessTheyLimit(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "4:memory:/job/1\n3:cpu,cpuacct:/job/1\n0::/job/1\n")
	m.write("sys/fs/cgroup/unified/job/memory.max", "max\n")
	if why := proc.LeaveCgroupIn(m.root, 42, 7, false); why != "unified /job/1: what ends that group ends the daemon" {
		t.Errorf("it says %q", why)
	}
	if m.in("unified/retake-daemon") {
		t.Error("it left all the same")
	}
	if why := proc.LeaveCgroupIn(m.root, 42, 7, true); why != "" {
		t.Errorf("it stays: %s", why)
	}
	if !m.in("unified/retake-daemon") {
		t.Error("it did not leave")
	}
	for _, g := range []string{"memory", "cpu"} {
		if m.in(g + "/retake-daemon") {
			t.Errorf("it left what only limits: %s", g)
		}
	}
	bound := newMachine(t, "0::/job/1\n")
	bound.write("sys/fs/cgroup/unified/job/memory.max", "1000000\n")
	if why := proc.LeaveCgroupIn(bound.root, 42, 7, true); !strings.Contains(why, "it is limited there") || bound.in("unified/retake-daemon") {
		t.Errorf("it escapes a limit: %q", why)
	}
}

func TestNothingToLeave(t *testing.T) {
	t.Parallel()
	for _, groups := range []string{"0::/\n", "0::/user.slice/user-7.slice/user@7.service/app.slice/retake-daemon-1.service\n", "9:pids:/job\n", ""} {
		m := newMachine(t, groups)
		if why := proc.LeaveCgroupIn(m.root, 42, 7, false); why != "" {
			t.Errorf("%q: %s", groups, why)
		}
	}
	if why := proc.LeaveCgroupIn(t.TempDir(), 42, 7, false); why == "" {
		t.Error("groups that cannot be read are taken for none")
	}
}

func TestWithoutAManagerNobodyIsAsked(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", "relative", t.TempDir()} {
		if err := proc.SpawnUnit(t.Context(), dir, "retake-test", proc.Detached{Path: "/bin/true"}); !errors.Is(err, proc.ErrNoManager) {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
