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
	tables map[string]object // by the name that people see
}

// comparing is one comparison of two databases.
type comparing struct {
	in    input
	head  rowsHead
	sides [2]rowsSide
}

// compareDatabases compares the rows of all tables, or lists those of one. Foreign bytes
// may break it; that is an answer too.
func compareDatabases(dbs [2]*database, head rowsHead, in input) (out *RowsRead) {
	defer func() {
		if recover() != nil {
			out = &RowsRead{Why: string(brokeOff)}
		}
	}()
	ctx, stop := context.WithTimeout(context.Background(), sqliteTime)
	defer stop()
	c := &comparing{in: in, head: head}
	names := map[string]bool{}
	for side, db := range dbs {
		if db == nil {
			continue
		}
		db.begin(ctx)
		tables, err := c.tablesOf(db)
		if err != nil {
			return &RowsRead{Why: string(reasonOf(err).of(side))}
		}
		c.sides[side] = rowsSide{db, tables}
		for name := range tables {
			names[name] = true
		}
	}
	out = &RowsRead{Tables: []retake.TableRows{}}
	if head.Table != "" {
		if !names[head.Table] {
			return &RowsRead{Missing: true, Why: string(noTable)}
		}
		names = map[string]bool{head.Table: true}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t := c.table(name)
		if head.Table == "" && t.What == "" && t.Why == "" {
			out.Same++
			continue
		}
		out.Tables = append(out.Tables, t)
	}
	return out
}

func reasonOf(err error) why {
	var w why
	if errors.As(err, &w) {
		return w
	}
	return damaged
}

// tablesOf are the tables of a database, without those in which modules keep what is theirs.
func (c *comparing) tablesOf(db *database) (map[string]object, error) {
	all, err := db.objects()
	if err != nil {
		return nil, err
	}
	tables, shadow := map[string]object{}, shadows(all)
	for _, o := range all {
		if o.kind == "table" && (o.virtual() || !slices.Contains(shadow, o.name)) {
			tables[c.in.name(o.name)] = o
		}
	}
	return tables, nil
}

// table compares one table. What goes wrong on the way is said, and what was counted
// before stands.
func (c *comparing) table(name string) retake.TableRows {
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
	if was && before.virtual() || is && after.virtual() {
		t.Why = string(isVirtual)
		return t
	}
	p, err := c.pair(before, after)
	if err == nil {
		err = c.merge(p, &t)
	}
	if err != nil {
		t.Why = reasonOf(err).Error()
	}
	if t.What == "" && t.Deleted+t.Edited+t.Added > 0 {
		t.What = retake.Edited
	}
	return t
}

// joined is a column of one side or of both, and its place in what each selects; -1: it is
// not there.
type joined struct {
	name string
	at   [2]int
	key  bool
}

// pairing is how the rows of two tables are told apart and compared.
type pairing struct {
	tables   [2]string // empty: there is none
	columns  []joined
	selected [2][]string // as they stand in a statement
	keys     [2][]string
	computed []string
	texts    func(a, b string) int
}

// pair puts the columns of both sides together, by their names.
func (c *comparing) pair(before, after object) (*pairing, error) {
	p := &pairing{tables: [2]string{before.name, after.name}, texts: strings.Compare}
	var lists [2][]column
	for side, table := range p.tables {
		if table == "" {
			continue
		}
		list, err := c.sides[side].db.columns(table)
		if err != nil {
			return nil, err
		}
		for _, col := range list {
			if !col.hidden {
				lists[side] = append(lists[side], col)
			} else if name := c.in.name(col.name); !slices.Contains(p.computed, name) {
				p.computed = append(p.computed, name)
			}
		}
	}
	if err := p.choose(lists); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for side, list := range lists {
		for _, col := range list {
			i, known := at[fold(col.name)]
			if !known {
				i = len(p.columns)
				at[fold(col.name)] = i
				p.columns = append(p.columns, joined{name: col.name, at: [2]int{-1, -1}})
			}
			p.columns[i].at[side] = len(p.selected[side])
			p.columns[i].key = p.columns[i].key || slices.Contains(p.keys[side], qualified(col.name))
			p.selected[side] = append(p.selected[side], qualified(col.name))
		}
	}
	return p, c.script(p)
}

// fold makes names equal that are equal for a database.
func fold(name string) string { return strings.ToLower(name) }

// qualified is a column in a statement: by its table, so that it is never taken for a text.
func qualified(column string) string { return "t." + quoted(column) }

// choose finds a key that both sides have: the primary key of one of them, or else the
// number that the database gives to a row.
func (p *pairing) choose(lists [2][]column) error {
	for side := range lists {
		key := primary(lists[side])
		ours, ok := found(lists[side], key)
		theirs, also := found(lists[1-side], key)
		if p.tables[side] == "" || len(key) == 0 || !ok || !also && p.tables[1-side] != "" {
			continue
		}
		p.keys[side], p.keys[1-side] = ours, theirs
		return nil
	}
	p.columns = append(p.columns, joined{name: "rowid", key: true, at: [2]int{-1, -1}})
	for side, list := range lists {
		if p.tables[side] == "" {
			continue
		}
		number := numbered(list)
		if number == "" {
			return noKey
		}
		p.columns[0].at[side] = 0
		p.keys[side], p.selected[side] = []string{number}, []string{number}
	}
	return nil
}

// primary are the columns of the primary key, in its order.
func primary(list []column) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(c column) bool { return c.key == 0 })
	slices.SortFunc(list, func(a, b column) int { return a.key - b.key })
	var names []string
	for _, c := range list {
		names = append(names, c.name)
	}
	return names
}

// found are columns of a list as they stand in a statement.
func found(list []column, names []string) (out []string, all bool) {
	for _, name := range names {
		i := slices.IndexFunc(list, func(c column) bool { return fold(c.name) == fold(name) })
		if i < 0 {
			return nil, false
		}
		out = append(out, qualified(list[i].name))
	}
	return out, true
}

// numbered is a name for the number of a row that no column has taken.
func numbered(list []column) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(list, func(c column) bool { return fold(c.name) == name }) {
			return "t." + name
		}
	}
	return ""
}
