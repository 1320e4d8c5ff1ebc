package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// ChangeGroup is all changes of one kind, folded into lines.
type ChangeGroup struct {
	What    retake.Difference
	Changes []retake.Change
	lines   []foldedLine
	files   int64 // without directories
}

// order of the groups: what is lost comes first.
var groupOrder = []retake.Difference{retake.Deleted, retake.Added, retake.Retyped, retake.Edited, retake.Moded, retake.Timed}

var groupWords = map[retake.Difference]string{
	retake.Deleted: "deleted", retake.Added: "added", retake.Retyped: "retyped",
	retake.Edited: "edited", retake.Moded: "mode", retake.Timed: "time only",
}

// GroupChanges parts changes by their kind, what is lost first.
func GroupChanges(changes []retake.Change) []ChangeGroup {
	by := map[retake.Difference][]retake.Change{}
	for _, c := range changes {
		by[c.What] = append(by[c.What], c)
	}
	var out []ChangeGroup
	for _, what := range groupOrder {
		if len(by[what]) == 0 {
			continue
		}
		g := ChangeGroup{What: what, Changes: by[what], lines: foldChanges(by[what])}
		for i := range g.Changes {
			if !g.Changes[i].IsDir() {
				g.files++
			}
		}
		out = append(out, g)
	}
	return out
}

func (g ChangeGroup) countText() string {
	if g.files > 0 {
		return CountFiles(g.files)
	}
	return CountNoun(int64(len(g.Changes)), "directory", "directories")
}

func groupTitle(l Style, what retake.Difference, word string) string {
	switch what {
	case retake.Deleted:
		return l.Red(word)
	case retake.Added:
		return l.Green(word)
	case retake.Timed:
		return l.Dim(word)
	default:
		return l.Bold(word)
	}
}

// countChangedFiles counts files whose bytes, kind or mode changed; times alone do not count.
func countChangedFiles(gs []ChangeGroup) int64 {
	var n int64
	for _, g := range gs {
		if g.What != retake.Timed {
			n += g.files
		}
	}
	return n
}

// changeRemark is what can be told about one line.
func changeRemark(l Style, what retake.Difference, line foldedLine, counts map[string]LineCount) string {
	c := line.change
	if c == nil {
		return l.Dim(foldedSum(l, line))
	}
	if n, ok := counts[c.Path]; ok {
		return lineCountText(l, n)
	}
	both := c.Before != nil && c.After != nil
	switch {
	case what == retake.Retyped && both:
		return l.Dim(fmt.Sprintf("%s %s %s", termtext.Escape(string(c.Before.Kind)), l.Glyphs.Arrow, termtext.Escape(string(c.After.Kind))))
	case what == retake.Moded && both:
		return l.Dim(asciiSigns(l, view.ModeChangeText(c.Before, c.After)))
	case what == retake.Timed:
		return l.Dim("only its time")
	case c.IsDir():
		return ""
	case isLink(c):
		return l.Dim("link")
	case what == retake.Edited && both:
		return l.Dim(fmt.Sprintf("%s %s %s", termtext.Bytes(c.Before.Size), l.Glyphs.Arrow, termtext.Bytes(c.After.Size)))
	}
	return l.Dim(termtext.Bytes(max(line.bytes, -line.bytes)))
}

func lineCountText(l Style, n LineCount) string {
	var parts []string
	if n.Plus > 0 {
		parts = append(parts, l.Green("+"+termtext.Count(n.Plus)))
	}
	if n.Minus > 0 {
		parts = append(parts, l.Red(l.Glyphs.Minus+termtext.Count(n.Minus)))
	}
	return strings.Join(parts, " ")
}

// foldedSum returns what a folded directory stands for.
func foldedSum(l Style, line foldedLine) string {
	var parts []string
	if line.files > 0 {
		parts = append(parts, CountFiles(line.files))
	} else {
		parts = append(parts, CountNoun(line.dirs, "directory", "directories"))
	}
	if line.bytes != 0 {
		parts = append(parts, termtext.Bytes(max(line.bytes, -line.bytes)))
	}
	return strings.Join(parts, ", ")
}
