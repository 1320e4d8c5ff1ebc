//go:build !unix

package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: on these systems a replaced file keeps its owner.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

func isReadOnlyFS(error) bool { return false }
