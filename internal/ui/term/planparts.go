package term

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// planSection is one section of a plan. It is drawn into the lines there is room for; what
// does not fit is counted.
type planSection struct {
	word  string
	color string // code of the word and the count; bold alone when empty
	count int64  // 0: no number beside the word
	least int    // lines that it must have
	most  int    // lines that tell everything
	paths int    // of a section of paths: how many, unfolded
	draw  func(l Style, g sectionGrid, n int) []string
}

// sectionGrid are the column widths of a section, after its word and count.
type sectionGrid struct {
	number int // of the counts of its lines; 0: they have none
	width  int // of all
}

const (
	wordColumns = 12
	nameColumns = 16
)

// sectionItem is one line of a section: a path, or a directory with everything below it.
type sectionItem struct {
	count  int64 // of the paths it stands for; 0: not told
	name   string
	remark func(width int) string
}

// stepChange is a step as a change from now to then.
func stepChange(s retake.Step) retake.Change {
	return retake.Change{Path: s.Path, What: s.What, Before: s.Now, After: s.Then}
}

func stepChanges(steps []retake.Step) []retake.Change {
	out := make([]retake.Change, len(steps))
	for i, s := range steps {
		out[i] = stepChange(s)
	}
	return out
}

// stepSection is a section of paths that come, go or change; there is at least one.
func stepSection(word, color string, steps []retake.Step) planSection {
	changes := stepChanges(steps)
	units, means := stepUnits(steps), stepMeanings(steps)
	count := countPaths(steps)
	size := func(f foldedLine) int64 {
		switch {
		case steps[0].What != retake.Added && steps[0].What != retake.Deleted:
			return f.files + f.dirs
		case count.files == 0:
			return f.dirs
		}
		return f.files
	}
	return planSection{
		word: word, color: color, count: count.dominant(), least: 1, most: min(len(steps), maxFoldedLines), paths: len(steps),
		draw: func(l Style, g sectionGrid, n int) []string {
			lines := foldChangesTo(changes, n, false)
			slices.SortStableFunc(lines, func(a, b foldedLine) int { return cmp.Compare(size(b), size(a)) })
			items := make([]sectionItem, len(lines))
			for i, f := range lines {
				items[i] = l.stepItem(f, units, means)
				items[i].count = size(f)
			}
			return l.drawItems(items, g, n)
		},
	}
}

// pathCount counts paths. Directories that come or go count only where there is
// nothing else, because they say nothing that their files do not say.
type pathCount struct{ files, dirs int64 }

func countPaths(steps []retake.Step) pathCount {
	var n pathCount
	for _, s := range steps {
		if c := stepChange(s); c.IsDir() && (s.What == retake.Added || s.What == retake.Deleted) {
			n.dirs++
		} else {
			n.files++
		}
	}
	return n
}

func (n pathCount) dominant() int64 {
	if n.files == 0 {
		return n.dirs
	}
	return n.files
}

// stepMeaning is what one step does to the content of its file.
type stepMeaning struct{ path, text string }

func stepMeanings(steps []retake.Step) []stepMeaning {
	var out []stepMeaning
	for _, s := range steps {
		if s.Means != "" {
			out = append(out, stepMeaning{s.Path, s.Means})
		}
	}
	return out
}

// foldedMeaning is what is known of a line: of its own path, or of the first below it.
func (l Style) foldedMeaning(f foldedLine, means []stepMeaning) string {
	for _, m := range means {
		switch dir := strings.TrimSuffix(f.path, "/") + "/"; {
		case f.change != nil && m.path == f.change.Path:
			return l.EscapeText(m.text)
		case f.change == nil && strings.HasPrefix(m.path, dir):
			return termtext.Escape(strings.TrimPrefix(m.path, dir)) + " " + l.EscapeText(m.text)
		}
	}
	return ""
}

func (l Style) stepItem(f foldedLine, units map[string]string, means []stepMeaning) sectionItem {
	it := sectionItem{name: termtext.Escape(f.path)}
	it.remark = func(width int) string {
		if text := l.foldedMeaning(f, means); text != "" {
			return text
		}
		if f.change == nil {
			return l.childNames(f.below, width)
		}
		if u := units[f.change.Path]; u != "" {
			return u
		}
		if f.files == 0 && f.dirs == 1 && f.change.IsDir() && (f.change.What == retake.Added || f.change.What == retake.Deleted) {
			return "empty directory"
		}
		bare := l
		bare.Paint = false
		return bare.changeRemark(f.change.What, f, nil)
	}
	return it
}

