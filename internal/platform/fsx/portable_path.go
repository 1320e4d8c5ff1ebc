//go:build darwin || windows

package fsx

import (
	"io/fs"
	"os"
)

// checkPathUnchanged returns fs.ErrNotExist unless the path still names the open directory.
func (d *portableDir) checkPathUnchanged() error {
	open, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Lstat(d.path)
	if err == nil && !os.SameFile(open, named) {
		err = fs.ErrNotExist
	}
	return err
}
