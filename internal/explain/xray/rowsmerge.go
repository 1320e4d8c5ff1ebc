package xray

import (
	"database/sql"
	"strings"

	"github.com/retake-dev/retake"
)

// rowCursor reads the rows of one side in the order of their keys. It holds the current row
// and the one before.
type rowCursor struct {
	db       *database
	pairing  *tablePairing
	side     int
	keys     []int // their places in a row
	rows     *sql.Rows
	row      []any // nil: there are no more
	prev     []any
	scan     []any
	rowCount int64
}

// openCursor selects the rows of one side of a table, ordered by key.
func (c *rowComparison) openCursor(p *tablePairing, side int) (*rowCursor, error) {
	cur := &rowCursor{pairing: p, side: side}
	if p.tables[side] == "" {
		return cur, nil
	}
	for _, key := range p.keys[side] {
		for i, s := range p.selected[side] {
			if s == key {
				cur.keys = append(cur.keys, i)
			}
		}
	}
	cur.db = c.sides[side].db
	// A unary plus removes the declared type of a column, so that values are returned as
	// they are stored.
	query := "SELECT +" + strings.Join(p.selected[side], ", +") + " FROM main." + quoteName(p.tables[side]) + " AS t ORDER BY " +
		strings.Join(p.keys[side], " COLLATE BINARY, ") + " COLLATE BINARY"
	rows, err := cur.db.conn.QueryContext(cur.db.ctx, query) //nolint:rowserrcheck // next does, at the end of the rows
	if err != nil {
		if strings.Contains(err.Error(), "no such column: t.") {
			return nil, reasonNoKey // of a table without numbers
		}
		return nil, cur.db.explainError(err)
	}
	n := len(p.selected[side])
	cur.rows, cur.row, cur.prev, cur.scan = rows, make([]any, n), make([]any, n), make([]any, n)
	return cur, cur.next()
}

func (c *rowCursor) close() {
	if c != nil && c.rows != nil {
		_ = c.rows.Close()
	}
}

// next reads one row. It checks the order, because a damaged database may return another.
func (c *rowCursor) next() error {
	if c.row == nil {
		return nil
	}
	if !c.rows.Next() {
		c.row = nil
		if err := c.rows.Err(); err != nil {
			return c.db.explainError(err)
		}
		return nil
	}
	if c.rowCount == maxComparedRows {
		return reasonTooManyRows
	}
	c.row, c.prev = c.prev, c.row
	for i := range c.row {
		c.scan[i] = &c.row[i]
	}
	if err := c.rows.Scan(c.scan...); err != nil {
		return c.db.explainError(err)
	}
	if c.rowCount++; c.rowCount == 1 {
		return nil
	}
	for _, k := range c.keys {
		switch n, err := c.pairing.compareValues(c.prev[k], c.row[k]); {
		case err != nil:
			return err
		case n > 0:
			return reasonNoOrder
		case n < 0:
			return nil
		}
	}
	return nil
}

// mergeRows walks both sides at once, reads each row once, and keeps only those that it
// lists.
func (c *rowComparison) mergeRows(p *tablePairing, t *retake.TableRows) error {
	l := newListing(c, p)
	if c.header.Table != "" {
		l.addColumns(t)
	}
	before, err := c.openCursor(p, 0)
	defer before.close()
	if err != nil {
		return err
	}
	after, err := c.openCursor(p, 1)
	defer after.close()
	if err != nil {
		return err
	}
	err = l.walkRows(before, after, t)
	if c.header.Table != "" {
		t.Rows = l.listedRows()
	}
	return err
}

// walkRows merges the two ordered row streams and counts the differences.
func (l *rowListing) walkRows(before, after *rowCursor, t *retake.TableRows) error {
	for before.row != nil || after.row != nil {
		n, err := compareKeys(before, after)
		if err != nil {
			return err
		}
		switch {
		case n < 0:
			t.Deleted++
			l.addRow(retake.Deleted, before.row, nil, nil)
			err = before.next()
		case n > 0:
			t.Added++
			l.addRow(retake.Added, nil, after.row, nil)
			err = after.next()
		default:
			if cells := l.differingColumns(before.row, after.row); cells == nil {
				t.Equal++
			} else {
				t.Edited++
				l.addRow(retake.Edited, before.row, after.row, cells)
			}
			if err = before.next(); err == nil {
				err = after.next()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareKeys reports which row comes first; a side that has ended comes last.
func compareKeys(a, b *rowCursor) (int, error) {
	switch {
	case a.row == nil:
		return 1, nil
	case b.row == nil:
		return -1, nil
	}
	for i := range a.keys {
		if n, err := a.pairing.compareValues(a.row[a.keys[i]], b.row[b.keys[i]]); n != 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}
