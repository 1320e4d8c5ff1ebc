package proc

import (
	"errors"
	"runtime/debug"
	"time"
)

// Sandbox is what a process leaves itself when it is about to read hostile bytes.
type Sandbox struct {
	MaxMemory    int64         // bytes that it may write to
	MaxCPU       time.Duration // of all its threads, in whole seconds
	MaxOpenFiles uint64        // open at once
}

// ErrMemory means that a process took more memory than it may.
var ErrOutOfMemory = errors.New("out of memory")

// heapShare is the part of the memory at which the collector works hard before it is refused.
const memoryLimitShare = 0.75

// EnterSandbox takes from this process, for good, what reading needs not: memory and time
// without end, files, sockets, other programs. It answers what could not be taken, and
// why: an old kernel is no reason to stop. Streams that are open stay open.
func EnterSandbox(c Sandbox) (missing []string) {
	debug.SetMemoryLimit(int64(float64(c.MaxMemory) * memoryLimitShare))
	try := func(what string, err error) {
		if err != nil {
			missing = append(missing, what+": "+err.Error())
		}
	}
	c.apply(try)
	return missing
}
