//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether the file is the user's own.
func owned(i fs.FileInfo) bool {
	st, ok := i.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(os.Getuid())
}
