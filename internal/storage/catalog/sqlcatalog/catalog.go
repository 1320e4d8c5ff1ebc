// Package sqlcatalog holds the rows of a catalog in an SQL database, with one text
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
//	Q6  With EnterTx no query runs outside of a transaction that began with it.
package sqlcatalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/migrate"
)

// Catalog holds the rows of one namespace.
type Catalog struct {
	db   *sql.DB
	ns   string
	opts Options
}

var _ catalog.Catalog = (*Catalog)(nil)

// Options configure a catalog.
type Options struct {
	// Explain turns errors of the driver into errors for users; nil leaves them unchanged.
	Explain func(error) error
	// EnterTx runs first in every transaction, and makes every read one: it says to the
	// database who asks, and for which namespace.
	EnterTx func(ctx context.Context, tx *sql.Tx) error
	// OnChange runs last in a transaction that changed what only the caller could know: once
	// for each workspace, checkpoint or verification, by its id. What is found out about them,
	// marks and notices that were taken are not acts.
	OnChange func(ctx context.Context, tx *sql.Tx, verb, subject string) error
	// IsRetryable reports that a writing transaction came to nothing because of another one,
	// and may be tried again.
	IsRetryable func(error) bool
}

// New migrates the tables of db and returns the catalog of a namespace. Several catalogs may
// share a db. Transactions of db must be able to write from their beginning: in SQLite they
// must be immediate.
func New(ctx context.Context, db *sql.DB, ns string, opts Options) (*Catalog, error) {
	c := ForNamespace(db, ns, opts)
	if err := Migrate(ctx, db); err != nil {
		return nil, c.wrapError("open catalog", err)
	}
	return c, nil
}

// ForNamespace returns the catalog of a namespace in a database whose tables are up to date.
func ForNamespace(db *sql.DB, ns string, opts Options) *Catalog {
	return &Catalog{db: db, ns: ns, opts: opts}
}

// Wipe does nothing: the owner of the database wipes it, since it is shared.
func (c *Catalog) Wipe(context.Context) error { return nil }

// Close leaves the database open; its owner closes it.
func (c *Catalog) Close() error { return nil }

// wrapError explains err and adds what was being done; nil stays nil.
func (c *Catalog) wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if c.opts.Explain != nil {
		err = c.opts.Explain(err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// maxTries limits how often a transaction is retried after conflicts.
const maxTries = 5

// inWriteTx runs f in a transaction that has exclusive write access to the namespace. f may
// run several times.
func (c *Catalog) inWriteTx(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	once := func() error {
		return c.inTx(ctx, nil, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, sqlLock, c.ns); err != nil {
				return fmt.Errorf("lock namespace: %w", err)
			}
			return f(tx)
		})
	}
	err := once()
	for try := 1; err != nil && try < maxTries && c.opts.IsRetryable != nil && c.opts.IsRetryable(err); try++ {
		err = once()
	}
	return c.wrapError(doing, err)
}

// inAuditedTx is inWriteTx for changes that OnChange must see. f returns the ids of what it
// changed.
func (c *Catalog) inAuditedTx(ctx context.Context, verb string, f func(tx *sql.Tx) (subjects []string, err error)) error {
	return c.inWriteTx(ctx, verb, func(tx *sql.Tx) error {
		subjects, err := f(tx)
		if err != nil || c.opts.OnChange == nil {
			return err
		}
		for _, s := range subjects {
			if err := c.opts.OnChange(ctx, tx, verb, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// inReadTx runs f in a transaction that sees one consistent state and waits for no writer.
func (c *Catalog) inReadTx(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	checkpoint := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return c.wrapError(doing, c.inTx(ctx, checkpoint, f))
}

func (c *Catalog) inTx(ctx context.Context, opts *sql.TxOptions, f func(tx *sql.Tx) error) error {
	return migrate.Tx(ctx, c.db, opts, func(tx *sql.Tx) error {
		if c.opts.EnterTx != nil {
			if err := c.opts.EnterTx(ctx, tx); err != nil {
				return fmt.Errorf("enter namespace: %w", err)
			}
		}
		return f(tx)
	})
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// queryRows runs a single query. It sees a consistent state by itself, so it gets a
// transaction only if EnterTx is set.
func (c *Catalog) queryRows(ctx context.Context, doing string, f func(*sql.Rows) (more bool, err error), query string, args ...any) error {
	if c.opts.EnterTx == nil {
		return c.wrapError(doing, eachRow(ctx, c.db, f, query, args...))
	}
	return c.inReadTx(ctx, doing, func(tx *sql.Tx) error { return eachRow(ctx, tx, f, query, args...) })
}

// queryRow reads the only row of a query. It returns false if there is none.
func (c *Catalog) queryRow(ctx context.Context, doing string, scan func(*sql.Rows) error, query string, args ...any) (found bool, err error) {
	err = c.queryRows(ctx, doing, func(rows *sql.Rows) (bool, error) {
		found = true
		return false, scan(rows)
	}, query, args...)
	return found, err
}

// eachRow calls f for the rows of a query until it returns false.
func eachRow(ctx context.Context, q querier, f func(*sql.Rows) (more bool, err error), query string, args ...any) error {
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

// queryList reads all rows of a query.
func queryList[T any](ctx context.Context, c *Catalog, doing string, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	err := c.queryRows(ctx, doing, func(rows *sql.Rows) (bool, error) {
		v, err := scan(rows)
		all = append(all, v)
		return true, err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// scanJSON reads a row with one JSON value.
func scanJSON[T any](rows *sql.Rows) (T, error) {
	var v T
	var raw []byte
	if err := rows.Scan(&raw); err != nil {
		return v, err
	}
	return v, decodeJSON(raw, &v)
}

func decodeJSON(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("decode row: %w", err)
	}
	return nil
}

// rowExists reports whether a COUNT query returns more than zero.
func rowExists(ctx context.Context, tx *sql.Tx, query string, args ...any) (bool, error) {
	var n int64
	err := tx.QueryRowContext(ctx, query, args...).Scan(&n)
	return n > 0, err
}
