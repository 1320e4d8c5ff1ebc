package kopia

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

func hasPassword(fsys fsx.FS, dir string) (bool, error) {
	d, err := fsys.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a store: %w", err)
	}
	defer d.Close() //nolint:errcheck // only looked
	_, err = d.Lstat(passwordFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func newPassword() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails; the runtime ends the process instead
	return hex.EncodeToString(b)
}

// writePassword makes the password durable, and with it the store.
func writePassword(home fsx.Dir, password string) error {
	const tmp = passwordFile + ".new"
	if err := home.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write password: %w", err)
	}
	f, err := home.Create(tmp, 0o600)
	if err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if _, err = f.Write([]byte(password + "\n")); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = home.Rename(tmp, home, passwordFile)
	}
	if err == nil {
		err = home.Sync()
	}
	if err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	return nil
}

func readPassword(home fsx.Dir) (string, error) {
	f, err := home.OpenFile(passwordFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", store.ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
