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
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	err = f.Chmod(mode)
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a leftover of ours
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return SyncDir(dir)
}

// ReplaceIn is ReplaceFile for a name in an open directory.
func ReplaceIn(dir Dir, name string, data []byte) error {
	if err := WriteIn(dir, name, data); err != nil {
		return err
	}
	return dir.Sync()
}

// TempMark is in the name of a file that WriteIn has not finished.
const TempMark = ".new."

// WriteIn is ReplaceIn for a caller who syncs the directory itself.
func WriteIn(dir Dir, name string, data []byte) error {
	tmp := name + TempMark + rand.Text()[:12] // of this process alone
	f, err := dir.Create(tmp, 0o600)
	if err != nil {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(tmp, dir, name)
	}
	if err != nil {
		_ = dir.Remove(tmp) // a leftover of ours
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
	err = d.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // not every system syncs directories
		err = nil
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
