package install

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Change is what an install or a removal would do. After is nil if the file is removed, or
// did not exist and is not created.
type Change struct {
	Agent   string
	Scope   Scope
	File    string // or the directory of the files
	Before  []byte
	After   []byte
	Existed bool
	Added   int // hooks that come
	Removed int // hooks that go
	Notes   []string

	baseDir string
	mode    fs.FileMode // of a new file
	files   []Change    // one for each file, when there are several
}

// Empty reports whether there is nothing to do.
func (c Change) Empty() bool {
	if c.files != nil {
		return !slices.ContainsFunc(c.files, func(m Change) bool { return !m.Empty() })
	}
	return c.Existed == (c.After != nil) && bytes.Equal(c.Before, c.After)
}

// Lines returns the added and removed lines, with + and - before them. If there are several
// files, each is preceded by its path.
func (c Change) Lines() []string {
	if c.files == nil {
		return diffLines(splitLines(c.Before), splitLines(c.After))
	}
	var out []string
	for _, m := range c.files {
		if !m.Empty() {
			out = append(append(out, m.File), m.Lines()...)
		}
	}
	return out
}

func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// diffLines returns the shortest list of removed and added lines, by Myers' algorithm. Its
// cost grows with the difference, not with the size.
func diffLines(a, b []string) []string {
	trail, at := []map[int]int{}, map[int]int{1: 0}
	for n := 0; ; n++ {
		trail = append(trail, maps.Clone(at))
		for k := -n; k <= n; k += 2 {
			x := at[k-1] + 1
			if k == -n || k != n && at[k-1] < at[k+1] {
				x = at[k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			at[k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(a, b, trail)
			}
		}
	}
}

// backtrack collects the edits from the end of both texts to their beginning.
func backtrack(a, b []string, trail []map[int]int) []string {
	x, y := len(a), len(b)
	var out []string
	for n := len(trail) - 1; n > 0; n-- {
		at, k := trail[n], x-y
		down := k == -n || k != n && at[k-1] < at[k+1]
		from := k - 1
		if down {
			from = k + 1
		}
		px := at[from]
		py := px - from
		if down {
			out = append(out, "+"+b[py])
		} else {
			out = append(out, "-"+a[px])
		}
		x, y = px, py
	}
	slices.Reverse(out)
	return out
}
