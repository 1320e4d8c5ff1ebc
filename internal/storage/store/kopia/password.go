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
		_, copied := readKeyCopy(d, passwordFile)
		_, err := d.Lstat(blobsDir) // who removed the blobs too wants a new store
		return copied && err == nil, nil
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
	if err := fsx.ReplaceIn(home, passwordFile, []byte(password+"\n")); err != nil {
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
