package fsx

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// ReplaceFile writes a file so that after a crash or a power cut there is the old one or the new
// one, whole: a temporary file beside it is synced, renamed, and its directory is synced.
func ReplaceFile(path string, data []byte, mode fs.FileMode) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path)) // a user may keep settings elsewhere
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	dir, err := OS().OpenRoot(parent)
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	name := filepath.Base(path)
	if err := writeAs(dir, "."+name+TempMark+rand.Text()[:12], name, data, mode); err != nil {
		return errors.Join(err, dir.Close())
	}
	return errors.Join(syncNames(dir), dir.Close())
}

// ReplaceIn is ReplaceFile for a name in an open directory.
func ReplaceIn(dir Dir, name string, data []byte) error {
	if err := WriteIn(dir, name, data); err != nil {
		return err
	}
	return dir.Sync()
}

// TempMark is in the name of a file that is not finished.
const TempMark = ".new."

// WriteIn is ReplaceIn for a caller who syncs the directory itself.
func WriteIn(dir Dir, name string, data []byte) error {
	return writeAs(dir, name+TempMark+rand.Text()[:12], name, data, 0o600)
}

// writeAs writes a temporary file, which is of this process alone, and gives it its name.
func writeAs(dir Dir, temp, name string, data []byte, mode fs.FileMode) error {
	f, err := dir.Create(temp, mode)
	if err != nil {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, dir, name)
	}
	if err != nil {
		_ = dir.Remove(temp) // a leftover of ours
		return fmt.Errorf("replace %s: %w", name, err)
	}
	return nil
}

// SyncDir makes the names in a directory durable, where the system can.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	if err = errors.Join(syncNames(d), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// syncNames syncs a directory. Not every system can.
func syncNames(d interface{ Sync() error }) error {
	err := d.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
