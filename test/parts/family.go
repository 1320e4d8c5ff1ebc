//go:build unix

package parts

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stat is what the kernel says of a process.
type stat struct {
	parent int
	ticks  int64 // of itself and of the children that it has waited for
}

// perSecond is how many ticks a second has for who reads them; the kernel fixed it.
const perSecond = 100

func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, false
	}
	text := string(b)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before may hold anything
	if len(f) < 15 {
		return stat{}, false
	}
	var s stat
	s.parent, _ = strconv.Atoi(f[1])
	for _, field := range f[11:15] {
		n, _ := strconv.ParseInt(field, 10, 64)
		s.ticks += n
	}
	return s, true
}

// family answers all that descend from a process, without itself. Where the kernel does
// not tell it is empty.
func family(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok {
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	out := append([]int{}, children[root]...)
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// spent answers the processor time of a process that runs.
func spent(pid int) time.Duration {
	s, _ := readStat(pid)
	return time.Duration(s.ticks) * time.Second / perSecond
}

// resident answers the memory of a process that runs, in bytes.
func resident(pid int) int64 {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return 0
	}
	all, _ := strconv.ParseInt(f[1], 10, 64)
	shared, _ := strconv.ParseInt(f[2], 10, 64) // counted once for all by nobody: left out
	return (all - shared) * int64(os.Getpagesize())
}
