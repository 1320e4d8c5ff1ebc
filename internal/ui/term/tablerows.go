package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// MaxRowsShown is how many rows of a table are drawn at most.
const MaxRowsShown = 20

// Widths of the columns of a table, and what stands before and between them.
const (
	mostCell   = 32
	leastCell  = 6
	rowIndent  = 4
	betweenGap = 2
)

// RenderRows shows a database as its tables, and the rows that differ. Tables holds those
// whose rows were asked for; the others are counted.
func RenderRows(l Style, path string, what retake.Difference, d retake.RowsDiff, tables []retake.TableRows) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s", groupTitle(l, what, groupWords[what]), l.Bold(termtext.Escape(path)))
	if d.Why != "" {
		fmt.Fprintf(&b, "  %s\n", l.Dim("rows are not compared, "+termtext.Escape(d.Why)))
		return b.String()
	}
	if len(d.Tables) == 0 {
		fmt.Fprintf(&b, "  %s", l.Dim("no row differs"))
	}
	b.WriteString("\n")
	for _, t := range sortLostFirst(d.Tables) {
		if i := slices.IndexFunc(tables, func(full retake.TableRows) bool { return full.Name == t.Name }); i >= 0 {
			t = tables[i]
		}
		b.WriteString(drawTable(l, t))
	}
	if d.Same > 0 {
		fmt.Fprintf(&b, "%s\n", l.Dim(CountNoun(d.Same, "table", "tables")+" with the same rows"))
	}
	return b.String()
}

// RenderRowCounts is RenderRows without any rows: a line for each table that differs.
func RenderRowCounts(l Style, path string, what retake.Difference, d retake.RowsDiff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s\n", groupTitle(l, what, groupWords[what]), l.Bold(termtext.Escape(path)))
	for _, t := range sortLostFirst(d.Tables) {
		first, _, _ := strings.Cut(drawTable(l, t), "\n")
		b.WriteString(first + "\n")
	}
	return b.String()
}

// sortLostFirst puts tables first that lost rows: somebody is looking for them.
func sortLostFirst(tables []retake.TableRows) []retake.TableRows {
	tables = slices.Clone(tables)
	rank := func(t retake.TableRows) int {
		switch {
		case t.Deleted > 0:
			return 0
		case t.Why != "":
			return 2
		}
		return 1
	}
	slices.SortStableFunc(tables, func(a, b retake.TableRows) int { return rank(a) - rank(b) })
	return tables
}

// rowKinds are the kinds of rows in the order in which they are told.
var rowKinds = []retake.Difference{retake.Deleted, retake.Edited, retake.Added}

func rowMark(l Style, what retake.Difference) string {
	return map[retake.Difference]string{retake.Deleted: l.Glyphs.Minus, retake.Edited: "~", retake.Added: "+"}[what]
}

func rowCount(t retake.TableRows, what retake.Difference) int64 {
	return map[retake.Difference]int64{retake.Deleted: t.Deleted, retake.Edited: t.Edited, retake.Added: t.Added}[what]
}

func drawTable(l Style, t retake.TableRows) string {
	var parts []string
	for _, k := range rowKinds {
		if n := rowCount(t, k); n > 0 {
			parts = append(parts, groupTitle(l, k, rowMark(l, k)+termtext.Count(n)))
		}
	}
	if len(t.Rows) == 0 {
		parts = append(parts, columnChanges(l, t.Columns)...)
	}
	head := "table " + l.Bold(termtext.Escape(t.Name))
	if t.What == retake.Added || t.What == retake.Deleted {
		head = groupTitle(l, t.What, groupWords[t.What]) + " " + head
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimRight(head+"  "+strings.Join(parts, " "), " "))
	if t.Why != "" {
		fmt.Fprintf(&b, "  %s\n", l.Cyan("not all is compared: ")+termtext.Escape(t.Why))
	}
	if len(t.Rows) > 0 {
		b.WriteString(drawGrid(l, t))
	}
	b.WriteString(restOfRowsText(l, t))
	if len(t.Computed) > 0 {
		fmt.Fprintf(&b, "  %s\n", l.Dim(termtext.Escape("not compared, because they are computed: "+strings.Join(t.Computed, ", "))))
	}
	return b.String()
}

