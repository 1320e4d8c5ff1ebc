package proc

import (
	"context"
	"strconv"

	"golang.org/x/sys/unix"
)

// LeaveCgroupIn is LeaveCgroup for a process that sees its files below root.
func LeaveCgroupIn(root string, pid, uid int, anywhere bool) string {
	return cgroupView{root: root, pid: pid, uid: uid}.leaveAll(anywhere)
}

// StatHasNoFiles reports whether a line of state is that of a process without files.
func StatHasNoFiles(stat string) bool { return statHasNoFiles([]byte(stat)) }

// ScanMappingLine reads one line of the mappings of a process.
func ScanMappingLine(pid int, line string, want map[Inode]bool) ([]FileUser, error) {
	dir, err := unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	l := newProcScanner(want)
	l.scanMappingLine(dir, []byte(line))
	return l.current, nil
}

// RunInGroup is RunIsolated where our own program cannot be a supervisor.
func RunInGroup(ctx context.Context, a IsolatedCommand) (ExitStatus, error) {
	if a.Grace <= 0 {
		a.Grace = defaultGrace
	}
	return a.runInGroup(ctx)
}
