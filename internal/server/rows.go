package server

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// catalogOpener opens the catalog of a namespace in the server's database.
type catalogOpener func(ctx context.Context, ns retake.NamespaceID) (catalog.Catalog, error)

// openDatabase opens the database, migrates its tables and opens the ledger.
func (s *Server) openDatabase(ctx context.Context) error {
	var err error
	if s.opts.Postgres != "" {
		err = s.openPostgres(ctx)
	} else {
		err = s.openSQLite(ctx)
	}
	err = explainNewer(err)
	if err != nil && s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

func (s *Server) openSQLite(ctx context.Context) error {
	path := filepath.Join(s.opts.DataDir, "server.db")
	db, err := sqlite.OpenDB(ctx, path, sqlite.Options{Durable: true})
	if err != nil {
		return err
	}
	s.db = db
	if err := (migrator{s.db, s.opts.Log}).migrateSQLite(ctx, path); err != nil {
		return err
	}
	l, err := sqldb.New(ctx, db, sqldb.Options{Clock: s.opts.Clock, Explain: sqlite.Explain(path)})
	if err != nil {
		return err
	}
	s.ledger = l
	s.openCatalog = func(ctx context.Context, ns retake.NamespaceID) (catalog.Catalog, error) {
		return sqlcatalog.New(ctx, db, string(ns), sqlcatalog.Options{Explain: sqlite.Explain(path), OnChange: l.OnChange(ns)})
	}
	return nil
}

func (s *Server) openPostgres(ctx context.Context) error {
	db, err := postgres.OpenDB(ctx, s.opts.Postgres, postgres.Options{})
	if err != nil {
		return err
	}
	s.db = db
	prepare := func() error {
		if _, err := (migrator{s.db, s.opts.Log}).announceMigration(ctx); err != nil {
			return postgres.Explain(err)
		}
		if err := postgres.Prepare(ctx, db, sqldb.Tables(), sqldb.Schema()); err != nil {
			return err
		}
		return postgres.AnnounceDue(ctx, db)
	}
	if err := s.claimDatabase(ctx, prepare); err != nil {
		return err
	}
	l, err := sqldb.New(ctx, db, sqldb.Options{
		Clock: s.opts.Clock, Explain: postgres.Explain, SkipLocked: postgres.SkipLocked,
		Enter: func(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID) error {
			return postgres.EnterNamespace(string(ns))(ctx, tx)
		},
	})
	if err != nil {
		return err
	}
	s.ledger = l
	s.listenQueue = func(ctx context.Context, connected func(), note func(string, time.Time)) error {
		return postgres.ListenDue(ctx, s.opts.Postgres, connected, note)
	}
	s.openCatalog = func(_ context.Context, ns retake.NamespaceID) (catalog.Catalog, error) {
		return postgres.Open(db, string(ns), sqlcatalog.Options{OnChange: l.OnChange(ns)}), nil
	}
	return nil
}
