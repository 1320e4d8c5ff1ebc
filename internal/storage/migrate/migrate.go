// Package migrate brings the tables of an SQL database up to date.
//
// It speaks database/sql and knows no driver. Each step runs in one transaction; its
// place in the list is its version, which is kept in a table of the caller's naming.
//
//	M1  A text that was released never changes: steps are only added.
//	M2  Several processes may migrate at once: a version is looked at again under the
//	    lock that it is made under.
//	M3  A program works with newer tables as long as nothing was taken from them that it
//	    uses. Only the tables know that: they say the lowest version that still can.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Trouble that a person can do something about.
var (
	ErrNewer = errors.New("a newer version made these tables")
	ErrOrder = errors.New("the database must order text by its bytes (collation C)")
)

// Schema is the tables of one part of a program.
type Schema struct {
	Table string     // that keeps the version; a plain name
	Steps [][]string // the texts of each migration
	// MinReader has the steps that take something away, by their version, and the lowest version
	// of a program that works without it. A step that is not in it only adds: what worked before
	// it works after it.
	MinReader map[int]int
}

// Version returns the version of the tables of this program.
func (s Schema) Version() int { return len(s.Steps) }

// minReader returns the lowest version of a program that works with the tables of a version.
func (s Schema) minReader(version int) int {
	lowest := 1
	for v, reader := range s.MinReader {
		if v <= version {
			lowest = max(lowest, reader)
		}
	}
	return lowest
}

// sqlByteOrder is true if the database compares text by its bytes, which range queries for id
// prefixes need.
const sqlByteOrder = `SELECT 'Z' < 'a'`

// Apply runs the migrations that are missing. It returns ErrNewer if the tables are newer and a
// program of this version cannot work with them.
func Apply(ctx context.Context, db *sql.DB, s Schema) error {
	// Most opens find all in place and need no lock. An error here means that there is
	// no table yet, or comes again below.
	if v, err := readVersion(ctx, db, s.Table); err == nil && v >= s.Version() {
		return checkReader(ctx, db, s, v)
	}
	if err := Tx(ctx, db, nil, func(tx *sql.Tx) error { return createVersionTable(ctx, tx, s.Table) }); err != nil {
		return fmt.Errorf("make version table: %w", err)
	}
	for i := range s.Steps {
		err := Tx(ctx, db, nil, func(tx *sql.Tx) error { return runStep(ctx, tx, s, i+1) })
		if err != nil {
			return fmt.Errorf("migrate to version %d: %w", i+1, err)
		}
	}
	return nil
}

// Current returns the version of the tables in a database, and 0 if there are none.
func Current(ctx context.Context, db *sql.DB, s Schema) (int, error) {
	v, err := readVersion(ctx, db, s.Table)
	if err == nil {
		return v, nil
	}
	// A driver's words for a table that is not there are its own. If the database answers
	// otherwise, there is none.
	return 0, db.PingContext(ctx)
}

func createVersionTable(ctx context.Context, tx *sql.Tx, table string) error {
	var ordered bool
	if err := tx.QueryRowContext(ctx, sqlByteOrder).Scan(&ordered); err != nil {
		return err
	}
	if !ordered {
		return ErrOrder
	}
	_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+table+` (version BIGINT NOT NULL, min_reader BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (version))`)
	if err != nil {
		return err
	}
	if known, err := hasMinReader(ctx, tx, table); err != nil || known {
		return err
	}
	_, err = tx.ExecContext(ctx, `ALTER TABLE `+table+` ADD COLUMN min_reader BIGINT NOT NULL DEFAULT 0`)
	return err
}

func runStep(ctx context.Context, tx *sql.Tx, s Schema, to int) error {
	v, err := readVersion(ctx, tx, s.Table)
	if err != nil {
		return err
	}
	if v >= to {
		return checkReader(ctx, tx, s, v)
	}
	for _, text := range s.Steps[to-1] {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO `+s.Table+` (version, min_reader) VALUES ($1, $2)`, to, s.minReader(to))
	return err
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readVersion(ctx context.Context, q querier, table string) (int, error) {
	var v int
	err := q.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM `+table).Scan(&v)
	return v, err
}

// hasMinReader reports whether the version table has the column: those of older programs do not.
func hasMinReader(ctx context.Context, q querier, table string) (bool, error) {
	rows, err := q.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return false, err
	}
	defer rows.Close() //nolint:errcheck // there are none
	names, err := rows.Columns()
	return slices.Contains(names, "min_reader"), errors.Join(err, rows.Err())
}

// checkReader returns an error if a program of this version cannot work with tables of version v.
func checkReader(ctx context.Context, q querier, s Schema, v int) error {
	if v <= s.Version() {
		return nil
	}
	known, err := hasMinReader(ctx, q, s.Table)
	if err != nil {
		return err
	}
	lowest := 0
	if known {
		if err := q.QueryRowContext(ctx, `SELECT min_reader FROM `+s.Table+` ORDER BY version DESC LIMIT 1`).Scan(&lowest); err != nil {
			return err
		}
	}
	switch {
	case lowest == 0: // it did not say
		return fmt.Errorf("%w: its version is %d, ours is %d", ErrNewer, v, s.Version())
	case lowest > s.Version():
		return fmt.Errorf("%w: its version is %d and needs %d, ours is %d", ErrNewer, v, lowest, s.Version())
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
