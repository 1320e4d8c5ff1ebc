//go:build unix

package restore_test

import (
	"errors"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// noSwap is a file system that cannot exchange two names, as some cannot.
type noSwap struct{ fsx.FS }

func (s noSwap) OpenRoot(path string) (fsx.Dir, error) { return plainDir(s.FS.OpenRoot(path)) }

type noSwapDir struct{ fsx.Dir }

func plainDir(d fsx.Dir, err error) (fsx.Dir, error) {
	if err != nil {
		return nil, err
	}
	return noSwapDir{d}, nil
}

func below(d fsx.Dir) fsx.Dir {
	if n, ok := d.(noSwapDir); ok {
		return n.Dir
	}
	return d
}

func (d noSwapDir) OpenDir(name string) (fsx.Dir, error) { return plainDir(d.Dir.OpenDir(name)) }

func (d noSwapDir) Exchange(string, fsx.Dir, string) error { return errors.ErrUnsupported }

func (d noSwapDir) RenameNoReplace(name string, to fsx.Dir, other string) error {
	return d.Dir.RenameNoReplace(name, below(to), other)
}

func (d noSwapDir) Rename(name string, to fsx.Dir, other string) error {
	return d.Dir.Rename(name, below(to), other)
}

func (d noSwapDir) Link(name string, to fsx.Dir, other string) error {
	return d.Dir.Link(name, below(to), other)
}
