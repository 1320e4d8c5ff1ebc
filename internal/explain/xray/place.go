package xray

import (
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// place is where a file lies, taken apart once for all readers.
type place struct {
	path  string
	dir   string
	name  string
	ext   string
	class pathclass.Class
	entry retake.Entry
}

func placeOf(full string, e retake.Entry) place {
	dir, name := path.Split(full)
	dir = strings.TrimSuffix(dir, "/")
	p := place{path: full, dir: dir, name: name, ext: strings.ToLower(path.Ext(name)), class: pathclass.Of(full), entry: e}
	return p
}

// ends reports whether the path is that one, below any directory.
func (p place) ends(tail string) bool { return p.path == tail || strings.HasSuffix(p.path, "/"+tail) }

// in reports whether the file lies directly in such a directory, below any other.
func (p place) in(dir string) bool { return p.dir == dir || strings.HasSuffix(p.dir, "/"+dir) }

// below reports whether a directory on the way has one of the names.
func (p place) below(names ...string) bool {
	for part := range strings.SplitSeq(p.dir, "/") {
		if slices.Contains(names, part) {
			return true
		}
	}
	return false
}

// ours reports that people of this workspace wrote the file, or might have.
func (p place) ours() bool {
	switch p.class {
	case pathclass.Dependency, pathclass.Build, pathclass.Cache, pathclass.Git:
		return false
	default:
		return true
	}
}

// locking reports that a lock file may stand for this workspace: those of packages and of
// test data stand for nobody.
func (p place) locking() bool {
	return p.ours() && !p.below("testdata", "fixtures", "__fixtures__", "test-fixtures")
}

func named(names ...string) func(place) bool {
	return func(p place) bool { return slices.Contains(names, p.name) && p.locking() }
}
