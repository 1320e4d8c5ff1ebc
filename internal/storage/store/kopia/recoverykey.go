package kopia

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A recovery key is what opens a store, as text that a person keeps elsewhere: the files that no
// pack holds. It has no history in it.

// recoveryBlock is the type of its PEM block, which holds a checksum and then JSON: the bytes of
// each key file by name.
const recoveryBlock = "RETAKE RECOVERY KEY"

// ErrNoRecoveryKey means that a text is not a whole recovery key.
var ErrNoRecoveryKey = errors.New("this is not a whole recovery key")

// RecoveryKey returns the recovery key of the store in a directory.
func RecoveryKey(fsys fsx.FS, dir string) ([]byte, error) {
	home, err := openHome(fsys, dir)
	if err != nil {
		return nil, err
	}
	defer home.Close() //nolint:errcheck // only read
	files := map[string][]byte{}
	for _, k := range keyFiles {
		b, err := readKeyFile(home, k.dir, k.name)
		if errors.Is(err, fs.ErrNotExist) && k.name != passwordFile {
			continue // not every store has all of them
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, store.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("make a recovery key: %w", err)
		}
		if kept, ok := readKeyCopy(home, k.name); ok && !bytes.Equal(kept, b) { // one of the two is damaged
			return nil, fmt.Errorf("make a recovery key: %s differs from its copy: %w", k.name, store.ErrDamaged)
		}
		files[k.name] = b
	}
	return encodeRecoveryKey(files)
}

func encodeRecoveryKey(files map[string][]byte) ([]byte, error) {
	b, err := json.Marshal(files)
	if err != nil {
		return nil, fmt.Errorf("make a recovery key: %w", err)
	}
	sum := sha256.Sum256(b)
	return pem.EncodeToMemory(&pem.Block{Type: recoveryBlock, Bytes: append(sum[:], b...)}), nil
}

func decodeRecoveryKey(text []byte) (map[string][]byte, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != recoveryBlock || len(block.Bytes) < sha256.Size {
		return nil, ErrNoRecoveryKey
	}
	sum := sha256.Sum256(block.Bytes[sha256.Size:])
	var files map[string][]byte
	if !bytes.Equal(sum[:], block.Bytes[:sha256.Size]) || json.Unmarshal(block.Bytes[sha256.Size:], &files) != nil {
		return nil, ErrNoRecoveryKey
	}
	for _, k := range keyFiles[:2] { // the password and the format
		if len(files[k.name]) == 0 {
			return nil, ErrNoRecoveryKey
		}
	}
	return files, nil
}

// RestoreKeys puts the files of a recovery key back. What was in their place is kept, with the suffix
// stamp. The caller finds out by opening the store whether the key is that of the store; if it is
// not, undo puts back what was there.
func RestoreKeys(fsys fsx.FS, dir string, text []byte, stamp string) (undo func() error, err error) {
	files, err := decodeRecoveryKey(text)
	if err != nil {
		return nil, err
	}
	home, err := openHome(fsys, dir)
	if err != nil {
		return nil, err
	}
	defer home.Close() //nolint:errcheck // a directory handle
	was := map[string][]byte{}
	for _, k := range keyFiles {
		b, ok := files[k.name]
		now, err := readKeyFile(home, k.dir, k.name)
		if !ok || err == nil && bytes.Equal(now, b) {
			continue
		}
		if err == nil {
			was[k.name] = now
			err = setAside(home, k.dir, k.name, stamp)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = replaceInDir(home, k.dir, k.name, b)
		}
		if err != nil {
			return nil, fmt.Errorf("put back %s: %w", k.name, err)
		}
	}
	return func() error { return replaceKeys(fsys, dir, was) }, home.Sync()
}

// replaceKeys writes key files again. Those that were not there stay: another key replaces them.
func replaceKeys(fsys fsx.FS, dir string, files map[string][]byte) error {
	home, err := openHome(fsys, dir)
	if err != nil {
		return err
	}
	defer home.Close() //nolint:errcheck // a directory handle
	for _, k := range keyFiles {
		if b, ok := files[k.name]; ok {
			err = errors.Join(err, replaceInDir(home, k.dir, k.name, b))
		}
	}
	return errors.Join(err, home.Sync())
}

func openHome(fsys fsx.FS, dir string) (fsx.Dir, error) {
	home, err := fsys.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrNotFound
	}
	return home, err
}
