package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
)

// ownerLease is a lease without an end, held by the data directory whose servers may write.
const ownerLease = "data directory"

// ReadOwner returns the data directory that owns a PostgreSQL database, or "" if there is none
// yet. It changes nothing and needs no tables.
func ReadOwner(ctx context.Context, db *sql.DB) (string, error) {
	var there bool
	if err := db.QueryRowContext(ctx, `SELECT to_regclass('lease') IS NOT NULL`).Scan(&there); err != nil || !there {
		return "", err
	}
	var owner string
	err := db.QueryRowContext(ctx, `SELECT holder FROM lease WHERE name = $1`, ownerLease).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return owner, err
}

// ClaimOwner makes owner the owner of a database unless it has one, and returns the owner.
// With force the claim replaces another one.
func ClaimOwner(ctx context.Context, db *sql.DB, owner string, force bool) (string, error) {
	text := `INSERT INTO lease (name, holder, until_us) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`
	if force {
		text = `INSERT INTO lease (name, holder, until_us) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder`
	}
	if _, err := db.ExecContext(ctx, text, ownerLease, owner, int64(math.MaxInt64)); err != nil {
		return "", fmt.Errorf("own the database: %w", err)
	}
	return ReadOwner(ctx, db)
}
