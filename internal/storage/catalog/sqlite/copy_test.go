package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

// A copy has what the database had at one moment, though others write to it, and is for its owner
// only. It replaces nothing.
func TestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sqlite.OpenDB(t.Context(), filepath.Join(dir, "x.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE pair (a BIGINT, b BIGINT)"); err != nil {
		t.Fatal(err)
	}
	var all errgroup.Group
	for range 2 {
		all.Go(func() error {
			for i := range 50 {
				if _, err := db.ExecContext(t.Context(), "INSERT INTO pair VALUES ($1, $2), ($3, $4)", i, i, -i, -i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	to := filepath.Join(dir, "copy.db")
	if err := sqlite.Copy(t.Context(), db, to); err != nil {
		t.Fatal(err)
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(to); err != nil || i.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", i, err)
	}
	if err := sqlite.Copy(t.Context(), db, to); err == nil {
		t.Error("a copy is replaced")
	}
	copied, err := sqlite.OpenDB(t.Context(), to, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	var rows, sum int
	if err := copied.QueryRowContext(t.Context(), "SELECT COUNT(*), COALESCE(SUM(a), 0) FROM pair").Scan(&rows, &sum); err != nil || rows%2 != 0 || sum != 0 {
		t.Errorf("%d rows with sum %d: %v", rows, sum, err)
	}
}
