package xray

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	sqliteMagic      = "SQLite format 3\x00"
	sqliteHeaderSize = 100
	encodingOffset   = 59  // of the text encoding in the header
	minPageSize      = 512 // the smallest
	maxTables        = 1000
	maxCountedRows   = 2_000_000
	maxHeap          = 256 * mega
	sqliteTimeout    = 1500 * time.Millisecond // less than the child has for a file
)

const (
	reasonNotSQLite     failReason = "is not a SQLite database"
	reasonDamaged       failReason = "the database is damaged"
	reasonTooManyTables failReason = "more than 1,000 tables"
)

// database is an SQLite database in memory, opened with every protection that SQLite has:
// nothing in it is executed, written or trusted.
type database struct {
	ctx    context.Context
	cancel context.CancelFunc
	pool   *sql.DB
	conn   *sql.Conn

	encoding byte // text encoding, from the header
}

// openSQLite opens a database from its bytes, which it may modify. A database in WAL mode
// says so in its header and could not be opened in memory, so the log is applied before.
func openSQLite(data, log []byte) (*database, error) {
	if len(data) < sqliteHeaderSize || !bytes.HasPrefix(data, []byte(sqliteMagic)) {
		return nil, reasonNotSQLite
	}
	data = applyLog(data, log)
	if size := pageSize(data); size == 0 || len(data)%size != 0 {
		return nil, reasonDamaged // the rest of the last page would be taken for zeros
	}
	data[18], data[19] = 1, 1
	db := &database{encoding: data[encodingOffset]}
	db.ctx, db.cancel = context.WithTimeout(context.Background(), sqliteTimeout)
	var err error
	if db.pool, err = sql.Open("sqlite", "file::memory:?_defensive=1"); err == nil {
		db.conn, err = db.pool.Conn(db.ctx)
	}
	if err == nil {
		err = db.loadGuarded(data)
	}
	if err != nil {
		db.close()
		return nil, db.explainError(err)
	}
	return db, nil
}

