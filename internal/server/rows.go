package server

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// rows opens the catalog of a namespace in the server's database.
type rows func(ctx context.Context, ns retake.NamespaceID) (catalog.Catalog, error)

// openRows opens the database, brings its tables up to date, and opens the ledger.
func (s *Server) openRows(ctx context.Context) error {
	var err error
	if s.o.Postgres != "" {
		err = s.openPostgres(ctx)
	} else {
		err = s.openSQLite(ctx)
	}
	if err != nil && s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

func (s *Server) openSQLite(ctx context.Context) error {
	path := filepath.Join(s.o.Data, "server.db")
	db, err := sqlite.DB(ctx, path, sqlite.Options{Durable: true})
	if err != nil {
		return err
	}
	s.db = db
	l, err := sqldb.New(ctx, db, sqldb.Options{Clock: s.o.Clock, Explain: sqlite.Explain(path)})
	if err != nil {
		return err
	}
	s.ledger = l
	s.rows = func(ctx context.Context, ns retake.NamespaceID) (catalog.Catalog, error) {
		return sqlcatalog.New(ctx, db, string(ns), sqlcatalog.Options{Explain: sqlite.Explain(path), Within: l.Within(ns)})
	}
	return nil
}

func (s *Server) openPostgres(ctx context.Context) error {
	db, err := postgres.DB(ctx, s.o.Postgres, postgres.Options{})
	if err != nil {
		return err
	}
	s.db = db
	if err := s.claimDatabase(ctx, func() error { return postgres.Prepare(ctx, db, sqldb.Tables(), sqldb.Migrate) }); err != nil {
		return err
	}
	l, err := sqldb.New(ctx, db, sqldb.Options{
		Clock: s.o.Clock, Explain: postgres.Explain,
		Enter: func(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID) error {
			return postgres.Enter(string(ns))(ctx, tx)
		},
	})
	if err != nil {
		return err
	}
	s.ledger = l
	s.rows = func(_ context.Context, ns retake.NamespaceID) (catalog.Catalog, error) {
		return postgres.Open(db, string(ns), sqlcatalog.Options{Within: l.Within(ns)}), nil
	}
	return nil
}
