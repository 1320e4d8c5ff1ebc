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

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eachRow calls f for the rows of a query.
func eachRow(ctx context.Context, tx querier, f func(*sql.Rows) error, query string, args ...any) error {
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

// queryList reads all rows of a query.
func queryList[T any](ctx context.Context, tx querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		v, err := scan(rows)
		all = append(all, v)
		return err
	}, query, args...)
	return all, err
}

// queryOne reads the only row of a query, or returns ErrNotFound.
func queryOne[T any](ctx context.Context, tx *sql.Tx, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	for _, a := range args {
		if s, ok := a.(string); ok && sanitizeText(s) != s {
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

// scanJSON reads a row with one JSON value.
func scanJSON[T any](row scanner) (T, error) {
	var v T
	var raw []byte
	if err := row.Scan(&raw); err != nil {
		return v, err
	}
	return v, decodeJSON(raw, &v)
}

// scanBytes reads a row with one value of bytes.
func scanBytes(row scanner) ([]byte, error) {
	var raw []byte
	err := row.Scan(&raw)
	return raw, err
}

func decodeJSON(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("decode row: %w", err)
	}
	return nil
}

func encodeJSON(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode row: %w", err)
	}
	return raw, nil
}

// notNil returns an empty slice for nil, which would be stored as NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// limitOrMax returns a limit that every database accepts: not all allow a negative one.
func limitOrMax(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// execChanged runs a statement and reports whether it changed a row.
func execChanged(ctx context.Context, tx *sql.Tx, query string, args ...any) (bool, error) {
	done, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// execRequired runs a statement that must change a row, and returns otherwise if it does not.
func execRequired(ctx context.Context, tx *sql.Tx, otherwise error, query string, args ...any) error {
	ok, err := execChanged(ctx, tx, query, args...)
	if err == nil && !ok {
		err = otherwise
	}
	return err
}
