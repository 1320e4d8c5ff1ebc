package archive

import (
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// treeNode is a name that was created. The names of a directory are stored once each, so that
// long paths cost only their own names.
type treeNode struct {
	typ      fsx.Type
	children map[string]*treeNode // of a directory
	explicit bool                 // the archive named it; other directories were made on the way
	mode     uint32               // of a directory, and what follows
	mtime    int64
	xattrs   map[string][]byte
}

func newDirNode() *treeNode {
	return &treeNode{typ: fsx.Directory, children: map[string]*treeNode{}, mode: 0o755}
}

// splitPath splits a path of the archive into names. It refuses paths that are absolute, too
// long or too deep, or contain ".." or invalid names. Empty and "." names are dropped.
func (l Limits) splitPath(path string) ([]string, error) {
	if len(path) > l.Name {
		return nil, invalidArchive("the name %.80q… has %d bytes", path, len(path))
	}
	if strings.HasPrefix(path, "/") {
		return nil, invalidArchive("%q begins at the root of the machine", path)
	}
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			return nil, invalidArchive("%q leads out", path)
		case fsx.CheckName(part) != nil || len(part) > maxNameLen:
			return nil, invalidArchive("%q holds what is no name", path)
		}
		out = append(out, part)
	}
	if len(out) > l.Depth {
		return nil, invalidArchive("%.80q… lies %d deep", path, len(out))
	}
	return out, nil
}

const maxNameLen = 255

// find returns the node at a path without following links, or nil.
func (n *treeNode) find(names []string) *treeNode {
	for _, name := range names {
		if n = n.children[name]; n == nil {
			return nil
		}
	}
	return n
}

// leadsOut reports whether a link in a directory of this depth leads out of the archive's own tree, by
// its text alone. Links are only counted: nothing here follows one.
func leadsOut(depth int, text string) bool {
	if strings.HasPrefix(text, "/") {
		return true
	}
	for part := range strings.SplitSeq(text, "/") {
		switch part {
		case "", ".":
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return true
		}
	}
	return false
}
