//go:build unix

package restore_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// fullElsewhere has the store on a disk of its own, and no room on that of the workspace.
type fullElsewhere struct {
	fsx.FS
	home string
}

func (s *fullElsewhere) OpenRoot(path string) (fsx.Dir, error) {
	d, err := s.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(path, s.home) {
		return farDir{d}, nil
	}
	return fullDir{d, path}, nil
}

type farDir struct{ fsx.Dir }

func (d farDir) Stat() (fsx.Info, error) {
	i, err := d.Dir.Stat()
	i.Dev++
	return i, err
}

func (d farDir) OpenDir(name string) (fsx.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	return farDir{sub}, err
}

func (d farDir) RenameNoReplace(name string, to fsx.Dir, other string) error {
	if far, ok := to.(farDir); ok {
		to = far.Dir
	}
	return d.Dir.RenameNoReplace(name, to, other)
}

type fullDir struct {
	fsx.Dir
	path string
}

func (d fullDir) Mkdir(name string, _ fs.FileMode) error {
	return fmt.Errorf("make %s/%s: %w", d.path, name, fsx.ErrNoSpace)
}

// Whoever is told to make room must be told where.
func TestWithoutRoomTheDiskIsNamed(t *testing.T) {
	seam := &fullElsewhere{FS: fsx.OS(), home: "/nowhere"}
	r := startServiceTest(t, seam, "a", "1")
	seam.home = r.home
	r.recordTurn("a", "22")
	_, err := r.applyPlan(r.s, to("1"))
	e := retake.AsError(err)
	if e.Kind != retake.Limit || !strings.Contains(e.What, r.root) || strings.Contains(e.Hint, "space --free") {
		t.Errorf("%v: %q, %q", err, e.What, e.Hint)
	}
	r.wantFiles("a", "22")
}
