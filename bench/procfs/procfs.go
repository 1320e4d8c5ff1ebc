// Package procfs reads what the kernel tells about a running process: its memory
// and the time it computed.
//
// It only reads below /proc. Elsewhere than on Linux there is nothing to read, and
// it says so by an error.
package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc: the kernel's user interface has 100 in a
// second on every machine that we build for.
const tick = 10 * time.Millisecond

// Memory is what a process has now, and the most it ever had, in bytes.
type Memory struct{ Now, Peak int64 }

// MemoryOf reads the memory of a process.
func MemoryOf(pid int) (Memory, error) {
	text, err := read(pid, "status")
	if err != nil {
		return Memory{}, err
	}
	return ParseMemory(text)
}

// CPUOf reads how long a process computed, itself and in the kernel.
func CPUOf(pid int) (time.Duration, error) {
	text, err := read(pid, "stat")
	if err != nil {
		return 0, err
	}
	return ParseCPU(text)
}

func read(pid int, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		return "", fmt.Errorf("look at process: %w", err)
	}
	return string(b), nil
}

// ParseMemory reads VmRSS and VmHWM of a status file.
func ParseMemory(status string) (Memory, error) {
	var m Memory
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		to := map[string]*int64{"VmRSS": &m.Now, "VmHWM": &m.Peak}[name]
		if to == nil {
			continue
		}
		if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", to); err != nil {
			return m, fmt.Errorf("read memory: %w", err)
		}
		*to *= 1024
	}
	if m.Now == 0 {
		return m, fmt.Errorf("read memory: the process has ended")
	}
	return m, nil
}

// ParseCPU adds up utime and stime of a stat file. The name of the program stands
// in brackets and may hold anything, brackets too.
func ParseCPU(stat string) (time.Duration, error) {
	const user, system = 11, 12 // counted behind the name
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= system {
		return 0, fmt.Errorf("read times: %d fields", len(fields))
	}
	var sum int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read times: %w", err)
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}
