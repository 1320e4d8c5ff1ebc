package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// group is all changes of one kind, folded into lines.
type group struct {
	what    retake.Difference
	changes []retake.Change
	lines   []folded
	files   int64 // without directories
}

// order of the groups: what is lost comes first.
var groupOrder = []retake.Difference{retake.Deleted, retake.Added, retake.Retyped, retake.Edited, retake.Moded, retake.Timed}

var groupWords = map[retake.Difference]string{
	retake.Deleted: "deleted", retake.Added: "added", retake.Retyped: "retyped",
	retake.Edited: "edited", retake.Moded: "mode", retake.Timed: "time only",
}

func groups(changes []retake.Change) []group {
	by := map[retake.Difference][]retake.Change{}
	for _, c := range changes {
		by[c.What] = append(by[c.What], c)
	}
	var out []group
	for _, what := range groupOrder {
		if len(by[what]) == 0 {
			continue
		}
		g := group{what: what, changes: by[what], lines: fold(by[what])}
		for i := range g.changes {
			if !isDir(&g.changes[i]) {
				g.files++
			}
		}
		out = append(out, g)
	}
	return out
}

func (g group) count() string {
	if g.files > 0 {
		return files(g.files)
	}
	return number(int64(len(g.changes)), "directory", "directories")
}

func (l look) groupWord(what retake.Difference, word string) string {
	switch what {
	case retake.Deleted:
		return l.red(word)
	case retake.Added:
		return l.green(word)
	case retake.Timed:
		return l.dim(word)
	default:
		return l.bold(word)
	}
}

// total counts files whose bytes, kind or mode changed; times alone do not count.
func total(gs []group) int64 {
	var n int64
	for _, g := range gs {
		if g.what != retake.Timed {
			n += g.files
		}
	}
	return n
}

// remark is what can be told about one line.
func (l look) remark(what retake.Difference, line folded, counts map[string]lineCount) string {
	c := line.change
	if c == nil {
		return l.dim(l.sum(line))
	}
	if n, ok := counts[c.Path]; ok {
		return l.linesOf(n)
	}
	switch {
	case what == retake.Retyped:
		return l.dim(fmt.Sprintf("%s %s %s", c.Before.Kind, l.g.Arrow, c.After.Kind))
	case what == retake.Moded:
		return l.dim(l.modes(c))
	case isDir(c):
		return ""
	case isLink(c):
		return l.dim("link")
	case what == retake.Edited:
		return l.dim(fmt.Sprintf("%s %s %s", screen.Bytes(c.Before.Size), l.g.Arrow, screen.Bytes(c.After.Size)))
	}
	return l.dim(screen.Bytes(max(line.bytes, -line.bytes)))
}

func (l look) linesOf(n lineCount) string {
	var parts []string
	if n.plus > 0 {
		parts = append(parts, l.green("+"+screen.Count(n.plus)))
	}
	if n.minus > 0 {
		parts = append(parts, l.red(l.g.Minus+screen.Count(n.minus)))
	}
	return strings.Join(parts, " ")
}

// sum tells what a folded directory stands for.
func (l look) sum(line folded) string {
	var parts []string
	if line.files > 0 {
		parts = append(parts, files(line.files))
	} else {
		parts = append(parts, number(line.dirs, "directory", "directories"))
	}
	if line.bytes != 0 {
		parts = append(parts, screen.Bytes(max(line.bytes, -line.bytes)))
	}
	return strings.Join(parts, ", ")
}

// modes tells which of mode, owner and attributes changed.
func (l look) modes(c *retake.Change) string {
	var parts []string
	if c.Before.Mode != c.After.Mode {
		parts = append(parts, fmt.Sprintf("%04o %s %04o", c.Before.Mode, l.g.Arrow, c.After.Mode))
	}
	if c.Before.UID != c.After.UID || c.Before.GID != c.After.GID {
		parts = append(parts, fmt.Sprintf("owner %d:%d %s %d:%d", c.Before.UID, c.Before.GID, l.g.Arrow, c.After.UID, c.After.GID))
	}
	if len(parts) == 0 {
		parts = append(parts, "attributes, links or holes")
	}
	return strings.Join(parts, ", ")
}
