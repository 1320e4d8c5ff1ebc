package xray

import (
	"slices"

	"github.com/retake-dev/retake"
)

// rowListing keeps the rows that are shown: a part of each kind, already shortened.
type rowListing struct {
	comparison *rowComparison
	pairing    *tablePairing
	kinds      [3]kindRows
}

// kindRows are the listed rows of one kind of change.
type kindRows struct {
	what retake.Difference
	seen int
	rows []retake.RowChange
	size int
	full bool // nothing is kindRows behind what was left out
}

func newListing(c *rowComparison, p *tablePairing) *rowListing {
	return &rowListing{comparison: c, pairing: p, kinds: [3]kindRows{{what: retake.Deleted}, {what: retake.Edited}, {what: retake.Added}}}
}

// addColumns describes the columns of both sides.
func (l *rowListing) addColumns(t *retake.TableRows) {
	for _, j := range l.pairing.columns[:min(len(l.pairing.columns), maxListedColumns)] {
		col := retake.TableColumn{Name: l.comparison.input.boundName(j.name), Key: j.key}
		switch {
		case l.pairing.tables[0] == "" || l.pairing.tables[1] == "":
		case j.index[0] < 0:
			col.What = retake.Added
		case j.index[1] < 0:
			col.What = retake.Deleted
		}
		t.Columns = append(t.Columns, col)
	}
	t.Unlisted, t.Computed = int64(max(0, len(l.pairing.columns)-maxListedColumns)), l.pairing.computed
}

func valueAt(row []any, i int) any {
	if i < 0 {
		return nil
	}
	return row[i]
}

// differingColumns returns the columns in which two rows differ. A value that came with a
// new column does not make a row different; a value lost with its column does.
func (l *rowListing) differingColumns(before, after []any) []int {
	var cells []int
	for i, j := range l.pairing.columns {
		if j.index[0] >= 0 && !sameValue(before[j.index[0]], valueAt(after, j.index[1])) {
			cells = append(cells, i)
		}
	}
	return cells
}

// addRow lists a changed row, if it is asked for and there is room.
func (l *rowListing) addRow(what retake.Difference, before, after []any, cells []int) {
	h := l.comparison.header
	if h.Table == "" || h.What != "" && h.What != what {
		return
	}
	k := &l.kinds[slices.IndexFunc(l.kinds[:], func(k kindRows) bool { return k.what == what })]
	k.seen++
	if k.full || k.seen <= h.Skip {
		return
	}
	if len(k.rows) >= h.Limit || k.size >= maxListedBytes {
		k.full = true
		return
	}
	r := retake.RowChange{What: what, Before: l.rowCells(before, 0), After: l.rowCells(after, 1)}
	for _, i := range cells {
		if i < maxListedColumns {
			r.Cells = append(r.Cells, i)
		}
	}
	for _, v := range slices.Concat(r.Before, r.After) {
		k.size += len(v.Text) + 40
	}
	k.rows = append(k.rows, r)
}

// rowCells returns the values of a row that are shown.
func (l *rowListing) rowCells(row []any, side int) []retake.CellValue {
	if row == nil {
		return nil
	}
	var out []retake.CellValue
	for _, j := range l.pairing.columns[:min(len(l.pairing.columns), maxListedColumns)] {
		if j.index[side] < 0 {
			out = append(out, retake.CellValue{Kind: retake.CellNone})
			continue
		}
		out = append(out, cellValue(j.name, row[j.index[side]]))
	}
	return out
}

// listedRows returns the rows of all kinds, up to the limit.
func (l *rowListing) listedRows() []retake.RowChange {
	out := []retake.RowChange{}
	for _, k := range l.kinds {
		out = append(out, k.rows...)
	}
	return out[:min(len(out), l.comparison.header.Limit)]
}
