package proc

import "golang.org/x/sys/unix"

// confine sets limits of resources only: the rest has no counterpart here that a process
// can put on itself.
func (c Cage) confine(try func(what string, err error)) {
	c.holdCommon(try)
	try("memory", hold(unix.RLIMIT_AS, uint64(c.Memory)))
	try("files, sockets and programs", ErrUnsupported)
}
