package proc

import "golang.org/x/sys/unix"

// apply sets resource limits only: macOS has no counterpart of the rest that a process can
// apply to itself.
func (c Sandbox) apply(try func(what string, err error)) {
	c.setCommonLimits(try)
	try("memory", setRlimit(unix.RLIMIT_AS, uint64(c.MaxMemory)))
	try("files, sockets and programs", ErrUnsupported)
}
