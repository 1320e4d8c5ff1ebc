package fsx

import (
	"errors"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// utimeOmit leaves a time unchanged. It is UTIME_OMIT, which package unix does not define
// here.
const utimeOmit = -2

func statChangeTime(sys *syscall.Stat_t) int64 { return sys.Ctimespec.Nano() }

// mknodAt goes by path because there is no other call, so the path must still name the open
// directory. A socket cannot be created without listening on it.
func mknodAt(d *portableDir, name string, typ Type, mode uint32) error {
	if typ != FIFO {
		return errors.ErrUnsupported
	}
	if err := d.checkPathUnchanged(); err != nil {
		return err
	}
	return unix.Mkfifo(filepath.Join(d.path, name), mode)
}
