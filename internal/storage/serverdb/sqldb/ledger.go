// Package sqldb holds the rows of a server in an SQL database, with one text of SQL
// for every database that has transactions and RETURNING.
//
// It speaks database/sql and nothing else: it opens no file, knows no driver and never
// closes the database it was given. A row keeps its value as JSON; columns are for queries.
//
//	D1  Only TEXT, BIGINT, BYTEA and BOOLEAN; placeholders first appear in rising order.
//	D2  Enter comes first in every transaction, and again before rows of another namespace. Tables
//	    that belong to no namespace, such as the queue, are used by single statements without one.
//	D3  An act locks the head of its audit log first, and adds its entry last.
//	D4  Rows that one transaction locks beside that are locked in the order of their keys.
//	D5  Numbers of entries, events and messages rise in the order of commits.
//	D6  Times are compared in whole microseconds.
package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Ledger holds the rows of all namespaces.
type Ledger struct {
	db         *sql.DB
	enter      func(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID) error
	clock      clock.Clock
	explain    func(error) error
	skipLocked string
}

var _ serverdb.Ledger = (*Ledger)(nil)

// Options configure a ledger.
type Options struct {
	// Enter is called first in every transaction, with no namespace for what crosses them.
	Enter func(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID) error
	// Clock is the time of entries and messages; nil is the wall clock.
	Clock clock.Clock
	// Explain turns errors of the driver into errors for users; nil leaves them unchanged.
	Explain func(error) error
	// SkipLocked ends a query that locks the rows it picks and skips those that others have locked,
	// if the database has that. Without it writers must be one after another, as in SQLite.
	SkipLocked string
}

// New migrates the tables of db and returns its ledger. Transactions of db must be able to
// write from their beginning: in SQLite they must be immediate.
func New(ctx context.Context, db *sql.DB, opts Options) (*Ledger, error) {
	l := &Ledger{db: db, enter: opts.Enter, clock: opts.Clock, explain: opts.Explain, skipLocked: opts.SkipLocked}
	if l.enter == nil {
		l.enter = func(context.Context, *sql.Tx, retake.NamespaceID) error { return nil }
	}
	if l.clock == nil {
		l.clock = clock.Wall
	}
	if l.explain == nil {
		l.explain = func(err error) error { return err }
	}
	if err := Migrate(ctx, db); err != nil {
		return nil, l.wrapError("open ledger", err)
	}
	return l, nil
}

// Migrate only migrates the tables, for the owner of a database whose users may not create
// tables.
func Migrate(ctx context.Context, db *sql.DB) error {
	return migrate.Apply(ctx, db, Schema())
}

// Schema returns the migrations of the tables.
func Schema() migrate.Schema { return migrate.Schema{Table: VersionTable, Steps: migrations} }

// Close leaves the database open; its owner closes it.
func (l *Ledger) Close() error { return nil }

// Book returns the rows of one namespace.
func (l *Ledger) Book(ns retake.NamespaceID) serverdb.Book { return &Book{l: l, ns: ns} }

// Book holds the rows of one namespace.
type Book struct {
	l  *Ledger
	ns retake.NamespaceID
}

var _ serverdb.Book = (*Book)(nil)

// wrapError explains err and adds what was being done; nil stays nil.
func (l *Ledger) wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, l.explain(err))
}

// allNamespaces is passed for rows that belong to no single namespace.
const allNamespaces retake.NamespaceID = ""

// inWriteTx runs f in one transaction.
func (l *Ledger) inWriteTx(ctx context.Context, ns retake.NamespaceID, doing string, f func(tx *sql.Tx) error) error {
	return l.wrapError(doing, migrate.Tx(ctx, l.db, nil, l.withNamespace(ctx, ns, f)))
}

// inReadTx runs f in a transaction that sees one consistent state and waits for no writer.
func (l *Ledger) inReadTx(ctx context.Context, ns retake.NamespaceID, doing string, f func(tx *sql.Tx) error) error {
	checkpoint := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return l.wrapError(doing, migrate.Tx(ctx, l.db, checkpoint, l.withNamespace(ctx, ns, f)))
}

func (l *Ledger) withNamespace(ctx context.Context, ns retake.NamespaceID, f func(tx *sql.Tx) error) func(tx *sql.Tx) error {
	return func(tx *sql.Tx) error {
		if err := l.enter(ctx, tx, ns); err != nil {
			return fmt.Errorf("enter namespace: %w", err)
		}
		return f(tx)
	}
}

// sanitizeText makes text fit for a TEXT column: not every database accepts NUL or invalid
// UTF-8.
func sanitizeText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
