package proc

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// daemonCgroup is the name of a daemon's control group.
const daemonCgroup = UnitPrefix + "-daemon"

// LeaveCgroup moves this process out of the control groups by which its starter may be killed,
// so that it is not killed too. It moves to a subtree that is delegated to the user; elsewhere
// only if anywhere is set, and never out of a group with limits. Hierarchies that only measure
// and limit are not left. It returns why it stays, or "".
func LeaveCgroup(anywhere bool) string {
	return cgroupView{root: "/", pid: os.Getpid(), uid: os.Getuid()}.leaveAll(anywhere)
}

// managedHierarchies are the hierarchies whose groups are killed as a whole.
var managedHierarchies = []string{"unified", "name=systemd"}

// cgroupView is what one process sees; root is "/" except in tests.
type cgroupView struct {
	root     string
	pid, uid int
}

// cgroupMembership is one hierarchy and the group of the process in it.
type cgroupMembership struct{ name, mount, group string }

func (g cgroupView) leaveAll(anywhere bool) string {
	all, err := g.readMemberships()
	if err != nil {
		return "the control groups cannot be read: " + err.Error()
	}
	var stays []string
	for _, m := range all {
		if why := g.leaveHierarchy(m, anywhere); why != "" {
			stays = append(stays, fmt.Sprintf("%s %s: %s", m.name, m.group, why))
		}
	}
	return strings.Join(stays, "; ")
}

// leaveHierarchy leaves one hierarchy and returns why it could not, or "". A process that is
// in the root group, or has moved before, has nothing to leave.
func (g cgroupView) leaveHierarchy(m cgroupMembership, anywhere bool) string {
	if m.group == "/" || strings.HasPrefix(path.Base(m.group), UnitPrefix) || !slices.Contains(managedHierarchies, m.name) {
		return ""
	}
	target, own := g.delegatedGroup(m.group)
	switch {
	case own:
	case !anywhere:
		return "what ends that group ends the daemon"
	case hasLimits(m):
		return "it is limited there; what ends that group ends the daemon"
	}
	if !own {
		target = "/" + daemonCgroup
	}
	dir := filepath.Join(m.mount, target)
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		return "no group of its own: " + err.Error()
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(g.pid)), 0o644); err != nil {
		return "it may not move: " + err.Error()
	}
	return ""
}

// delegatedGroup finds the subtree that the service manager delegated to the user.
func (g cgroupView) delegatedGroup(group string) (target string, ok bool) {
	manager := "user@" + strconv.Itoa(g.uid) + ".service"
	before, _, ok := strings.Cut(group, "/"+manager+"/")
	return path.Join(before, "/", manager, daemonCgroup), ok
}

// hasLimits reports whether the group, or one above it, has a limit.
func hasLimits(m cgroupMembership) bool {
	for at := m.group; at != "/" && at != "."; at = path.Dir(at) {
		for _, f := range []string{"memory.max", "memory.high", "pids.max", "cpu.max"} {
			b, err := os.ReadFile(filepath.Join(m.mount, at, f))
			if err == nil && !strings.HasPrefix(string(b), "max") {
				return true
			}
		}
	}
	return false
}

// readMemberships returns the group of this process in every hierarchy that is mounted.
func (g cgroupView) readMemberships() ([]cgroupMembership, error) {
	mounts, err := g.readCgroupMounts()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(g.root, "proc/self/cgroup"))
	if err != nil {
		return nil, err
	}
	var out []cgroupMembership
	for line := range strings.Lines(string(b)) { // 4:memory:/group, or 0::/group
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		name := f[1]
		if name == "" {
			name = "unified"
		}
		if at, ok := mounts[name]; ok {
			out = append(out, cgroupMembership{name, at, f[2]})
		}
	}
	return out, nil
}

// readCgroupMounts returns the mount point of each hierarchy that is mounted with its root.
func (g cgroupView) readCgroupMounts() (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(g.root, "proc/self/mountinfo"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 || left[3] != "/" {
			continue
		}
		at := filepath.Join(g.root, left[4])
		switch right[0] {
		case "cgroup2":
			out["unified"] = at
		case "cgroup":
			names := strings.Split(right[2], ",")
			for i := range names { // /proc/self/cgroup lists the controllers of one mount joined like this
				out[strings.Join(names[i:], ",")] = at
			}
		}
	}
	return out, nil
}
