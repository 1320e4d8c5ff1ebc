package xray

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// rowsSide is one side of a comparison. Without a database it has no tables.
type rowsSide struct {
	db     *database
	tables map[string]schemaObject // by the name that people see
}

// rowComparison is one comparison of two databases.
type rowComparison struct {
	input  input
	header rowsHeader
	sides  [2]rowsSide
}

// compareDatabases compares the rows of all tables, or lists those of one. Untrusted bytes
// may cause a panic, which becomes a reason in the result.
func compareDatabases(dbs [2]*database, head rowsHeader, in input) (out *RowsResult) {
	defer func() {
		if recover() != nil {
			out = &RowsResult{Why: string(reasonCrashed)}
		}
	}()
	ctx, stop := context.WithTimeout(context.Background(), sqliteTimeout)
	defer stop()
	c := &rowComparison{input: in, header: head}
	names := map[string]bool{}
	for side, db := range dbs {
		if db == nil {
			continue
		}
		db.resetDeadline(ctx)
		tables, err := c.listTables(db)
		if err != nil {
			return &RowsResult{Why: string(databaseReason(err).forSide(side))}
		}
		c.sides[side] = rowsSide{db, tables}
		for name := range tables {
			names[name] = true
		}
	}
	out = &RowsResult{Tables: []retake.TableRows{}}
	if head.Table != "" {
		if !names[head.Table] {
			return &RowsResult{Missing: true, Why: string(reasonNoTable)}
		}
		names = map[string]bool{head.Table: true}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t := c.compareTable(name)
		if head.Table == "" && t.What == "" && t.Why == "" {
			out.Same++
			continue
		}
		out.Tables = append(out.Tables, t)
	}
	return out
}

func databaseReason(err error) failReason {
	var w failReason
	if errors.As(err, &w) {
		return w
	}
	return reasonDamaged
}

// listTables returns the tables of a database, without the shadow tables of modules.
func (c *rowComparison) listTables(db *database) (map[string]schemaObject, error) {
	all, err := db.schemaObjects()
	if err != nil {
		return nil, err
	}
	tables, shadow := map[string]schemaObject{}, shadowTables(all)
	for _, o := range all {
		if o.kind == "table" && (o.isVirtual() || !slices.Contains(shadow, o.name)) {
			tables[c.input.boundName(o.name)] = o
		}
	}
	return tables, nil
}

// compareTable compares one table. If something goes wrong on the way, Why says so, and
// what was counted before stays.
func (c *rowComparison) compareTable(name string) retake.TableRows {
	t := retake.TableRows{Name: name, Columns: []retake.TableColumn{}, Rows: []retake.RowChange{}}
	before, was := c.sides[0].tables[name]
	after, is := c.sides[1].tables[name]
	switch {
	case !was:
		t.What = retake.Added
	case !is:
		t.What = retake.Deleted
	case before.sql != after.sql:
		t.What = retake.Edited
	}
	if was && before.isVirtual() || is && after.isVirtual() {
		t.Why = string(reasonVirtual)
		return t
	}
	p, err := c.pairTables(before, after)
	if err == nil {
		err = c.mergeRows(p, &t)
	}
	if err != nil {
		t.Why = databaseReason(err).Error()
	}
	if t.What == "" && t.Deleted+t.Edited+t.Added > 0 {
		t.What = retake.Edited
	}
	return t
}

// joinedColumn is a column of one side or of both, and its index in what each side selects,
// or -1.
type joinedColumn struct {
	name  string
	index [2]int
	key   bool
}

// tablePairing is how the rows of two tables are matched and compared.
type tablePairing struct {
	tables      [2]string // empty: there is none
	columns     []joinedColumn
	selected    [2][]string // quoted for a statement
	keys        [2][]string
	computed    []string
	compareText func(a, b string) int
}

// pairTables matches the columns of both sides by name.
func (c *rowComparison) pairTables(before, after schemaObject) (*tablePairing, error) {
	p := &tablePairing{tables: [2]string{before.name, after.name}, compareText: strings.Compare}
	var lists [2][]column
	for side, table := range p.tables {
		if table == "" {
			continue
		}
		list, err := c.sides[side].db.tableColumns(table)
		if err != nil {
			return nil, err
		}
		for _, col := range list {
			if !col.hidden {
				lists[side] = append(lists[side], col)
			} else if name := c.input.boundName(col.name); !slices.Contains(p.computed, name) {
				p.computed = append(p.computed, name)
			}
		}
	}
	if err := p.chooseKey(lists); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for side, list := range lists {
		for _, col := range list {
			i, known := at[foldName(col.name)]
			if !known {
				i = len(p.columns)
				at[foldName(col.name)] = i
				p.columns = append(p.columns, joinedColumn{name: col.name, index: [2]int{-1, -1}})
			}
			p.columns[i].index[side] = len(p.selected[side])
			p.columns[i].key = p.columns[i].key || slices.Contains(p.keys[side], qualifiedColumn(col.name))
			p.selected[side] = append(p.selected[side], qualifiedColumn(col.name))
		}
	}
	return p, c.chooseTextOrder(p)
}

// foldName makes names equal that a database treats as equal.
func foldName(name string) string { return strings.ToLower(name) }

// qualifiedColumn returns a column for a statement. It is qualified by its table, so that
// SQLite never takes it for a string.
func qualifiedColumn(column string) string { return "t." + quoteName(column) }

// chooseKey finds a key that both sides have: the primary key of one of them, else the
// rowid.
func (p *tablePairing) chooseKey(lists [2][]column) error {
	for side := range lists {
		key := primaryKey(lists[side])
		ours, ok := findColumns(lists[side], key)
		theirs, also := findColumns(lists[1-side], key)
		if p.tables[side] == "" || len(key) == 0 || !ok || !also && p.tables[1-side] != "" {
			continue
		}
		p.keys[side], p.keys[1-side] = ours, theirs
		return nil
	}
	p.columns = append(p.columns, joinedColumn{name: "rowid", key: true, index: [2]int{-1, -1}})
	for side, list := range lists {
		if p.tables[side] == "" {
			continue
		}
		number := rowIDName(list)
		if number == "" {
			return reasonNoKey
		}
		p.columns[0].index[side] = 0
		p.keys[side], p.selected[side] = []string{number}, []string{number}
	}
	return nil
}

// primaryKey returns the columns of the primary key, in its order.
func primaryKey(list []column) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(c column) bool { return c.keyIndex == 0 })
	slices.SortFunc(list, func(a, b column) int { return a.keyIndex - b.keyIndex })
	var names []string
	for _, c := range list {
		names = append(names, c.name)
	}
	return names
}

// findColumns returns the named columns as they appear in a statement, and whether all were
// found.
func findColumns(list []column, names []string) (out []string, all bool) {
	for _, name := range names {
		i := slices.IndexFunc(list, func(c column) bool { return foldName(c.name) == foldName(name) })
		if i < 0 {
			return nil, false
		}
		out = append(out, qualifiedColumn(list[i].name))
	}
	return out, true
}

// rowIDName returns a name for the rowid that no column shadows, or "".
func rowIDName(list []column) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(list, func(c column) bool { return foldName(c.name) == name }) {
			return "t." + name
		}
	}
	return ""
}
