package proc

import "golang.org/x/sys/unix"

// apply sets limits of resources only: the rest has no counterpart here that a process
// can put on itself.
func (c Sandbox) apply(try func(what string, err error)) {
	c.setCommonLimits(try)
	try("memory", setRlimit(unix.RLIMIT_AS, uint64(c.MaxMemory)))
	try("files, sockets and programs", ErrUnsupported)
}
