package proc

import (
	"errors"
	"runtime/debug"
	"time"
)

// Cage is what a process leaves itself when it is about to read hostile bytes.
type Cage struct {
	Memory int64         // bytes that it may write to
	CPU    time.Duration // of all its threads, in whole seconds
	Files  uint64        // open at once
}

// ErrMemory means that a process took more memory than it may.
var ErrMemory = errors.New("out of memory")

// heapShare is the part of the memory at which the collector works hard before it is refused.
const heapShare = 0.75

// Confine takes from this process, for good, what reading needs not: memory and time
// without end, files, sockets, other programs. It answers what could not be taken, and
// why: an old kernel is no reason to stop. Streams that are open stay open.
func Confine(c Cage) (missing []string) {
	debug.SetMemoryLimit(int64(float64(c.Memory) * heapShare))
	try := func(what string, err error) {
		if err != nil {
			missing = append(missing, what+": "+err.Error())
		}
	}
	c.confine(try)
	return missing
}
