//go:build portable

package fsx

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// utimeOmit leaves a time unchanged.
const utimeOmit = unix.UTIME_OMIT

func statChangeTime(sys *syscall.Stat_t) int64 { return sys.Ctim.Nano() }

func mknodAt(d *portableDir, name string, typ Type, mode uint32) error {
	mode |= unix.S_IFIFO
	if typ == Socket {
		mode = mode&^unix.S_IFMT | unix.S_IFSOCK
	}
	return d.withFD(func(fd int) error { return unix.Mknodat(fd, name, mode, 0) })
}