// columnChanges names the columns that came and went, where no row is drawn below them.
func columnChanges(l Style, columns []retake.TableColumn) []string {
	var out []string
	for _, c := range columns {
		if c.What == retake.Added || c.What == retake.Deleted {
			out = append(out, groupTitle(l, c.What, rowMark(l, c.What)+"column "+termtext.Escape(c.Name)))
		}
	}
	return out
}

// restOfRowsText counts what is not drawn, and tells how it is seen.
func restOfRowsText(l Style, t retake.TableRows) string {
	how := "--json has them"
	if t.Deleted+t.Edited+t.Added > retake.MostRows {
		how = "--json has the first " + termtext.Count(retake.MostRows)
	}
	var b strings.Builder
	for _, k := range rowKinds {
		n, more := rowCount(t, k), ""
		for _, r := range t.Rows[:min(len(t.Rows), MaxRowsShown)] {
			if r.What == k {
				n, more = n-1, "more "
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "  %s\n", l.Dim(fmt.Sprintf("and %s %s%s %s; %s", termtext.Count(n), more, k, rowsText(n), how)))
		}
	}
	return b.String()
}

func rowsText(n int64) string {
	if n == 1 {
		return "row"
	}
	return "rows"
}

// drawGrid draws rows in columns that fit the width. Columns that do not are counted.
func drawGrid(l Style, t retake.TableRows) string {
	rows := t.Rows[:min(len(t.Rows), MaxRowsShown)]
	cells := make([][]string, len(rows)+1)
	for _, c := range t.Columns {
		name := termtext.Escape(c.Name)
		if c.What != "" {
			name = rowMark(l, c.What) + name
		}
		cells[0] = append(cells[0], name)
	}
	for i, r := range rows {
		for k := range t.Columns {
			cells[i+1] = append(cells[i+1], rowCell(l, r, k))
		}
	}
	widths := gridWidths(l, cells)
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", rowIndent), l.Dim(drawGridLine(l, cells[0], widths)))
	for i, r := range rows {
		line := fmt.Sprintf("  %s %s", rowMark(l, r.What), drawGridLine(l, cells[i+1], widths))
		if r.What != retake.Edited {
			line = groupTitle(l, r.What, line)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	if n := int64(len(t.Columns)-len(widths)) + t.Unlisted; n > 0 {
		fmt.Fprintf(&b, "  %s\n", l.Dim("and "+CountNoun(n, "column", "columns")+" that are not shown"))
	}
	return b.String()
}

func drawGridLine(l Style, cells []string, widths []int) string {
	var b strings.Builder
	for i, w := range widths {
		b.WriteString(termtext.Pad(l.Glyphs.Cut(cells[i], w), w+betweenGap))
	}
	return strings.TrimRight(b.String(), " ")
}

// rowCell is a value, or what it was and became.
func rowCell(l Style, r retake.RowChange, k int) string {
	switch {
	case r.What == retake.Deleted:
		return cellText(l, r.Before[k])
	case slices.Contains(r.Cells, k):
		return cellText(l, r.Before[k]) + " " + l.Glyphs.Arrow + " " + cellText(l, r.After[k])
	}
	return cellText(l, r.After[k])
}

func cellText(l Style, v retake.CellValue) string {
	text := termtext.Escape(v.Text)
	switch {
	case v.Kind == retake.CellNone:
		return l.Glyphs.Dash
	case v.Kind == retake.CellText && v.Text == "":
		return "''"
	case v.More > 0:
		return text + l.Glyphs.More
	}
	return text
}

// gridWidths gives each column what it needs, takes from the widest until all fit, and
// leaves out the last ones when nothing is left to take.
func gridWidths(l Style, cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, text := range line {
			widths[i] = min(max(widths[i], termtext.Width(text)), mostCell)
		}
	}
	for {
		total, widest := rowIndent-betweenGap, 0
		for i, w := range widths {
			total += w + betweenGap
			if w > widths[widest] {
				widest = i
			}
		}
		switch {
		case total <= l.Width || len(widths) == 1:
			return widths
		case widths[widest] > leastCell:
			widths[widest]--
		default:
			widths = widths[:len(widths)-1]
		}
	}
}
