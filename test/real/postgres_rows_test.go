//go:build postgres

package real_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/test/real"
)

// column is one that no key holds, for every table.
var column = map[string]string{
	"checkpoint": "intent", "tombstone": "body", "writer": "notices", "workspace": "name", "pin": "body", "outbox": "topic",
	"mark": "value", "finding": "v", "fact": "kind", "place": "folded", "verification": "output", "reading": "body", "tally": "live", "brought": "bytes",
}

// entered runs a text as somebody in a namespace and answers how many rows it touched.
// Nothing of it stays.
func entered(ctx context.Context, db *sql.DB, ns, text string) (n int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	if err := postgres.EnterNamespace(ns)(ctx, tx); err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, text)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// TestNobodyEntered: without a namespace every statement on every table is an error, for
// the owner too, on a new connection and on one that was used.
func TestNobodyEntered(t *testing.T) {
	t.Parallel()
	db, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	fill(t, postgres.Open(db, "a", sqlcatalog.Options{}))
	fresh := pool(t, dsn, 2)
	for _, table := range sqlcatalog.Tables() {
		col := column[table.Name]
		for name, db := range map[string]*sql.DB{"used": db, "fresh": fresh} {
			for _, text := range []string{
				"SELECT * FROM " + table.Name, "SELECT COUNT(*) FROM " + table.Name, "DELETE FROM " + table.Name,
				"SELECT * FROM " + table.Name + " WHERE ns = 'a'", "UPDATE " + table.Name + " SET " + col + " = " + col,
			} {
				_, err := db.ExecContext(t.Context(), text)
				if err == nil || !strings.Contains(err.Error(), "no namespace was entered") {
					t.Errorf("%s, %s connection: %v", text, name, err)
				}
			}
		}
		if _, err := entered(t.Context(), db, "", "SELECT * FROM "+table.Name); err == nil {
			t.Errorf("%s: the empty namespace was entered", table.Name)
		}
	}
	for _, ns := range []string{"''", "'a'"} {
		if _, err := fresh.ExecContext(t.Context(), "INSERT INTO mark VALUES ("+ns+", 'k2', 'v')"); err == nil {
			t.Errorf("a row was added to %s without a namespace", ns)
		}
	}
}

// TestOthersRows: in another namespace no row can be seen, changed, deleted, added or
// brought along, in any table.
func TestOthersRows(t *testing.T) {
	t.Parallel()
	db, _ := prepared(t, real.StartPostgres(t, real.Careless))
	fill(t, postgres.Open(db, "a", sqlcatalog.Options{}))
	maint := asMaintainer(t.Context())
	for _, table := range sqlcatalog.Tables() {
		name := table.Name
		all := "SELECT * FROM " + name
		touch := "UPDATE " + name + " SET " + column[name] + " = " + column[name]
		if n, err := entered(t.Context(), db, "a", all); err != nil || n == 0 {
			t.Errorf("%s: %d own rows: %v", name, n, err)
		}
		for _, text := range []string{all, all + " WHERE ns = 'a'", all + " WHERE ns <> 'b'"} {
			if n, err := entered(t.Context(), db, "b", text); err != nil || n != 0 {
				t.Errorf("%s: %d rows: %v", text, n, err)
			}
		}
		if n, err := entered(maint, db, "b", "DELETE FROM "+name); err != nil || n != 0 {
			t.Errorf("%s: %d rows of another deleted: %v", name, n, err)
		}
		if n, err := entered(maint, db, "a", "DELETE FROM "+name); err != nil || n == 0 {
			t.Errorf("%s: %d own rows deleted: %v", name, n, err)
		}
		if !table.History {
			if n, err := entered(t.Context(), db, "b", touch); err != nil || n != 0 {
				t.Errorf("%s: %d rows: %v", touch, n, err)
			}
			refused(t, db, "UPDATE "+name+" SET ns = 'b'", "violates row-level security policy")
		}
		// The own rows again, under another's name.
		refused(t, db, fmt.Sprintf(`INSERT INTO %[1]s SELECT (jsonb_populate_record(NULL::%[1]s, to_jsonb(x) || '{"ns":"b"}')).* FROM %[1]s x`, name), "violates row-level security policy")
	}
}

// refused wants a text to fail in namespace a.
func refused(t *testing.T, db *sql.DB, text, why string) {
	t.Helper()
	if _, err := entered(t.Context(), db, "a", text); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v", text, err)
	}
}

