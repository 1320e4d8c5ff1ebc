//go:build linux

package daemonbed

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// parentOf answers 0 for a process that ended.
func parentOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1]) // the kernel writes a number
	return parent
}

// Below lists what a process started, and what that started.
func Below(root int) []int {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil {
			up := parentOf(pid)
			children[up] = append(children[up], pid)
		}
	}
	all := slices.Clone(children[root])
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
