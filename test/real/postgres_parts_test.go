//go:build postgres

package real_test

import (
	"database/sql"
	"testing"

	"github.com/retake-dev/retake/test/real"
)

// TestCluster: databases are empty, apart, of a role that cannot see around policies, and
// order text by its bytes.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t)
	for range 2 {
		db, err := sql.Open("pgx", c.Database(t))
		ok(t, err)
		var super, bypass, ordered bool
		var sync string
		ok(t, db.QueryRowContext(t.Context(), `SELECT rolsuper, rolbypassrls, 'Z' < 'a', current_setting('fsync')
			FROM pg_roles WHERE rolname = current_user`).Scan(&super, &bypass, &ordered, &sync))
		if super || bypass || !ordered || sync != "on" {
			t.Errorf("super %v, bypass %v, ordered %v, fsync %s", super, bypass, ordered, sync)
		}
		_, err = db.ExecContext(t.Context(), "CREATE TABLE here (x TEXT)")
		ok(t, err)
		ok(t, db.Close())
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
