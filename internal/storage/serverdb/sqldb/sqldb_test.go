package sqldb_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/serverdbtest"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

func wantNoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func database(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{})
	wantNoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func open(t testing.TB, db *sql.DB, opts sqldb.Options) *sqldb.Ledger {
	t.Helper()
	l, err := sqldb.New(t.Context(), db, opts)
	wantNoError(t, err)
	return l
}

func TestSuiteOnFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.db")
	serverdbtest.Run(t, func(t *testing.T) serverdb.Ledger {
		t.Helper()
		return open(t, database(t, path), sqldb.Options{Explain: sqlite.Explain(path)})
	})
}

func TestSuiteInMemory(t *testing.T) {
	t.Parallel()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	wantNoError(t, err)
	t.Cleanup(func() { wantNoError(t, db.Close()) })
	serverdbtest.Run(t, func(t *testing.T) serverdb.Ledger {
		t.Helper()
		return open(t, db, sqldb.Options{})
	})
}
