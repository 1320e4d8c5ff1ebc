//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether the file belongs to the current user.
func isOwnedByUser(i fs.FileInfo) bool {
	st, ok := i.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(os.Getuid())
}
