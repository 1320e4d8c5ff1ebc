package fork

import (
	"errors"
	"fmt"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// ClearDir removes everything below a directory that was made for a fork that failed. It
// follows no link and enters no other file system.
func ClearDir(d fsx.Dir) error {
	i, err := d.Stat()
	if err == nil && i.Mode&0o700 != 0o700 {
		err = d.SetOwnMetadata(fsx.Metadata{Mode: 0o700, Mtime: i.Mtime})
	}
	if err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	names, err := d.Names()
	if err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	for _, name := range names {
		if err := removeEntry(d, name); err != nil {
			return err
		}
	}
	return nil
}

// removeEntry removes a name with everything below it, whatever its mode.
func removeEntry(d fsx.Dir, name string) error {
	i, err := d.Lstat(name)
	if err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	if i.Type == fsx.Directory {
		if i.Mode&0o400 == 0 { // it could not be opened to be lifted by itself
			if err := d.SetMetadata(name, i.Ino, fsx.Metadata{Mode: 0o700, Mtime: i.Mtime}); err != nil {
				return fmt.Errorf("clear fork: %w", err)
			}
		}
		below, err := d.OpenDir(name)
		if err != nil {
			return fmt.Errorf("clear fork: %w", err)
		}
		if err := errors.Join(ClearDir(below), below.Close()); err != nil {
			return err
		}
	}
	if err := d.Remove(name); err != nil {
		return fmt.Errorf("clear fork: %w", err)
	}
	return nil
}
