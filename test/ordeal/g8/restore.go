//go:build linux

package g8

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// restore lets the program bring back the newest checkpoint of a line and tells
// how it differs from the live tree.
func (c *compat) restore(line string, ws retake.WorkspaceID, root string) ([]string, error) {
	from := fmt.Sprintf("%s/0/0/%d/files", line, c.number[ws])
	out, err := c.stock.do("ls", "-l", from)
	if err != nil {
		return nil, err
	}
	top, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	if len(top) > 0 && len(out) == 0 {
		return []string{"ls shows nothing"}, nil
	}
	to := c.r.Scratch("restored") + "/at"
	if _, err := c.stock.do("restore", from, to); err != nil {
		return nil, err
	}
	defer os.RemoveAll(to) //nolint:errcheck // scratch
	live, err := treebed.Scan(root)
	if err != nil {
		return nil, err
	}
	back, err := treebed.Scan(to)
	if err != nil {
		return nil, err
	}
	lost := map[string]int{}
	diffs := restoredDiffs(live, back, lost)
	for class, n := range lost {
		seen, _ := c.v.Detail["stock restore loses: "+class].(int)
		c.v.Detail["stock restore loses: "+class] = seen + n
	}
	return diffs, nil
}

// restoredDiffs compares by path. What the stock restore never brings back is
// counted by class instead.
func restoredDiffs(live, back map[string]treebed.Living, lost map[string]int) []string {
	var out []string
	for path, l := range live {
		b, ok := back[path]
		switch {
		case !utf8.ValidString(path):
			lost["names that are not UTF-8"]++
		case l.Kind == retake.KindFIFO || l.Kind == retake.KindSocket:
			lost["FIFOs and sockets"]++
		case !ok:
			out = append(out, fmt.Sprintf("%.100q is missing", path))
		default:
			out = append(out, restoredEntry(path, &l, &b, lost)...)
		}
	}
	if n := shared(live) - shared(back); n > 0 {
		lost["hard links"] += n
	}
	for path := range back {
		if _, ok := live[path]; !ok && !strings.Contains(path, "~") {
			out = append(out, fmt.Sprintf("%.100q is new", path))
		}
	}
	return out
}

// shared counts the names beyond the first of each file.
func shared(tree map[string]treebed.Living) int {
	n, seen := 0, map[[2]uint64]bool{}
	for _, l := range tree {
		if l.Kind == retake.KindFile && seen[l.Inode] {
			n++
		}
		seen[l.Inode] = true
	}
	return n
}

func restoredEntry(path string, l, b *treebed.Living, lost map[string]int) []string {
	var out []string
	if l.Kind != b.Kind || l.Kind != retake.KindDir && l.Sum != b.Sum {
		out = append(out, fmt.Sprintf("%.100q has other bytes", path))
	}
	if path == "" { // the target's own attributes are the caller's
		return out
	}
	if l.Mode != b.Mode {
		if l.Mode&0o777 == b.Mode&0o777 {
			lost["setuid, setgid, sticky"]++
		} else {
			out = append(out, fmt.Sprintf("%.100q has mode %o instead of %o", path, b.Mode, l.Mode))
		}
	}
	if l.Uid != b.Uid || l.Gid != b.Gid {
		out = append(out, fmt.Sprintf("%.100q has owner %d:%d instead of %d:%d", path, b.Uid, b.Gid, l.Uid, l.Gid))
	}
	if l.Mtime != b.Mtime {
		lost["times of "+string(l.Kind)+" entries"]++
	}
	if len(l.Xattrs) > len(b.Xattrs) {
		lost["attributes"]++
	}
	if !slices.Equal(l.Holes, b.Holes) {
		lost["holes"]++
	}
	return out
}
