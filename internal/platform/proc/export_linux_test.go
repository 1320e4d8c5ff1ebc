package proc

import (
	"context"
	"strconv"

	"golang.org/x/sys/unix"
)

// LeaveIn is LeaveCgroup for a process that sees its files below root.
func LeaveIn(root string, pid, uid int, anywhere bool) string {
	return groups{root: root, pid: pid, uid: uid}.leave(anywhere)
}

// Bare reports whether a line of state is that of a process without files.
func Bare(stat string) bool { return bareStat([]byte(stat)) }

// LineHolds reads one line of the mappings of a process.
func LineHolds(pid int, line string, want map[Inode]bool) ([]Holder, error) {
	dir, err := unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	l := newLooker(want)
	l.line(dir, []byte(line))
	return l.holds, nil
}

// RunGroup is RunIsolated where our own program cannot be a keeper.
func RunGroup(ctx context.Context, a Isolated) (Ended, error) {
	if a.Grace <= 0 {
		a.Grace = leave
	}
	return a.group(ctx)
}
