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
	linkText string               // of a symbolic link
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

// linkChecker follows the links of an archive as the kernel would once all of it is extracted.
type linkChecker struct {
	root      *treeNode
	stepsLeft int64 // left
}

// maxHops is where the kernel gives up; such a link leads nowhere.
const maxHops = 40

// checkDir checks every link below a directory; stack is the path to it.
func (c *linkChecker) checkDir(stack []*treeNode, path string) error {
	for name, kid := range stack[len(stack)-1].children {
		at := strings.TrimPrefix(path+"/"+name, "/")
		var err error
		switch kid.typ {
		case fsx.Symlink:
			err = c.followLink(stack, at, kid.linkText)
		case fsx.Directory:
			err = c.checkDir(append(stack, kid), at)
		default:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// followLink follows the text of a link. A missing name counts as a directory, because it may
// become one.
func (c *linkChecker) followLink(stack []*treeNode, at, text string) error {
	way := append([]*treeNode{}, stack...)
	todo := []string{text}
	hops := 0
	for len(todo) > 0 {
		last := len(todo) - 1
		part, rest, more := strings.Cut(todo[last], "/")
		if todo[last] = rest; !more {
			todo = todo[:last]
		}
		if c.stepsLeft--; c.stepsLeft < 0 {
			return invalidArchive("its links are tangled")
		}
		switch part {
		case "", ".":
			continue
		case "..":
			if len(way) == 1 {
				return invalidArchive("the link %q leads out, by %q", at, text)
			}
			way = way[:len(way)-1]
			continue
		}
		kid := way[len(way)-1].children[part]
		switch {
		case kid == nil:
			way = append(way, &treeNode{})
		case kid.typ == fsx.Symlink:
			if hops++; hops > maxHops {
				return nil
			}
			todo = append(todo, kid.linkText)
		default:
			way = append(way, kid)
		}
	}
	return nil
}
