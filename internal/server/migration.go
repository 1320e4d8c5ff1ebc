package server

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// Before a SQLite database is migrated, the server copies it: who has to go back needs the tables as
// they were. A PostgreSQL database is the operator's to copy, so the server only says what it does.

// migrator migrates the tables of a server.
type migrator struct {
	db  *sql.DB
	log *slog.Logger
}

// migration is what has to be done to the tables of a database. Their version is one number for the
// operator: the sum of those of their parts, none of which ever falls.
type migration struct{ from, to int }

// isDue reports whether there are tables, and they are older.
func (m migration) isDue() bool { return m.from > 0 && m.from < m.to }

// findMigration returns what has to be done. Tables that are newer than ours stay as they are.
func (g migrator) findMigration(ctx context.Context) (m migration, err error) {
	for _, schema := range []migrate.Schema{sqlcatalog.Schema(), sqldb.Schema()} {
		v, err := migrate.Current(ctx, g.db, schema)
		if err != nil {
			return m, fmt.Errorf("read the version of the tables: %w", err)
		}
		m.from, m.to = m.from+v, m.to+max(v, schema.Version())
	}
	return m, nil
}

// announceMigration returns what has to be done, and says it to the operator before it is done.
func (g migrator) announceMigration(ctx context.Context) (migration, error) {
	m, err := g.findMigration(ctx)
	if err == nil && m.isDue() {
		g.log.InfoContext(ctx, "migrate the tables of the database", "from", m.from, "to", m.to)
	}
	return m, err
}

// migrateSQLite brings the tables of the database up to date, after it has copied the file. Without
// a copy it does nothing.
func (g migrator) migrateSQLite(ctx context.Context, path string) error {
	m, err := g.announceMigration(ctx)
	if err != nil {
		return sqlite.Explain(path)(err)
	}
	saved := fmt.Sprintf("%s.before-v%d", path, m.to)
	if m.isDue() {
		if err := g.copyBefore(ctx, m, saved); err != nil {
			return &retake.Error{
				Kind: retake.Limit, What: "the database isn't migrated: a copy of it can't be written to " + saved, Safe: "Nothing was changed.",
				Hint: "free up space on that disk, and start the server again\ngo on with the older version until then", Err: err,
			}
		}
	}
	for _, up := range []func() error{func() error { return sqlcatalog.Migrate(ctx, g.db) }, func() error { return sqldb.Migrate(ctx, g.db) }} {
		if err := up(); err != nil {
			return sqlite.Explain(path)(err)
		}
	}
	if m.isDue() {
		g.removeCopies(path, saved)
	}
	return nil
}

// copyBefore writes a durable copy of the database as it is before a migration. Several servers may
// do so at once: each of them copies the same tables.
func (g migrator) copyBefore(ctx context.Context, m migration, to string) error {
	temp := to + "." + rand.Text()
	defer os.Remove(temp) //nolint:errcheck // it has another name by then
	err := sqlite.Copy(ctx, g.db, temp)
	if now, verr := g.findMigration(ctx); verr != nil || now != m { // another server has migrated it, and made a copy before
		return verr
	}
	if err == nil {
		err = sqlite.Rename(temp, to)
	}
	return err
}

// removeCopies removes the copies of earlier migrations. One that stays only takes space.
func (g migrator) removeCopies(path, except string) {
	all, _ := filepath.Glob(path + ".before-v*") // the pattern is valid
	for _, old := range all {
		if old == except {
			continue
		}
		if err := os.Remove(old); err != nil {
			g.log.Warn("remove the copy of an older database", "err", err)
		}
	}
}

// explainNewer turns the error of tables that are too new into one for the operator.
func explainNewer(err error) error {
	if !errors.Is(err, migrate.ErrNewer) {
		return err
	}
	return &retake.Error{
		Kind: retake.Denied, What: "this version can't use the database: a newer one has removed what this one needs", Safe: "Nothing was changed.",
		Hint: "start the newer version, or go back to the copy from before its migration: docs/server/upgrade.md", Err: err,
	}
}
