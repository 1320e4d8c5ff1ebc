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
	sqliteMagic  = "SQLite format 3\x00"
	sqliteHeader = 100
	scriptAt     = 59  // where the head tells how texts are encoded
	sqlitePage   = 512 // the smallest
	maxTables    = 1000
	maxRows      = 2_000_000
	maxHeap      = 256 * mega
	sqliteTime   = 1500 * time.Millisecond // less than the child has for a file
)

const (
	notSQLite  why = "is not a SQLite database"
	damaged    why = "the database is damaged"
	manyTables why = "more than 1,000 tables"
)

// database is one that lies in memory, behind every guard that SQLite has: nothing in it
// is run, written or trusted.
type database struct {
	ctx  context.Context
	stop context.CancelFunc
	pool *sql.DB
	conn *sql.Conn

	script byte // how its texts are encoded, as its head says
}

// openSQLite copies the bytes. A database that is written ahead says so in its head, and
// could not be opened in memory: its log is laid over it before.
func openSQLite(data, log []byte) (*database, error) {
	if len(data) < sqliteHeader || !bytes.HasPrefix(data, []byte(sqliteMagic)) {
		return nil, notSQLite
	}
	data = withLog(data, log)
	if size := pageSize(data); size == 0 || len(data)%size != 0 {
		return nil, damaged // the rest of the last page would be taken for zeros
	}
	data[18], data[19] = 1, 1
	db := &database{script: data[scriptAt]}
	db.ctx, db.stop = context.WithTimeout(context.Background(), sqliteTime)
	var err error
	if db.pool, err = sql.Open("sqlite", "file::memory:?_defensive=1"); err == nil {
		db.conn, err = db.pool.Conn(db.ctx)
	}
	if err == nil {
		err = db.guard(data)
	}
	if err != nil {
		db.close()
		return nil, db.why(err)
	}
	return db, nil
}

// guard brings the bytes in, then shuts every door but the ones we go through.
func (db *database) guard(data []byte) error {
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
		return r.RegisterAuthorizer(authorize)
	})
}

// authorize lets us read tables, count, and ask for columns. What stands in a view or a
// trigger is denied.
func authorize(action sqlite.AuthorizerActionCode, what, more, _, inside string) sqlite.AuthorizerReturnCode {
	switch {
	case inside != "":
	case action == sqlite.AuthSelect, action == sqlite.AuthRead,
		action == sqlite.AuthFunction && strings.EqualFold(more, "count"),
		action == sqlite.AuthPragma && what == "table_xinfo":
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// begin gives a database that was opened before its time from now on.
func (db *database) begin(ctx context.Context) {
	db.stop()
	db.ctx, db.stop = context.WithCancel(ctx)
}

func (db *database) close() {
	if db.conn != nil {
		_ = db.conn.Close()
	}
	if db.pool != nil {
		_ = db.pool.Close()
	}
	db.stop()
}

// why says for people what SQLite said.
func (db *database) why(err error) error {
	if db.ctx.Err() != nil {
		return tooSlow
	}
	if strings.Contains(err.Error(), "out of memory") {
		return tooHungry
	}
	return reason(err, damaged)
}

// rows calls f for each row.
func (db *database) rows(query string, f func(scan func(...any) error) error) error {
	rows, err := db.conn.QueryContext(db.ctx, query)
	if err != nil {
		return db.why(err)
	}
	defer rows.Close() //nolint:errcheck // it was read
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return db.why(err)
		}
	}
	if err := rows.Err(); err != nil {
		return db.why(err)
	}
	return nil
}

// object is one row of the schema.
type object struct{ kind, name, sql string }

func readSQLite(in input) ([]retake.Trait, error) {
	db, err := openSQLite(in.data, in.log)
	if err != nil {
		return nil, err
	}
	defer db.close()
	all, err := db.objects()
	if err != nil {
		return nil, err
	}
	l := newList(in)
	shadow := shadows(all)
	for _, o := range all {
		switch {
		case o.kind != "table":
			l.set(retake.Trait{Kind: retake.FactIndex, Name: in.name(o.name), Value: apart + in.digest(o.sql)})
		case o.virtual():
			l.set(retake.Trait{Kind: retake.FactTable, Name: in.name(o.name), Value: in.value(o.module(), maxColumns)})
		case !slices.Contains(shadow, o.name):
			if err := db.table(l, o.name); err != nil {
				return nil, err
			}
		}
	}
	return l.traits, nil
}

// objects are those that somebody made, with their own words. What SQLite makes by itself
// has none.
func (db *database) objects() ([]object, error) {
	var all []object
	err := db.rows("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view', 'trigger')", func(scan func(...any) error) error {
		var o object
		if err := scan(&o.kind, &o.name, &o.sql); err != nil {
			return err
		}
		if strings.HasPrefix(strings.ToLower(o.name), "sqlite_") || o.kind == "table" && !o.virtual() && !begins(o.sql, "CREATE TABLE") {
			return nil
		}
		if all = append(all, o); len(all) > maxTables {
			return manyTables
		}
		return nil
	})
	return all, err
}

func begins(s, words string) bool {
	return len(s) >= len(words) && strings.EqualFold(s[:len(words)], words)
}

func (o object) virtual() bool { return begins(o.sql, "CREATE VIRTUAL TABLE") }

// module is what stands behind a virtual table; it is never asked.
func (o object) module() string {
	for i := range o.sql {
		if begins(o.sql[i:], " USING ") {
			return "virtual " + strings.Join(strings.Fields(o.sql[i+len(" USING "):]), " ")
		}
	}
	return "virtual"
}

// tails are how the tables are named in which modules keep what is theirs.
var tails = []string{"data", "idx", "content", "docsize", "config", "stat", "segments", "segdir", "node", "rowid", "parent"}

func shadows(all []object) []string {
	var names []string
	for _, o := range all {
		if o.kind == "table" && o.virtual() {
			for _, tail := range tails {
				names = append(names, o.name+"_"+tail)
			}
		}
	}
	return names
}

// quoted is a name as it stands in a statement.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// column is one of a table. Of a hidden one the database makes the values itself.
type column struct {
	name, kind string
	key        int // its place in the primary key, from 1 on
	hidden     bool
}

func (db *database) columns(table string) ([]column, error) {
	var list []column
	err := db.rows("PRAGMA main.table_xinfo("+quoted(table)+")", func(scan func(...any) error) error {
		var id, notNull, value any
		var c column
		var hide int
		if err := scan(&id, &c.name, &c.kind, &notNull, &value, &c.key, &hide); err != nil {
			return err
		}
		c.hidden = hide != 0
		list = append(list, c)
		return nil
	})
	return list, err
}

// table adds the columns of a real table, and counts its rows.
func (db *database) table(l *list, name string) error {
	list, err := db.columns(name)
	if err != nil {
		return err
	}
	var columns []string
	for _, c := range list {
		columns = append(columns, strings.TrimSpace(c.name+" "+c.kind))
	}
	var n int64
	if err := db.conn.QueryRowContext(db.ctx, "SELECT count(*) FROM main."+quoted(name)).Scan(&n); err != nil {
		return db.why(err)
	}
	count := fmt.Sprint(n)
	if n > maxRows {
		count = "more than " + termtext.Count(maxRows)
	}
	l.set(retake.Trait{Kind: retake.FactTable, Name: l.in.name(name), Value: l.in.value(strings.Join(columns, ", "), maxColumns)})
	l.set(retake.Trait{Kind: retake.FactRows, Name: l.in.name(name), Value: count})
	return nil
}