// childNames names the first of what lies directly below a directory.
func (l Style) childNames(kids []*pathNode, width int) string {
	kids = slices.Clone(kids)
	slices.SortStableFunc(kids, func(a, b *pathNode) int { return cmp.Compare(b.sum.files, a.sum.files) })
	var names []string
	for _, k := range kids[:min(len(kids), maxNamesTried)] {
		name := termtext.Escape(k.path[strings.LastIndexByte(k.path, '/')+1:])
		if len(k.children) > 0 {
			name += "/"
		}
		names = append(names, name)
	}
	return joinSomeNames(names, len(kids), width)
}

// maxNamesTried is more names than a line has room for.
const maxNamesTried = 40

// joinSomeNames joins the first names of total as far as they fit, and counts the
// rest. Not even one may fit: then the count stands alone.
func joinSomeNames(names []string, total, width int) string {
	for n := min(len(names), maxNamesTried); n > 0; n-- {
		text := strings.Join(names[:n], ", ")
		if rest := total - n; rest > 0 {
			text += ", " + termtext.Count(int64(rest)) + " more"
		}
		if termtext.Width(text) <= width {
			return text
		}
	}
	return termtext.Count(int64(total)) + " names"
}

// stepUnits remarks the files of one database, which are replaced together.
func stepUnits(steps []retake.Step) map[string]string {
	parts := map[string]int{}
	for _, s := range steps {
		if s.Unit != "" {
			parts[s.Unit]++
		}
	}
	out := map[string]string{}
	for _, s := range steps {
		switch {
		case s.Unit == "":
		case s.Unit != s.Path:
			out[s.Path] = "goes with " + termtext.Escape(s.Unit)
		case parts[s.Unit] > 1:
			out[s.Path] = "with its side files, as one unit"
		}
	}
	return out
}

// drawItems draws at most n lines: each item on its own, or the first ones so and
// the others by name, on one line or two.
func (l Style) drawItems(items []sectionItem, g sectionGrid, n int) []string {
	own, together := len(items), 0
	if own > n {
		together = 1
		if n > 3 {
			together = 2
		}
		own = n - together
	}
	names := nameColumns
	for _, it := range items[:own] { // where there is room, remarks stand below each other
		names = min(max(names, termtext.Width(it.name)), max(g.width/4, nameColumns))
	}
	var out []string
	for _, it := range items[:own] {
		out = append(out, l.drawItem(it, g, names))
	}
	if together > 0 {
		out = append(out, l.drawBundle(items[own:], g, together)...)
	}
	return out
}

// textWidth is what the column of counts leaves.
func (g sectionGrid) textWidth() int { return g.width - termtext.Width(g.countColumn(0)) }

// countColumn is the column of counts, empty when there is none.
func (g sectionGrid) countColumn(n int64) string {
	if g.number == 0 {
		return ""
	}
	if n == 0 {
		return strings.Repeat(" ", g.number+2)
	}
	return termtext.PadLeft(termtext.Count(n), g.number) + "  "
}

func (l Style) drawItem(it sectionItem, g sectionGrid, names int) string {
	room := g.textWidth()
	name := l.cutPathStart(it.name, room)
	left := room - max(termtext.Width(name), names) - 2
	text := g.countColumn(it.count) + name
	if it.remark == nil || left < 6 {
		return text
	}
	remark := l.Glyphs.Cut(it.remark(left), left)
	if remark == "" {
		return text
	}
	return text + strings.Repeat(" ", max(names-termtext.Width(name), 0)+2) + l.Dim(remark)
}

// drawBundle names several items in a few lines, and counts those for which there is
// no room.
func (l Style) drawBundle(items []sectionItem, g sectionGrid, lines int) []string {
	var count int64
	for _, it := range items {
		count += max(it.count, 1)
	}
	room := g.textWidth()
	var best, words []string
	rest := count
	for i := 0; ; i++ {
		all := words
		if rest > 0 {
			all = append(slices.Clone(words), "+"+termtext.Count(rest)+" more, "+l.listCommand())
		}
		drawn := FlowWords(all, room)
		if i > 0 && (len(drawn) > lines || slices.ContainsFunc(drawn, func(s string) bool { return termtext.Width(s) > room })) {
			break
		}
		best = drawn
		if i == len(items) {
			break
		}
		word := items[i].name
		if items[i].count > 1 {
			word += " " + termtext.Count(items[i].count)
		}
		words, rest = append(words, word), rest-max(items[i].count, 1)
	}
	var told int64
	for _, it := range items {
		told += it.count
	}
	for i := range best {
		best[i] = g.countColumn(told) + best[i]
		told = 0
	}
	return best
}

// FlowWords sets words, with commas, into lines of a width. A word is never broken.
func FlowWords(words []string, width int) []string {
	listed := slices.Clone(words)
	for i := range max(0, len(listed)-1) {
		listed[i] += ","
	}
	return fillLines(listed, width)
}
