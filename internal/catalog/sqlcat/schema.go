package sqlcat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// migrations are append-only: a text that was released never changes. Each runs
// in one transaction, its place in the list is its version.
var migrations = [][]string{
	{
		`CREATE TABLE writer (
			ns TEXT NOT NULL, notices BIGINT NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE workspace (
			ns TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, root BYTEA NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE checkpoint (
			ns TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, parent TEXT NOT NULL,
			time_us BIGINT NOT NULL, trigger TEXT NOT NULL, intent TEXT NOT NULL, tree TEXT NOT NULL, content TEXT NOT NULL,
			grade TEXT NOT NULL, files BIGINT NOT NULL, dirs BIGINT NOT NULL, bytes BIGINT NOT NULL, new_bytes BIGINT NOT NULL,
			added BIGINT NOT NULL, deleted BIGINT NOT NULL, edited BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id), UNIQUE (ns, workspace, number))`,
		`CREATE INDEX checkpoint_time ON checkpoint (ns, workspace, time_us, number)`,
		`CREATE INDEX checkpoint_id ON checkpoint (ns, workspace, id)`,
		`CREATE INDEX checkpoint_grade ON checkpoint (ns, workspace, grade, number)`,
		`CREATE TABLE tombstone (
			ns TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id), UNIQUE (ns, workspace, number))`,
		`CREATE TABLE pin (
			ns TEXT NOT NULL, workspace TEXT NOT NULL, name TEXT NOT NULL, checkpoint TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, workspace, name))`,
		`CREATE TABLE outbox (
			ns TEXT NOT NULL, id BIGINT NOT NULL, topic TEXT NOT NULL, workspace TEXT NOT NULL, checkpoint TEXT NOT NULL,
			time_us BIGINT NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE mark (
			ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
			PRIMARY KEY (ns, key))`,
	},
	{
		`CREATE INDEX checkpoint_content ON checkpoint (ns, workspace, content, number)`,
		`CREATE TABLE finding (
			ns TEXT NOT NULL, checkpoint TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, v BIGINT NOT NULL,
			head TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, checkpoint))`,
		`CREATE INDEX finding_number ON finding (ns, workspace, number, v)`,
		`CREATE INDEX finding_head ON finding (ns, workspace, head, number)`,
		`CREATE TABLE fact (
			ns TEXT NOT NULL, checkpoint TEXT NOT NULL, seq BIGINT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL,
			kind TEXT NOT NULL, name BYTEA NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, checkpoint, seq))`,
		`CREATE INDEX fact_name ON fact (ns, workspace, name, number)`,
		`CREATE TABLE place (
			ns TEXT NOT NULL, checkpoint TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, folded TEXT NOT NULL,
			body BYTEA NOT NULL,
			PRIMARY KEY (ns, checkpoint), UNIQUE (ns, workspace, number))`,
		`CREATE TABLE verification (
			ns TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, checkpoint TEXT NOT NULL, number BIGINT NOT NULL,
			content TEXT NOT NULL, name BYTEA NOT NULL, command BYTEA NOT NULL, started_us BIGINT NOT NULL, body BYTEA NOT NULL,
			output BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE INDEX verification_started ON verification (ns, workspace, started_us, id)`,
		`CREATE INDEX verification_content ON verification (ns, workspace, content)`,
		`CREATE INDEX verification_checkpoint ON verification (ns, checkpoint)`,
		`CREATE TABLE reading (
			ns TEXT NOT NULL, reader TEXT NOT NULL, object TEXT NOT NULL, seq BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, reader, object), UNIQUE (ns, seq))`,
	},
}

const (
	sqlVersions   = `CREATE TABLE IF NOT EXISTS catalog_version (version BIGINT NOT NULL, PRIMARY KEY (version))`
	sqlVersion    = `SELECT COALESCE(MAX(version), 0) FROM catalog_version`
	sqlSetVersion = `INSERT INTO catalog_version (version) VALUES ($1)`
	// sqlByteOrder is true where text is ordered by its bytes; prefixes of ids
	// are found by range.
	sqlByteOrder = `SELECT 'Z' < 'a'`
)

var (
	errNewer = errors.New("a newer version made this catalog")
	errOrder = errors.New("the database must order text by its bytes (collation C)")
)

// migrate runs the migrations that are missing. Several processes may do so at
// once: each version is looked at again under the lock that it is made under.
func migrate(ctx context.Context, db *sql.DB) error {
	// Most opens find all in place and need no lock. An error here means that
	// there is no table yet, or comes again below.
	if v, err := version(ctx, db); err == nil && v >= len(migrations) {
		return notNewer(v)
	}
	err := inTx(ctx, db, nil, func(tx *sql.Tx) error {
		var ordered bool
		if err := tx.QueryRowContext(ctx, sqlByteOrder).Scan(&ordered); err != nil {
			return err
		}
		if !ordered {
			return errOrder
		}
		_, err := tx.ExecContext(ctx, sqlVersions)
		return err
	})
	if err != nil {
		return fmt.Errorf("make version table: %w", err)
	}
	for i := range migrations {
		if err := inTx(ctx, db, nil, func(tx *sql.Tx) error { return step(ctx, tx, i+1) }); err != nil {
			return fmt.Errorf("migrate to version %d: %w", i+1, err)
		}
	}
	return nil
}

func step(ctx context.Context, tx *sql.Tx, to int) error {
	v, err := version(ctx, tx)
	if err != nil || v >= to {
		return errors.Join(err, notNewer(v))
	}
	for _, text := range migrations[to-1] {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, sqlSetVersion, to)
	return err
}

func version(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int, error) {
	var v int
	err := q.QueryRowContext(ctx, sqlVersion).Scan(&v)
	return v, err
}

func notNewer(v int) error {
	if v > len(migrations) {
		return fmt.Errorf("%w: its version is %d, ours is %d", errNewer, v, len(migrations))
	}
	return nil
}
