package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// each reads the rows of a query.
func each(ctx context.Context, tx *sql.Tx, f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below has what matters
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list reads all rows of a query.
func list[T any](ctx context.Context, tx *sql.Tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		v, err := scan(rows)
		all = append(all, v)
		return err
	}, query, args...)
	return all, err
}

// one reads the only row of a query, or answers ErrNotFound.
func one[T any](ctx context.Context, tx *sql.Tx, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	for _, a := range args {
		if s, ok := a.(string); ok && plain(s) != s {
			var none T
			return none, serverdb.ErrNotFound // nothing is called so, and not every database takes it as text
		}
	}
	v, err := scan(tx.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = serverdb.ErrNotFound
	}
	return v, err
}

// scanner is a row.
type scanner interface{ Scan(into ...any) error }

// body reads a row that is one JSON value.
func body[T any](row scanner) (T, error) {
	var v T
	var raw []byte
	if err := row.Scan(&raw); err != nil {
		return v, err
	}
	return v, decode(raw, &v)
}

// whole reads a row that is bytes.
func whole(row scanner) ([]byte, error) {
	var raw []byte
	err := row.Scan(&raw)
	return raw, err
}

func decode(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("decode row: %w", err)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return raw, nil
}

// some gives bytes that are not NULL.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// bound is a limit that every database takes: not all know a negative one.
func bound(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// changed runs a text and reports whether a row took it.
func changed(ctx context.Context, tx *sql.Tx, query string, args ...any) (bool, error) {
	done, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// must runs a text that has to reach a row, or answers the error for when it does not.
func must(ctx context.Context, tx *sql.Tx, otherwise error, query string, args ...any) error {
	ok, err := changed(ctx, tx, query, args...)
	if err == nil && !ok {
		err = otherwise
	}
	return err
}
