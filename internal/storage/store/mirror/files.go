package mirror

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// DamagedDir is the directory of a store that holds files which were found damaged and replaced.
// Nobody removes them.
const DamagedDir = "damaged"

// pair is the directory of the files and that of their copies.
type pair struct{ files, copies fsx.Dir }

// open opens both directories; create makes that of the copies. Without it the error is
// fs.ErrNotExist.
func (m *Mirror) open(create bool) (*pair, error) {
	if create {
		err := m.home.Mkdir(copiesDir, 0o700)
		if err == nil {
			err = m.home.Sync()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	copies, err := m.home.OpenDir(copiesDir)
	if err != nil {
		return nil, err
	}
	files, err := m.home.OpenDir(m.files)
	if err != nil {
		return nil, errors.Join(err, copies.Close())
	}
	return &pair{files, copies}, nil
}

func (p *pair) close() { _, _ = p.files.Close(), p.copies.Close() } // directory handles

// names lists the wanted files and copies.
func (p *pair) names(wanted func(string) bool) (files, copies map[string]bool, err error) {
	inFiles, err1 := p.files.Names()
	inCopies, err2 := p.copies.Names()
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	files, copies = map[string]bool{}, map[string]bool{}
	for _, n := range inFiles {
		if wanted(n) {
			files[n] = true
		}
	}
	for _, n := range inCopies {
		if wanted(n) {
			copies[n] = true
		}
	}
	return files, copies, nil
}

// removeTemps removes what interrupted copies left.
func (p *pair) removeTemps() error {
	names, err := p.copies.Names()
	for _, n := range names {
		if err == nil && strings.Contains(n, fsx.TempMark) {
			err = p.copies.Remove(n)
		}
	}
	return err
}

func (p *pair) isIntact() bool {
	_, err := p.copies.Lstat(intactFile)
	return err == nil
}

// sameSize reports whether a file is as long as the bytes in its copy.
func (p *pair) sameSize(name string) (bool, error) {
	f, err := p.files.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c, err := p.copies.Lstat(name)
	return f.Size == c.Size-sha256.Size, err
}

// withSum puts a checksum before the bytes of a file. It covers the name too, so that a copy that
// has come to another name is not used.
func withSum(name string, data []byte) []byte { return append(sumOf(name, data), data...) }

func sumOf(name string, data []byte) []byte {
	h := sha256.New()
	_, _ = h.Write(append([]byte(name), 0)) // never fails
	_, _ = h.Write(data)
	return h.Sum(nil)
}

// ReadCopy reads a copy, and reports whether it is whole.
func ReadCopy(dir fsx.Dir, name string) ([]byte, bool) {
	b, err := readFile(dir, name)
	if err != nil || len(b) < sha256.Size {
		return nil, false
	}
	return b[sha256.Size:], bytes.Equal(sumOf(name, b[sha256.Size:]), b[:sha256.Size])
}

// WriteCopy writes a copy durably.
func WriteCopy(dir fsx.Dir, name string, data []byte) error {
	return fsx.ReplaceIn(dir, name, withSum(name, data))
}

func readFile(dir fsx.Dir, name string) ([]byte, error) {
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(f)
}

// keepDamaged writes the bytes of a damaged file to where nothing is removed.
func keepDamaged(home fsx.Dir, name string, data []byte) error {
	if err := home.Mkdir(DamagedDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := home.OpenDir(DamagedDir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return fsx.ReplaceIn(dir, name, data)
}
