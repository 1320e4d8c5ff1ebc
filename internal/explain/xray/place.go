package xray

import (
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// fileLocation is the location of a file, split once for all readers.
type fileLocation struct {
	path  string
	dir   string
	name  string
	ext   string
	class pathclass.Class
	entry retake.Entry
}

func newFileLocation(full string, e retake.Entry) fileLocation {
	dir, name := path.Split(full)
	dir = strings.TrimSuffix(dir, "/")
	p := fileLocation{path: full, dir: dir, name: name, ext: strings.ToLower(path.Ext(name)), class: pathclass.Of(full), entry: e}
	return p
}

// hasSuffix reports whether the path is tail, possibly below other directories.
func (p fileLocation) hasSuffix(tail string) bool {
	return p.path == tail || strings.HasSuffix(p.path, "/"+tail)
}

// inDir reports whether the file is directly in dir, possibly below other directories.
func (p fileLocation) inDir(dir string) bool {
	return p.dir == dir || strings.HasSuffix(p.dir, "/"+dir)
}

// hasParent reports whether one of the parent directories has one of the names.
func (p fileLocation) hasParent(names ...string) bool {
	for part := range strings.SplitSeq(p.dir, "/") {
		if slices.Contains(names, part) {
			return true
		}
	}
	return false
}

// isWorkspaceFile reports whether people of this workspace may have written the file.
func (p fileLocation) isWorkspaceFile() bool {
	switch p.class {
	case pathclass.Dependency, pathclass.Build, pathclass.Cache, pathclass.Git:
		return false
	default:
		return true
	}
}

// isProjectLock reports whether a lock file may belong to this workspace, and not to a
// dependency or to test data.
func (p fileLocation) isProjectLock() bool {
	return p.isWorkspaceFile() && !p.hasParent("testdata", "fixtures", "__fixtures__", "test-fixtures")
}

func lockFileNamed(names ...string) func(fileLocation) bool {
	return func(p fileLocation) bool { return slices.Contains(names, p.name) && p.isProjectLock() }
}