// loadGuarded loads the bytes, then denies everything but the few statements that readers
// use.
func (db *database) loadGuarded(data []byte) error {
	err := db.conn.Raw(func(c any) error {
		d, ok := c.(interface{ Deserialize(buf []byte) error })
		if !ok {
			return errors.New("no databases in memory")
		}
		return d.Deserialize(data)
	})
	if err != nil {
		return err
	}
	for _, p := range []string{"trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "temp_store=MEMORY", fmt.Sprintf("hard_heap_limit=%d", maxHeap)} {
		if _, err := db.conn.ExecContext(db.ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	return db.conn.Raw(func(c any) error {
		r, ok := c.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.New("no authorizer")
		}
		return r.RegisterAuthorizer(authorizeAction)
	})
}

// authorizeAction allows reading tables, counting, and asking for columns. Everything
// inside a view or a trigger is denied.
func authorizeAction(action sqlite.AuthorizerActionCode, what, more, _, inside string) sqlite.AuthorizerReturnCode {
	switch {
	case inside != "":
	case action == sqlite.AuthSelect, action == sqlite.AuthRead,
		action == sqlite.AuthFunction && strings.EqualFold(more, "count"),
		action == sqlite.AuthPragma && what == "table_xinfo":
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// resetDeadline replaces the deadline of a database that was opened earlier.
func (db *database) resetDeadline(ctx context.Context) {
	db.cancel()
	db.ctx, db.cancel = context.WithCancel(ctx)
}

func (db *database) close() {
	if db.conn != nil {
		_ = db.conn.Close()
	}
	if db.pool != nil {
		_ = db.pool.Close()
	}
	db.cancel()
}

// explainError translates an error of SQLite into a reason for people.
func (db *database) explainError(err error) error {
	if db.ctx.Err() != nil {
		return reasonTooSlow
	}
	if strings.Contains(err.Error(), "out of memory") {
		return reasonOutOfMemory
	}
	return asReason(err, reasonDamaged)
}

// forEachRow calls f for each row of a query.
func (db *database) forEachRow(query string, f func(scan func(...any) error) error) error {
	rows, err := db.conn.QueryContext(db.ctx, query)
	if err != nil {
		return db.explainError(err)
	}
	defer rows.Close() //nolint:errcheck // it was read
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return db.explainError(err)
		}
	}
	if err := rows.Err(); err != nil {
		return db.explainError(err)
	}
	return nil
}

// schemaObject is one row of the schema.
type schemaObject struct{ kind, name, sql string }

// readSQLite returns the tables with their columns and row counts, and the other objects of
// the schema.
func readSQLite(in input) ([]retake.Trait, error) {
	db, err := openSQLite(in.data, in.log)
	if err != nil {
		return nil, err
	}
	defer db.close()
	all, err := db.schemaObjects()
	if err != nil {
		return nil, err
	}
	l := newTraitList(in)
	shadow := shadowTables(all)
	for _, o := range all {
		switch {
		case o.kind != "table":
			l.set(retake.Trait{Kind: retake.FactIndex, Name: in.boundName(o.name), Value: valueSeparator + in.digest(o.sql)})
		case o.isVirtual():
			l.set(retake.Trait{Kind: retake.FactTable, Name: in.boundName(o.name), Value: in.boundValue(o.moduleName(), maxColumnsWidth)})
		case !slices.Contains(shadow, o.name):
			if err := db.addTable(l, o.name); err != nil {
				return nil, err
			}
		}
	}
	return l.traits, nil
}

// schemaObjects returns the objects that users created, with their SQL. Objects that SQLite
// creates itself have none.
func (db *database) schemaObjects() ([]schemaObject, error) {
	var all []schemaObject
	err := db.forEachRow("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view', 'trigger')", func(scan func(...any) error) error {
		var o schemaObject
		if err := scan(&o.kind, &o.name, &o.sql); err != nil {
			return err
		}
		if strings.HasPrefix(strings.ToLower(o.name), "sqlite_") || o.kind == "table" && !o.isVirtual() && !hasPrefixFold(o.sql, "CREATE TABLE") {
			return nil
		}
		if all = append(all, o); len(all) > maxTables {
			return reasonTooManyTables
		}
		return nil
	})
	return all, err
}

func hasPrefixFold(s, words string) bool {
	return len(s) >= len(words) && strings.EqualFold(s[:len(words)], words)
}

func (o schemaObject) isVirtual() bool { return hasPrefixFold(o.sql, "CREATE VIRTUAL TABLE") }

// moduleName returns the module of a virtual table; the module itself is never run.
func (o schemaObject) moduleName() string {
	for i := range o.sql {
		if hasPrefixFold(o.sql[i:], " USING ") {
			return "virtual " + strings.Join(strings.Fields(o.sql[i+len(" USING "):]), " ")
		}
	}
	return "virtual"
}

// shadowSuffixes end the names of tables in which modules keep their own data.
var shadowSuffixes = []string{"data", "idx", "content", "docsize", "config", "stat", "segments", "segdir", "node", "rowid", "parent"}

func shadowTables(all []schemaObject) []string {
	var names []string
	for _, o := range all {
		if o.kind == "table" && o.isVirtual() {
			for _, tail := range shadowSuffixes {
				names = append(names, o.name+"_"+tail)
			}
		}
	}
	return names
}

// quoteName quotes a name for a statement.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// column is a column of a table. The values of a hidden one are generated by the database.
type column struct {
	name, typeName string
	keyIndex       int // its place in the primary key, from 1 on
	hidden         bool
}

func (db *database) tableColumns(table string) ([]column, error) {
	var list []column
	err := db.forEachRow("PRAGMA main.table_xinfo("+quoteName(table)+")", func(scan func(...any) error) error {
		var id, notNull, value any
		var c column
		var hide int
		if err := scan(&id, &c.name, &c.typeName, &notNull, &value, &c.keyIndex, &hide); err != nil {
			return err
		}
		c.hidden = hide != 0
		list = append(list, c)
		return nil
	})
	return list, err
}

// addTable adds the columns of an ordinary table, and its row count.
func (db *database) addTable(l *traitList, name string) error {
	list, err := db.tableColumns(name)
	if err != nil {
		return err
	}
	var columns []string
	for _, c := range list {
		columns = append(columns, strings.TrimSpace(c.name+" "+c.typeName))
	}
	var n int64
	if err := db.conn.QueryRowContext(db.ctx, "SELECT count(*) FROM main."+quoteName(name)).Scan(&n); err != nil {
		return db.explainError(err)
	}
	count := fmt.Sprint(n)
	if n > maxCountedRows {
		count = "more than " + termtext.Count(maxCountedRows)
	}
	l.set(retake.Trait{Kind: retake.FactTable, Name: l.input.boundName(name), Value: l.input.boundValue(strings.Join(columns, ", "), maxColumnsWidth)})
	l.set(retake.Trait{Kind: retake.FactRows, Name: l.input.boundName(name), Value: count})
	return nil
}
