package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// statNotes are what a story knows of paths, for a list of changes.
type statNotes struct {
	Style
	story retake.Story
	notes map[string]string
	homes map[string]int // directories of packages in a list, by their manager
}

// NewStatNotes reads a story; without one there is nothing to note.
func NewStatNotes(l Style, st *retake.Story) *statNotes {
	if st == nil {
		return nil
	}
	n := &statNotes{Style: l, story: *st, notes: map[string]string{}}
	b := newStoryWriter(l, *st, "")
	var paths []string
	by := map[string][]retake.Fact{}
	for _, f := range st.Facts {
		switch f.Kind {
		case retake.FactEnv, retake.FactSetting, retake.FactTable, retake.FactIndex, retake.FactRows, retake.FactUnit, retake.FactCron:
			if by[f.Path] == nil {
				paths = append(paths, f.Path)
			}
			by[f.Path] = append(by[f.Path], f)
		default:
		}
	}
	for _, p := range paths {
		n.notes[p] = b.factsNote(by[p])
	}
	return n
}

// maxBriefFacts is how many facts a note names.
const maxBriefFacts = 3

// factsNote names the facts of one path.
func (b *storyWriter) factsNote(facts []retake.Fact) string {
	all := commonDifference(facts)
	rows := map[string]retake.Fact{}
	var names []string
	for _, f := range facts {
		if f.Kind == retake.FactRows {
			rows[f.Name] = f
		}
	}
	for _, f := range facts {
		name := b.settingName(f)
		switch f.Kind {
		case retake.FactTable, retake.FactIndex:
			name = b.tableText(f)
			if r, ok := rows[f.Name]; ok && f.Kind == retake.FactTable {
				name += ", " + b.rowsText(r)
				delete(rows, f.Name)
			}
		case retake.FactRows:
			if _, own := rows[f.Name]; !own {
				continue
			}
			name = b.EscapeText(f.Name) + " " + b.rowsText(f)
		default:
		}
		names = append(names, b.markedName(f.What, all, name))
	}
	text := strings.Join(names[:min(len(names), maxBriefFacts)], b.Separator())
	if more := len(names) - maxBriefFacts; more > 0 {
		text += fmt.Sprintf(" and %s more", termtext.Count(int64(more)))
	}
	return text
}

// isLockFile reports whether a path is a lock file, which nobody reads.
func (n *statNotes) isLockFile(path string) bool {
	if n == nil {
		return false
	}
	it, _ := n.storyItem(path)
	return it != nil && it.Path == path && isLockItem(*it)
}

// isLockItem reports whether a story notes that an item is a lock file.
func isLockItem(it retake.Item) bool {
	return slices.Contains(strings.Split(it.Note, ", "), lockFileNote)
}

// lockFileNote is how a story notes one.
const lockFileNote = "lock file"

// storyItem is what the story says of a path, or of the directory that stands for it.
func (n *statNotes) storyItem(path string) (*retake.Item, retake.Theme) {
	for _, g := range n.story.Groups {
		for i, it := range g.Items {
			if it.Path == path || strings.HasSuffix(it.Path, "/") && strings.HasPrefix(path, it.Path) ||
				strings.HasSuffix(path, "/") && strings.HasPrefix(it.Path, path) {
				return &g.Items[i], g.Theme
			}
		}
	}
	return nil, ""
}

// noteFor is the note beside one line of a list.
func (n *statNotes) noteFor(what retake.Difference, line foldedLine) string {
	if n == nil {
		return ""
	}
	if note := n.notes[line.path]; note != "" {
		return note
	}
	it, about := n.storyItem(line.path)
	if line.change == nil && isGenerated(line.path) {
		about = pathclass.Of(line.path).Theme()
		it = cmp.Or(it, &retake.Item{})
	}
	switch {
	case it == nil:
		return ""
	case it.Path == line.path && isLockItem(*it):
		return lockFileNote + ", not in the sum"
	case line.change != nil:
		return ""
	case about == retake.ThemePackages:
		return n.packageCountNote(what, line.path)
	case about == retake.ThemeBuild:
		return "build output"
	case it.Note != "" && strings.HasPrefix(line.path, it.Path):
		return n.EscapeText(it.Note)
	case about == retake.ThemeMoving:
		return "always moving"
	}
	return ""
}

// sortLines puts the lines with most to read first, and keeps the rest as it is.
func (n *statNotes) sortLines(lines []foldedLine, counts map[string]LineCount) []foldedLine {
	if n == nil {
		return lines
	}
	size := func(f foldedLine) int64 {
		if f.change == nil || n.notes[f.path] != "" || n.isLockFile(f.path) {
			return 0
		}
		c := counts[f.change.Path]
		return c.Plus + c.Minus
	}
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(a, b foldedLine) int { return cmp.Compare(size(b), size(a)) })
	return out
}

// scanLines looks at a list before its lines are told.
func (n *statNotes) scanLines(lines []foldedLine) {
	if n == nil {
		return
	}
	n.homes = map[string]int{}
	for _, line := range lines {
		if line.change == nil && pathclass.Of(line.path).Theme() == retake.ThemePackages {
			n.homes[pathclass.Manager(line.path)]++
		}
	}
}

// packageCountNote counts those that came or went in a directory. With two directories of one
// manager nobody knows whose they are.
func (n *statNotes) packageCountNote(what retake.Difference, path string) string {
	manager, count := pathclass.Manager(path), int64(0)
	for _, f := range n.story.Facts {
		if themeOf(f) == retake.ThemePackages && f.What == what && f.Group == manager {
			count++
		}
	}
	if count == 0 || n.homes[manager] != 1 {
		return "packages"
	}
	return CountNoun(count, manager+" package", manager+" packages")
}
