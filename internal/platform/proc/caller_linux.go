package proc

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// wrapperPrograms run another program on behalf of somebody and end with it.
var wrapperPrograms = []string{"sh", "bash", "dash", "zsh", "ash", "fish", "ksh", "csh", "tcsh", "nu", "pwsh", "env", "timeout", "nice", "nohup", "setsid", "sudo", "xargs"}

const maxAncestors = 16

// CallerPID returns the process that caused this one to run: the nearest ancestor that is not
// a shell or another wrapper. It returns 0 if that cannot be determined.
func CallerPID() int {
	pid := os.Getppid()
	for range maxAncestors {
		name, parent, err := readNameAndParent(pid)
		if err != nil || pid <= 1 {
			return 0
		}
		if !slices.Contains(wrapperPrograms, name) {
			return pid
		}
		pid = parent
	}
	return 0
}

// Ancestors returns a process and its ancestors, the nearest first.
func Ancestors(pid int) []int {
	var out []int
	for range maxAncestors {
		if pid <= 1 {
			break
		}
		out = append(out, pid)
		_, parent, err := readNameAndParent(pid)
		if err != nil {
			break
		}
		pid = parent
	}
	return out
}

// readNameAndParent reads the name and the parent of a process. The name is in parentheses and
// may contain any bytes, parentheses too.
func readNameAndParent(pid int) (name string, parent int, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, fmt.Errorf("look at process %d: %w", pid, err)
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return "", 0, fmt.Errorf("look at process %d: %.40q", pid, b)
	}
	rest := bytes.Fields(b[end+1:])
	if len(rest) < 2 {
		return "", 0, fmt.Errorf("look at process %d: %.40q", pid, b)
	}
	parent, err = strconv.Atoi(string(rest[1]))
	return string(b[open+1 : end]), parent, err
}
