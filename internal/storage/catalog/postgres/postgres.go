// Package postgres keeps the catalogs of many namespaces in one PostgreSQL database that
// several servers use at once.
//
// It opens the database, makes tables, roles and policies, and puts the driver's errors
// into words; the rows are those of sqlcatalog. It reads no file and no environment.
//
//	P1  Every table with a namespace shows, in a transaction that nobody entered, nothing
//	    but an error; in one that was entered, the rows of one namespace. This holds for
//	    the owner too, but not for a superuser before it entered.
//	P2  What adds to history cannot take from it: the two are different roles, and a
//	    transaction has one of them.
//	P3  Role and namespace end with the transaction; a connection that comes back to the
//	    pool has neither.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
)

const (
	lockTimeout   = 10 * time.Second // how long a writer waits for the others
	idleTxTimeout = time.Minute      // how long a transaction may do nothing, before the server ends it
	connIdleTime  = 5 * time.Minute  // how long a connection waits for work
	connLifetime  = time.Hour        // of a connection, so that servers that move are found again

	minConns        = 2 // one holds the lock of Prepare, one works
	defaultMaxConns = 16
	dialTimeout     = 10 * time.Second
)

// Options limit how much of the database one process uses.
type Options struct {
	MaxConns int // 0: some
}

// OpenDB opens a database and checks that it answers.
func OpenDB(ctx context.Context, dsn string, opts Options) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, &retake.Error{Kind: retake.Invalid, What: "not a valid database URL", Hint: "Write postgres://user@host/database.", Err: err}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	setDefaultParams(config.RuntimeParams)
	db := sql.OpenDB(connector{stdlib.GetConnector(*config)})
	conns := opts.MaxConns
	if conns == 0 {
		conns = defaultMaxConns
	}
	conns = max(conns, minConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(connIdleTime)
	db.SetConnMaxLifetime(connLifetime)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", Explain(err)), db.Close())
	}
	return db, nil
}

// setDefaultParams sets the session parameters that must hold, unless the address sets them.
func setDefaultParams(params map[string]string) {
	for name, value := range map[string]string{
		"application_name":                    "retake",
		"default_transaction_isolation":       "read committed", // a writer that waited for the writer row must see what was written meanwhile
		"lock_timeout":                        millis(lockTimeout),
		"idle_in_transaction_session_timeout": millis(idleTxTimeout),
		"jit":                                 "off", // questions are short: to compile one takes longer than to answer it
	} {
		if _, said := params[name]; !said {
			params[name] = value
		}
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Open returns the catalog of a namespace in a prepared database. Options that are not set are
// those of Postgres. Close leaves the database open.
func Open(db *sql.DB, ns string, opts sqlcatalog.Options) catalog.Catalog {
	if opts.EnterTx == nil {
		opts.EnterTx = EnterNamespace(ns)
	}
	if opts.Explain == nil {
		opts.Explain = Explain
	}
	if opts.IsRetryable == nil {
		opts.IsRetryable = IsRetryable
	}
	return sqlcatalog.ForNamespace(db, ns, opts)
}

// EnterNamespace starts a transaction for a namespace: with the maintenance role if a
// maintainer asks, otherwise with a role that cannot delete history.
func EnterNamespace(ns string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		role := roleAPI
		if who, said := retake.ActorOf(ctx); said && who.Kind == retake.KeyMaintainer {
			role = roleMaint
		}
		_, err := tx.ExecContext(ctx, sqlEnter, ns, role)
		return err
	}
}

// sqlEnter is a single query, because the server may be far away. Setting "role" this way is
// SET LOCAL ROLE.
const sqlEnter = `SELECT pg_catalog.set_config('retake.ns', $1, true), pg_catalog.set_config('role', $2, true)`
