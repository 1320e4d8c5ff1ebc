package proc

import (
	"errors"
	"runtime/debug"
	"time"
)

// Sandbox is what a process limits itself to before it reads hostile bytes.
type Sandbox struct {
	MaxMemory    int64         // bytes of writable memory
	MaxCPU       time.Duration // of all threads, in whole seconds
	MaxOpenFiles uint64        // open at the same time
}

// ErrOutOfMemory means that a process exceeded its memory limit.
var ErrOutOfMemory = errors.New("out of memory")

// memoryLimitShare is the part of the memory limit at which the garbage collector begins to
// work hard.
const memoryLimitShare = 0.75

// EnterSandbox permanently takes from this process what reading does not need: unlimited
// memory and time, files, sockets, other programs. It returns what could not be restricted,
// and why: an old kernel is no reason to stop. Open streams stay open.
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
