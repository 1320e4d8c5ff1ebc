package xray

import (
	"slices"

	"github.com/retake-dev/retake"
)

// listing keeps what of the rows is shown: a part of each kind, made short at once.
type listing struct {
	c     *comparing
	p     *pairing
	kinds [3]kindRows
}

// kindRows are the rows of one kind.
type kindRows struct {
	what retake.Difference
	seen int
	rows []retake.RowChange
	size int
	full bool // nothing is kindRows behind what was left out
}

func newListing(c *comparing, p *pairing) *listing {
	return &listing{c: c, p: p, kinds: [3]kindRows{{what: retake.Deleted}, {what: retake.Edited}, {what: retake.Added}}}
}

// columns tells the columns.
func (l *listing) columns(t *retake.TableRows) {
	for _, j := range l.p.columns[:min(len(l.p.columns), maxListed)] {
		col := retake.TableColumn{Name: l.c.in.name(j.name), Key: j.key}
		switch {
		case l.p.tables[0] == "" || l.p.tables[1] == "":
		case j.at[0] < 0:
			col.What = retake.Added
		case j.at[1] < 0:
			col.What = retake.Deleted
		}
		t.Columns = append(t.Columns, col)
	}
	t.Unlisted, t.Computed = int64(max(0, len(l.p.columns)-maxListed)), l.p.computed
}

func at(row []any, i int) any {
	if i < 0 {
		return nil
	}
	return row[i]
}

// differing are the columns in which two rows differ. What came with a column of its own
// does not make a row another; what went with one does.
func (l *listing) differing(before, after []any) []int {
	var cells []int
	for i, j := range l.p.columns {
		if j.at[0] >= 0 && !same(before[j.at[0]], at(after, j.at[1])) {
			cells = append(cells, i)
		}
	}
	return cells
}

func (l *listing) add(what retake.Difference, before, after []any, cells []int) {
	h := l.c.head
	if h.Table == "" || h.What != "" && h.What != what {
		return
	}
	k := &l.kinds[slices.IndexFunc(l.kinds[:], func(k kindRows) bool { return k.what == what })]
	k.seen++
	if k.full || k.seen <= h.Skip {
		return
	}
	if len(k.rows) >= h.Limit || k.size >= maxKind {
		k.full = true
		return
	}
	r := retake.RowChange{What: what, Before: l.cells(before, 0), After: l.cells(after, 1)}
	for _, i := range cells {
		if i < maxListed {
			r.Cells = append(r.Cells, i)
		}
	}
	for _, v := range slices.Concat(r.Before, r.After) {
		k.size += len(v.Text) + 40
	}
	k.rows = append(k.rows, r)
}

// cells are the values of a row that are shown.
func (l *listing) cells(row []any, side int) []retake.CellValue {
	if row == nil {
		return nil
	}
	var out []retake.CellValue
	for _, j := range l.p.columns[:min(len(l.p.columns), maxListed)] {
		if j.at[side] < 0 {
			out = append(out, retake.CellValue{Kind: retake.CellNone})
			continue
		}
		out = append(out, cell(j.name, row[j.at[side]]))
	}
	return out
}

// rows are those of all kinds, as many as were asked for.
func (l *listing) rows() []retake.RowChange {
	out := []retake.RowChange{}
	for _, k := range l.kinds {
		out = append(out, k.rows...)
	}
	return out[:min(len(out), l.c.head.Limit)]
}
