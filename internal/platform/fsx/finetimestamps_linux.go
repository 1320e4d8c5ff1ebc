//go:build !portable

package fsx

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// fineTimestampFSTypes are the file systems that, since Linux 6.13, give a file whose times
// were read a timestamp of full resolution at its next change. Before that, a change within
// one tick of the clock, some milliseconds, could leave the times unchanged.
var fineTimestampFSTypes = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC}

var kernelHasFineTimestamps = sync.OnceValue(func() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	return releaseHasFineTimestamps(unix.ByteSliceToString(u.Release[:]))
})

func releaseHasFineTimestamps(release string) bool {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(strings.TrimRightFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' }))
	return err1 == nil && err2 == nil && (major > 6 || major == 6 && minor >= 13)
}

func (s *osFS) HasFineTimestamps(path string) bool {
	var st unix.Statfs_t
	if !kernelHasFineTimestamps() || retryEINTR(func() error { return unix.Statfs(path, &st) }) != nil {
		return false
	}
	for _, t := range fineTimestampFSTypes {
		if int64(st.Type) == t {
			return true
		}
	}
	return false
}
