//go:build unix

package proc

import "golang.org/x/sys/unix"

// setRlimit permanently lowers one limit to n. A limit that is lower already is kept.
func setRlimit(resource int, n uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	most := n
	if now.Max < most {
		most = now.Max
	}
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}

// setCommonLimits sets the limits that every Unix has. Soft and hard limit are equal, so that
// the kernel kills a process that spins instead of sending a signal that is never handled.
func (c Sandbox) setCommonLimits(try func(what string, err error)) {
	try("time of the processor", setRlimit(unix.RLIMIT_CPU, uint64(c.MaxCPU.Seconds())))
	try("open files", setRlimit(unix.RLIMIT_NOFILE, c.MaxOpenFiles))
	try("written files", setRlimit(unix.RLIMIT_FSIZE, 0))
	try("core file", setRlimit(unix.RLIMIT_CORE, 0))
}
