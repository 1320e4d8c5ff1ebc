//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
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
	to := c.r.scratch("restored") + "/at"
	if _, err := c.stock.do("restore", from, to); err != nil {
		return nil, err
	}
	defer os.RemoveAll(to) //nolint:errcheck // scratch
	live, err := scan(root)
	if err != nil {
		return nil, err
	}
	back, err := scan(to)
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
func restoredDiffs(live, back map[string]living, lost map[string]int) []string {
	var out []string
	for path, l := range live {
		b, ok := back[path]
		switch {
		case !utf8.ValidString(path):
			lost["names that are not UTF-8"]++
		case l.kind == retake.KindFIFO || l.kind == retake.KindSocket:
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
func shared(tree map[string]living) int {
	n, seen := 0, map[[2]uint64]bool{}
	for _, l := range tree {
		if l.kind == retake.KindFile && seen[l.inode] {
			n++
		}
		seen[l.inode] = true
	}
	return n
}

func restoredEntry(path string, l, b *living, lost map[string]int) []string {
	var out []string
	if l.kind != b.kind || l.kind != retake.KindDir && l.sum != b.sum {
		out = append(out, fmt.Sprintf("%.100q has other bytes", path))
	}
	if path == "" { // the target's own attributes are the caller's
		return out
	}
	if l.mode != b.mode {
		if l.mode&0o777 == b.mode&0o777 {
			lost["setuid, setgid, sticky"]++
		} else {
			out = append(out, fmt.Sprintf("%.100q has mode %o instead of %o", path, b.mode, l.mode))
		}
	}
	if l.uid != b.uid || l.gid != b.gid {
		out = append(out, fmt.Sprintf("%.100q has owner %d:%d instead of %d:%d", path, b.uid, b.gid, l.uid, l.gid))
	}
	if l.mtime != b.mtime {
		lost["times of "+string(l.kind)+" entries"]++
	}
	if len(l.xattrs) > len(b.xattrs) {
		lost["attributes"]++
	}
	if !slices.Equal(l.holes, b.holes) {
		lost["holes"]++
	}
	return out
}
