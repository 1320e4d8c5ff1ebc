package main

import (
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/bench/record"
)

var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.F2FS_SUPER_MAGIC: "f2fs", 0x2fc12fc1: "zfs",
}

func lookAtMachine(dir string) (record.Machine, error) {
	var u unix.Utsname
	var s unix.Statfs_t
	var i unix.Sysinfo_t
	if err := unix.Uname(&u); err != nil {
		return record.Machine{}, fmt.Errorf("look at kernel: %w", err)
	}
	if err := unix.Statfs(dir, &s); err != nil {
		return record.Machine{}, fmt.Errorf("look at file system: %w", err)
	}
	if err := unix.Sysinfo(&i); err != nil {
		return record.Machine{}, fmt.Errorf("look at memory: %w", err)
	}
	kind, ok := fileSystems[int64(s.Type)] //nolint:unconvert // int32 on some machines
	if !ok {
		kind = fmt.Sprintf("of type %#x", s.Type)
	}
	// What follows the version often names who built the kernel.
	kernel, _, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), "-")
	return record.Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: kernel, Cores: runtime.NumCPU(),
		Memory: int64(i.Totalram) * int64(i.Unit), FileSystem: kind, Go: runtime.Version(), //nolint:unconvert // narrower on some machines
	}, nil
}

func sameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}

// writeBack flushes all dirty pages, so that no tool pays for another's.
func writeBack() { unix.Sync() }
