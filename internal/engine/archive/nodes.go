package archive

import (
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// node is one name that was made. Names of one directory are kept once each, so that
// long paths cost what their names do.
type node struct {
	typ    fsx.Type
	kids   map[string]*node // of a directory
	text   string           // of a symbolic link
	told   bool             // the archive named it; other directories were made on the way
	mode   uint32           // of a directory, and what follows
	mtime  int64
	xattrs map[string][]byte
}

func newDir() *node { return &node{typ: fsx.Directory, kids: map[string]*node{}, mode: 0o755} }

// names are the parts of a path of the archive. No part is the directory itself.
func (l Limits) names(path string) ([]string, error) {
	if len(path) > l.Name {
		return nil, refuse("the name %.80q… has %d bytes", path, len(path))
	}
	if strings.HasPrefix(path, "/") {
		return nil, refuse("%q begins at the root of the machine", path)
	}
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			return nil, refuse("%q leads out", path)
		case fsx.CheckName(part) != nil || len(part) > maxPart:
			return nil, refuse("%q holds what is no name", path)
		}
		out = append(out, part)
	}
	if len(out) > l.Depth {
		return nil, refuse("%.80q… lies %d deep", path, len(out))
	}
	return out, nil
}

const maxPart = 255

// find answers the node at a path, without following links.
func (n *node) find(names []string) *node {
	for _, name := range names {
		if n = n.kids[name]; n == nil {
			return nil
		}
	}
	return n
}

// compass follows the links of an archive as the kernel would once all of it is there.
type compass struct {
	root  *node
	steps int64 // left
}

// maxHops is where the kernel gives up; such a link leads nowhere.
const maxHops = 40

// check looks at every link below a directory; stack is the way to it.
func (c *compass) check(stack []*node, path string) error {
	for name, kid := range stack[len(stack)-1].kids {
		at := strings.TrimPrefix(path+"/"+name, "/")
		var err error
		switch kid.typ {
		case fsx.Symlink:
			err = c.follow(stack, at, kid.text)
		case fsx.Directory:
			err = c.check(append(stack, kid), at)
		default:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow walks the text of a link. What is not there counts as a directory: it may
// come to be one.
func (c *compass) follow(stack []*node, at, text string) error {
	way := append([]*node{}, stack...)
	todo := []string{text}
	hops := 0
	for len(todo) > 0 {
		last := len(todo) - 1
		part, rest, more := strings.Cut(todo[last], "/")
		if todo[last] = rest; !more {
			todo = todo[:last]
		}
		if c.steps--; c.steps < 0 {
			return refuse("its links are tangled")
		}
		switch part {
		case "", ".":
			continue
		case "..":
			if len(way) == 1 {
				return refuse("the link %q leads out, by %q", at, text)
			}
			way = way[:len(way)-1]
			continue
		}
		kid := way[len(way)-1].kids[part]
		switch {
		case kid == nil:
			way = append(way, &node{})
		case kid.typ == fsx.Symlink:
			if hops++; hops > maxHops {
				return nil
			}
			todo = append(todo, kid.text)
		default:
			way = append(way, kid)
		}
	}
	return nil
}
