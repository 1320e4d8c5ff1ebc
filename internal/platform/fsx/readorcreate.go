package fsx

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadOrCreate returns what is in a file, and creates it first if there is none. Several processes
// may call it at once: all of them return what the one that wins has made. When it returns, a power
// cut no longer takes the file away, so what it protects may be written.
func ReadOrCreate(path string, create func() ([]byte, error)) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		return b, nil
	}
	name := filepath.Base(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	b, err = create()
	if err != nil {
		return nil, err
	}
	if err := linkNew(path, b); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	return os.ReadFile(path)
}

// linkNew writes a file whole. It fails if somebody else has created it meanwhile.
func linkNew(path string, b []byte) error {
	tmp := path + TempMark + rand.Text()[:12]
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) //nolint:errcheck // its other name stays
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(tmp, path)
}
