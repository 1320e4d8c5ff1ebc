package fork

import (
	"errors"
	"fmt"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Clear removes everything below a directory that was made for a fork and did not
// become one. It follows no link and enters no other file system.
func Clear(d fsx.Dir) error {
	i, err := d.Stat()
	if err == nil && i.Mode&0o700 != 0o700 {
		err = d.DressSelf(fsx.Dressing{Mode: 0o700, Mtime: i.Mtime})
	}
	if err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	names, err := d.Names()
	if err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	for _, name := range names {
		if err := clearName(d, name); err != nil {
			return err
		}
	}
	return nil
}

func clearName(d fsx.Dir, name string) error {
	i, err := d.Lstat(name)
	if err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	if i.Type == fsx.Directory {
		if i.Mode&0o400 == 0 { // it could not be opened to be lifted by itself
			if err := d.Dress(name, i.Ino, fsx.Dressing{Mode: 0o700, Mtime: i.Mtime}); err != nil {
				return fmt.Errorf("clear fork: %w", err)
			}
		}
		below, err := d.OpenDir(name)
		if err != nil {
			return fmt.Errorf("clear fork: %w", err)
		}
		if err := errors.Join(Clear(below), below.Close()); err != nil {
			return err
		}
	}
	if err := d.Remove(name); err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	return nil
}
