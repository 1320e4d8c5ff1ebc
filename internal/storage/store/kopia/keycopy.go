package kopia

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/format"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// keysDir holds a second copy of what opens a store: its password and the blobs of its format.
// No pack holds them, so without them a whole store would be lost to one flipped bit.
const keysDir = "keys"

// keyFile is one of these files: where it is, and the name of its copy.
type keyFile struct {
	dir  string // below the store's directory; "": itself
	name string
}

var keyFiles = []keyFile{
	{"", passwordFile},
	{blobsDir, format.KopiaRepositoryBlobID + blobSuffix},
	{blobsDir, format.KopiaBlobCfgBlobID + blobSuffix},
}

// maxKeyFile is more than any of them has.
const maxKeyFile = 1 << 20

// copyKeys makes the copies equal to what has just opened the store.
func copyKeys(home fsx.Dir) error {
	if err := home.Mkdir(keysDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("copy the keys of the store: %w", err)
	}
	wrote := false
	for _, k := range keyFiles {
		now, err := readKeyFile(home, k.dir, k.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("copy the keys of the store: %w", err)
		}
		if was, ok := readKeyCopy(home, k.name); ok && bytes.Equal(was, now) {
			continue
		}
		if err := writeKeyCopy(home, k.name, now); err != nil {
			return fmt.Errorf("copy the keys of the store: %w", err)
		}
		wrote = true
	}
	if !wrote {
		return nil
	}
	return home.Sync()
}

// keysAreCopied reports whether all keys are as their copies. A key without a copy is.
func keysAreCopied(home fsx.Dir) bool {
	for _, k := range keyFiles {
		kept, ok := readKeyCopy(home, k.name)
		if now, err := readKeyFile(home, k.dir, k.name); ok && (err != nil || !bytes.Equal(now, kept)) {
			return false
		}
	}
	return true
}

// restoreKeys puts back what differs from its copy, keeps what was there, and returns the names
// of what it put back.
func restoreKeys(home fsx.Dir, stamp string) ([]string, error) {
	var out []string
	for _, k := range keyFiles {
		kept, ok := readKeyCopy(home, k.name)
		if !ok {
			continue
		}
		now, err := readKeyFile(home, k.dir, k.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("put back %s: %w", k.name, err)
		}
		if err == nil && bytes.Equal(now, kept) {
			continue
		}
		if err == nil {
			err = setAside(home, k.dir, k.name, stamp)
		} else {
			err = nil
		}
		if err == nil {
			err = replaceInDir(home, k.dir, k.name, kept)
		}
		if err != nil {
			return out, fmt.Errorf("put back %s: %w", k.name, err)
		}
		out = append(out, k.name)
	}
	return out, nil
}

// readKeyCopy reads a copy, and reports whether it is whole.
func readKeyCopy(home fsx.Dir, name string) ([]byte, bool) {
	d, done, err := openBelow(home, keysDir)
	if err != nil {
		return nil, false
	}
	defer done()
	return mirror.ReadCopy(d, name)
}

func writeKeyCopy(home fsx.Dir, name string, data []byte) error {
	d, done, err := openBelow(home, keysDir)
	if err != nil {
		return err
	}
	defer done()
	return mirror.WriteCopy(d, name, data)
}

func readKeyFile(home fsx.Dir, dir, name string) ([]byte, error) {
	d, done, err := openBelow(home, dir)
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := d.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(f, maxKeyFile))
}

// replaceInDir writes a file in a directory of the store so that a cut leaves the old or the new
// one.
func replaceInDir(home fsx.Dir, dir, name string, data []byte) error {
	d, done, err := openBelow(home, dir)
	if err != nil {
		return err
	}
	defer done()
	return fsx.ReplaceIn(d, name, data)
}

// setAside moves a damaged file to where nothing is deleted.
func setAside(home fsx.Dir, dir, name, stamp string) error {
	if err := home.Mkdir(mirror.DamagedDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	to, err := home.OpenDir(mirror.DamagedDir)
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // a directory handle
	from, done, err := openBelow(home, dir)
	if err != nil {
		return err
	}
	defer done()
	if err := from.Rename(name, to, name+"."+stamp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(to.Sync(), from.Sync())
}

// syncBlob makes a blob durable that another process wrote.
func syncBlob(home fsx.Dir, id blob.ID) error {
	d, done, err := openBelow(home, blobsDir)
	if err != nil {
		return err
	}
	defer done()
	f, err := d.OpenFile(string(id) + blobSuffix)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// openBelow opens a directory of the store, or the store's own.
func openBelow(home fsx.Dir, dir string) (d fsx.Dir, done func(), err error) {
	if dir == "" {
		return home, func() {}, nil
	}
	if d, err = home.OpenDir(dir); err != nil {
		return nil, nil, err
	}
	return d, func() { _ = d.Close() }, nil // a directory handle
}
