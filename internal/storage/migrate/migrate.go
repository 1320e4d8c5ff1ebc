// Package migrate brings the tables of an SQL database up to date.
//
// It speaks database/sql and knows no driver. Each step runs in one transaction; its
// place in the list is its version, which is kept in a table of the caller's naming.
//
//	M1  A text that was released never changes: steps are only added.
//	M2  Several processes may migrate at once: a version is looked at again under the
//	    lock that it is made under.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Trouble that a person can do something about.
var (
	ErrNewer = errors.New("a newer version made these tables")
	ErrOrder = errors.New("the database must order text by its bytes (collation C)")
)

// sqlByteOrder is true if the database compares text by its bytes, which range queries for id
// prefixes need.
const sqlByteOrder = `SELECT 'Z' < 'a'`

// Apply runs the migrations that are missing. table must be a plain name.
func Apply(ctx context.Context, db *sql.DB, table string, steps [][]string) error {
	// Most opens find all in place and need no lock. An error here means that there is
	// no table yet, or comes again below.
	if v, err := readVersion(ctx, db, table); err == nil && v >= len(steps) {
		return checkNotNewer(v, len(steps))
	}
	if err := Tx(ctx, db, nil, func(tx *sql.Tx) error { return createVersionTable(ctx, tx, table) }); err != nil {
		return fmt.Errorf("make version table: %w", err)
	}
	for i := range steps {
		err := Tx(ctx, db, nil, func(tx *sql.Tx) error { return runStep(ctx, tx, table, steps, i+1) })
		if err != nil {
			return fmt.Errorf("migrate to version %d: %w", i+1, err)
		}
	}
	return nil
}

func createVersionTable(ctx context.Context, tx *sql.Tx, table string) error {
	var ordered bool
	if err := tx.QueryRowContext(ctx, sqlByteOrder).Scan(&ordered); err != nil {
		return err
	}
	if !ordered {
		return ErrOrder
	}
	_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+table+` (version BIGINT NOT NULL, PRIMARY KEY (version))`)
	return err
}

func runStep(ctx context.Context, tx *sql.Tx, table string, steps [][]string, to int) error {
	v, err := readVersion(ctx, tx, table)
	if err != nil || v >= to {
		return errors.Join(err, checkNotNewer(v, len(steps)))
	}
	for _, text := range steps[to-1] {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO `+table+` (version) VALUES ($1)`, to)
	return err
}

func readVersion(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, table string) (int, error) {
	var v int
	err := q.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM `+table).Scan(&v)
	return v, err
}

func checkNotNewer(v, ours int) error {
	if v > ours {
		return fmt.Errorf("%w: its version is %d, ours is %d", ErrNewer, v, ours)
	}
	return nil
}

// Tx runs f in one transaction.
func Tx(ctx context.Context, db *sql.DB, opts *sql.TxOptions, f func(tx *sql.Tx) error) error {
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
