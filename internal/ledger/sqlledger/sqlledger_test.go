package sqlledger_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/catalog/sqlite"
	"github.com/retake-dev/retake/internal/ledger"
	"github.com/retake-dev/retake/internal/ledger/ledgertest"
	"github.com/retake-dev/retake/internal/ledger/sqlledger"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func database(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sqlite.DB(t.Context(), path, sqlite.Options{})
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func open(t testing.TB, db *sql.DB, opts sqlledger.Options) *sqlledger.Ledger {
	t.Helper()
	l, err := sqlledger.New(t.Context(), db, opts)
	ok(t, err)
	return l
}

func TestSuiteOnFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.db")
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		t.Helper()
		return open(t, database(t, path), sqlledger.Options{Explain: sqlite.Explain(path)})
	})
}

func TestSuiteInMemory(t *testing.T) {
	t.Parallel()
	db, err := sqlite.DB(t.Context(), sqlite.Memory, sqlite.Options{})
	ok(t, err)
	t.Cleanup(func() { ok(t, db.Close()) })
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		t.Helper()
		return open(t, db, sqlledger.Options{})
	})
}
