//go:build !unix

package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: on these systems a replaced file keeps its owner.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

func isReadOnlyFS(error) bool { return false }

// isSyncUnsupported reports whether an error means that the file system cannot sync a
// directory.
func isSyncUnsupported(error) bool { return true }
