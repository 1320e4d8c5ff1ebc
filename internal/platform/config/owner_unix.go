//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether the file belongs to the current user.
func isOwnedByUser(i fs.FileInfo) bool {
	return isOwnedBy(i, os.Getuid())
}

func isOwnedBy(i fs.FileInfo, uid int) bool {
	st, ok := i.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(uid)
}

// IsRootsAlone reports whether only root can change a file or a directory.
func IsRootsAlone(i fs.FileInfo) bool {
	return isOwnedBy(i, 0) && (i.Mode().Perm()&0o022 == 0 || i.Mode()&fs.ModeSticky != 0)
}
