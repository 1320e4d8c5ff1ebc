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

// sectionColors are the codes of the words of sections.
var sectionColors = map[retake.PlanSectionKind]string{retake.PlanDelete: redCode, retake.PlanBring: greenCode, retake.PlanConflict: yellowCode}

// pathSection is how a section of paths is drawn.
func pathSection(s retake.PlanSection) planSection {
	out := planSection{word: strings.ToUpper(s.Title), color: sectionColors[s.Kind], count: s.Count, least: 1}
	switch s.Kind {
	case retake.PlanMerge, retake.PlanConflict:
		out.most = len(s.Rows)
		out.draw = func(l Style, g sectionGrid, n int) []string {
			g.number = 0 // nothing is folded here, and the remarks need the room
			return drawItems(l, rowItems(l, topRows(s.Rows), false), g, n)
		}
	case retake.PlanKeep:
		reasons := groupKeeps(s.Rows)
		out.most = len(reasons)
		out.draw = func(l Style, g sectionGrid, n int) []string { return drawKeeps(l, s.Rows, reasons, g, n) }
	default:
		out.paths = int(s.Paths)
		out.most = min(out.paths, maxFoldedLines)
		out.draw = func(l Style, g sectionGrid, n int) []string {
			return drawItems(l, rowItems(l, openRows(s.Rows, n), true), g, n)
		}
	}
	return out
}

// shownRow is a row and the rows below it.
type shownRow struct {
	retake.PlanRow
	below []retake.PlanRow
}

// topRows are the rows that are in no directory of the list.
func topRows(rows []retake.PlanRow) []shownRow {
	var out []shownRow
	for i := 0; i < len(rows); i += rows[i].Below + 1 {
		out = append(out, shownRow{rows[i], rows[i+1 : i+1+rows[i].Below]})
	}
	return out
}

// openRows opens directories, the smallest first, as long as their rows fit into so many
// lines. A directory that comes or goes with all that is in it stays one line.
func openRows(rows []retake.PlanRow, limit int) []shownRow {
	out := topRows(rows)
	for {
		best, opened := -1, []shownRow(nil)
		for i, r := range out {
			if r.Below == 0 || r.Whole {
				continue
			}
			in := topRows(r.below)
			if len(out)-1+len(in) <= limit && (best < 0 || cmp.Or(cmp.Compare(len(in), len(opened)), comparePaths(r.Path, out[best].Path)) < 0) {
				best, opened = i, in
			}
		}
		if best < 0 {
			break
		}
		out = slices.Replace(out, best, best+1, opened...)
	}
	slices.SortStableFunc(out, func(a, b shownRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), comparePaths(a.Path, b.Path))
	})
	return out
}

// comparePaths orders paths as a tree lists them.
func comparePaths(a, b string) int {
	return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

func rowItems(l Style, rows []shownRow, counted bool) []sectionItem {
	items := make([]sectionItem, len(rows))
	for i, r := range rows {
		items[i] = sectionItem{name: termtext.Escape(r.Path), remark: func(width int) string { return rowRemark(l, r, width) }}
		if counted {
			items[i].count = r.Count
		}
	}
	return items
}

// rowRemark is what is known of a row, else what is in the directory or how large the file is.
func rowRemark(l Style, r shownRow, width int) string {
	switch {
	case r.Note != "":
		return l.EscapeText(r.Note)
	case r.Below > 0:
		return childNames(r, width)
	case strings.HasSuffix(r.Path, "/"):
		return ""
	}
	return termtext.Bytes(r.Bytes)
}

// childNames names the first of what lies directly below a directory.
func childNames(dir shownRow, width int) string {
	rows := topRows(dir.below)
	var names []string
	for _, r := range rows[:min(len(rows), maxNamesTried)] {
		name := strings.TrimPrefix(r.Path, dir.Path)
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name = name[:i+1]
		}
		names = append(names, termtext.Escape(TextOr(name, "./")))
	}
	return joinSomeNames(names, len(rows), width)
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

// drawItems draws at most n lines: each item on its own, or the first ones so and
// the others by name, on one line or two.
func drawItems(l Style, items []sectionItem, g sectionGrid, n int) []string {
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
		out = append(out, drawItem(l, it, g, names))
	}
	if together > 0 {
		out = append(out, drawBundle(l, items[own:], g, together)...)
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

func drawItem(l Style, it sectionItem, g sectionGrid, names int) string {
	room := g.textWidth()
	name := cutPathStart(l, it.name, room)
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
func drawBundle(l Style, items []sectionItem, g sectionGrid, lines int) []string {
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
			all = append(slices.Clone(words), "+"+termtext.Count(rest)+" more, "+listCommand(l))
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