// TestHistoryOnlyGrows: who adds to history has no right to change or delete it, and
// nobody has a right to change it.
func TestHistoryOnlyGrows(t *testing.T) {
	t.Parallel()
	db, _ := prepared(t, real.StartPostgres(t, real.Careless))
	fill(t, postgres.Open(db, "a", sqlcatalog.Options{}))
	for _, table := range sqlcatalog.Tables() {
		name := table.Name
		touch := "UPDATE " + name + " SET " + column[name] + " = " + column[name]
		refused(t, db, "TRUNCATE "+name, "permission denied")
		refused(t, db, "DROP TABLE "+name, "must be owner")
		refused(t, db, "ALTER TABLE "+name+" DISABLE ROW LEVEL SECURITY", "must be owner")
		if !table.History {
			if n, err := entered(t.Context(), db, "a", touch); err != nil || n == 0 {
				t.Errorf("%s: %d rows: %v", touch, n, err)
			}
			continue
		}
		refused(t, db, "DELETE FROM "+name, "permission denied")
		refused(t, db, touch, "permission denied")
		if _, err := entered(asMaintainer(t.Context()), db, "a", touch); err == nil {
			t.Errorf("maintenance changes %s", name)
		}
	}
}

// TestWithoutPolicies is the control: without the guard on rows those of others are seen,
// so that it is the guard that hides them.
func TestWithoutPolicies(t *testing.T) {
	t.Parallel()
	db, _ := prepared(t, real.StartPostgres(t, real.Careless))
	fill(t, postgres.Open(db, "a", sqlcatalog.Options{}))
	for _, table := range sqlcatalog.Tables() {
		_, err := db.ExecContext(t.Context(), "ALTER TABLE "+table.Name+" DISABLE ROW LEVEL SECURITY")
		ok(t, err)
		if n, err := seen(t, db, "b", table.Name); err != nil || n == 0 {
			t.Errorf("%s: %d rows of another are seen: %v", table.Name, n, err)
		}
	}
	ok(t, postgres.Prepare(t.Context(), db, nil))
	for _, table := range sqlcatalog.Tables() {
		if n, err := seen(t, db, "b", table.Name); err != nil || n != 0 {
			t.Errorf("%s: %d rows of another are seen: %v", table.Name, n, err)
		}
	}
}

// TestPoolForgets: users of many namespaces share few connections, each sees its own
// rows, and what comes back to the pool has neither role nor namespace, also after an
// error, a panic and a caller who gave up.
func TestPoolForgets(t *testing.T) {
	t.Parallel()
	_, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	db := pool(t, dsn, 2)
	var g errgroup.Group
	for u := range 8 {
		ns := fmt.Sprintf("ns%d", u)
		c := postgres.Open(db, ns, sqlcatalog.Options{})
		g.Go(func() error {
			for n := 1; n <= 20; n++ {
				cp := checkpoint(n)
				cp.Intent = ns
				if err := c.Append(t.Context(), cp); err != nil {
					return err
				}
				all, err := c.Page(t.Context(), retake.LogQuery{Workspace: "w"})
				if err != nil || len(all) != n {
					return fmt.Errorf("%s sees %d of %d: %w", ns, len(all), n, err)
				}
				for _, cp := range all {
					if cp.Intent != ns {
						return fmt.Errorf("%s sees a row of %s", ns, cp.Intent)
					}
				}
			}
			return nil
		})
	}
	ok(t, g.Wait())
	broken := func(f func(tx *sql.Tx)) {
		defer func() { _ = recover() }()
		_ = migrate.Tx(t.Context(), db, nil, func(tx *sql.Tx) error {
			ok(t, postgres.EnterNamespace("ns1")(t.Context(), tx))
			f(tx)
			return context.Canceled
		})
	}
	broken(func(tx *sql.Tx) { _, _ = tx.ExecContext(t.Context(), "SELECT 1/0") })
	broken(func(*sql.Tx) { panic("in the middle") })
	gone, cancel := context.WithCancel(t.Context())
	broken(func(tx *sql.Tx) { cancel(); _, _ = tx.ExecContext(gone, "SELECT 1") })
	one, err := db.Conn(t.Context())
	ok(t, err)
	two, err := db.Conn(t.Context())
	ok(t, err)
	for _, conn := range []*sql.Conn{one, two} {
		var role, ns string
		ok(t, conn.QueryRowContext(t.Context(), "SELECT current_user, COALESCE(current_setting('retake.ns', true), '')").Scan(&role, &ns))
		if role != "retake" || ns != "" {
			t.Errorf("a connection came back as %s in %q", role, ns)
		}
		ok(t, conn.Close())
	}
}
