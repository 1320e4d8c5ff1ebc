// Package sqlcat holds the rows of a catalog in an SQL database, with one text
// of SQL for every database that has transactions and RETURNING.
//
// It speaks database/sql and nothing else: it opens no file, knows no driver and
// never closes the database it was given. A row that has more than its keys
// keeps the whole value as JSON; the columns beside it are for queries.
//
//	Q1  Only TEXT, BIGINT and BYTEA; placeholders are $1 and on; no function that one database alone has.
//	Q2  Every writing transaction locks the writer row of its namespace first: checks and changes are one step.
//	Q3  Numbers of notices rise for ever, past Take and Reset, in the order of commits.
//	Q4  Times are compared in whole microseconds and answered as they were given.
//	Q5  What is known of a checkpoint goes with it, in the same transaction.
package sqlcat

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/retake-dev/retake/internal/catalog"
)

// Catalog holds the rows of one namespace.
type Catalog struct {
	db      *sql.DB
	ns      string
	explain func(error) error
}

var _ catalog.Catalog = (*Catalog)(nil)

// Options change how a catalog speaks.
type Options struct {
	// Explain puts errors of the driver into words; nil leaves them as they are.
	Explain func(error) error
}

// New brings the tables of db up to date and answers the catalog of a namespace.
// Several may share a db. Transactions of db must be able to write from their
// beginning: in SQLite they must be immediate.
func New(ctx context.Context, db *sql.DB, ns string, opts Options) (*Catalog, error) {
	c := &Catalog{db: db, ns: ns, explain: opts.Explain}
	if c.explain == nil {
		c.explain = func(err error) error { return err }
	}
	if err := migrate(ctx, db); err != nil {
		return nil, c.wrong("open catalog", err)
	}
	return c, nil
}

// Close leaves the database open: it belongs to whoever gave it.
func (c *Catalog) Close() error { return nil }

// wrong says what was being done when err came; nil stays nil.
func (c *Catalog) wrong(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, c.explain(err))
}

// write runs f in one transaction that has the namespace to itself for writing.
func (c *Catalog) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	return c.wrong(doing, inTx(ctx, c.db, nil, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, sqlLock, c.ns); err != nil {
			return fmt.Errorf("lock namespace: %w", err)
		}
		return f(tx)
	}))
}

// read runs f in one transaction that sees one moment and waits for no writer.
func (c *Catalog) read(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	moment := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return c.wrong(doing, inTx(ctx, c.db, moment, f))
}

func inTx(ctx context.Context, db *sql.DB, opts *sql.TxOptions, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it is nothing
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each reads the rows of a query until f has enough.
func each(ctx context.Context, q querier, f func(*sql.Rows) (more bool, err error), query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below has what matters
	for rows.Next() {
		if more, err := f(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// list reads all rows of a query.
func list[T any](ctx context.Context, c *Catalog, doing string, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	err := each(ctx, c.db, func(rows *sql.Rows) (bool, error) {
		v, err := scan(rows)
		all = append(all, v)
		return true, err
	}, query, args...)
	if err != nil {
		return nil, c.wrong(doing, err)
	}
	return all, nil
}

// body reads a row that is one JSON value.
func body[T any](rows *sql.Rows) (T, error) {
	var v T
	var raw []byte
	if err := rows.Scan(&raw); err != nil {
		return v, err
	}
	return v, decode(raw, &v)
}

func decode(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("decode row: %w", err)
	}
	return nil
}

// has reports whether a query has a row.
func has(ctx context.Context, tx *sql.Tx, query string, args ...any) (bool, error) {
	var n int64
	err := tx.QueryRowContext(ctx, query, args...).Scan(&n)
	return n > 0, err
}
