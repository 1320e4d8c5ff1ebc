//go:build !unix

package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: who replaces a file here owns it as before.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

func isReadOnlyFS(error) bool { return false }

// isSyncUnsupported reports whether a file system cannot sync a directory: none here can.
func isSyncUnsupported(error) bool { return true }
