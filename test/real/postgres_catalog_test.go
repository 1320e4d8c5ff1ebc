//go:build postgres

package real_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/catalogtest"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/test/real"
)

// pool opens a database with the program's own settings.
func pool(t testing.TB, dsn string, conns int) *sql.DB {
	t.Helper()
	db, err := postgres.OpenDB(t.Context(), dsn, postgres.Options{MaxConns: conns})
	ok(t, err)
	t.Cleanup(func() { ok(t, db.Close()) })
	return db
}

// prepared answers a new database that is ready for catalogs.
func prepared(t testing.TB, c real.Cluster) (db *sql.DB, dsn string) {
	t.Helper()
	dsn = c.Database(t)
	db = pool(t, dsn, 0)
	ok(t, postgres.Prepare(t.Context(), db, nil))
	return db, dsn
}

func asMaintainer(ctx context.Context) context.Context {
	return retake.WithActor(ctx, retake.Actor{Kind: retake.KeyMaintainer})
}

// kept is a catalog whose two methods that take from history run as maintenance, and
// all others as who cannot.
type kept struct{ catalog.Catalog }

func (k kept) Bury(ctx context.Context, ws retake.WorkspaceID, stones []retake.Tombstone) error {
	return k.Catalog.Bury(asMaintainer(ctx), ws, stones)
}

func (k kept) Reset(ctx context.Context) error { return k.Catalog.Reset(asMaintainer(ctx)) }

// TestCatalogOnPostgres is the whole suite, on two pools in turn, as two servers have
// them.
func TestCatalogOnPostgres(t *testing.T) {
	t.Parallel()
	db, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	pools := []*sql.DB{db, pool(t, dsn, 4)}
	var opened atomic.Int64
	catalogtest.Run(t, func(t *testing.T, ns string) catalog.Catalog {
		t.Helper()
		return kept{postgres.Open(pools[opened.Add(1)%2], ns, sqlcatalog.Options{})}
	})
}

func checkpoint(n int) retake.Checkpoint {
	return retake.Checkpoint{
		ID: retake.CheckpointID(fmt.Sprintf("cp_%d", n)), Workspace: "w", Number: int64(n), Content: "c0ffee",
		Time: time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC), Coverage: retake.Coverage{Grade: retake.Complete},
	}
}

// fill puts a row into every table of a namespace.
func fill(t testing.TB, c catalog.Catalog) {
	t.Helper()
	ctx := t.Context()
	ok(t, c.PutWorkspace(ctx, retake.Workspace{ID: "w", Name: "n", Root: "/r"}))
	ok(t, c.Append(ctx, checkpoint(1)))
	ok(t, c.Append(ctx, checkpoint(2)))
	ok(t, c.Bury(asMaintainer(ctx), "w", []retake.Tombstone{{ID: "cp_1", Number: 1}}))
	ok(t, c.SetPins(ctx, "w", []retake.Pin{{Name: "p", Checkpoint: "cp_2", Number: 2}}))
	ok(t, c.SetMark(ctx, "k", "v"))
	ok(t, c.PutNotes(ctx, catalog.Notes{
		Workspace: "w", Checkpoint: "cp_2", Facts: []retake.Fact{{Name: "x"}}, Words: []catalog.Place{{Where: "path", Text: "x"}},
	}))
	ok(t, c.PutVerification(ctx, retake.Verification{ID: "vf_1", Workspace: "w", Checkpoint: "cp_2", Verdict: retake.Passed}))
	ok(t, c.PutReadings(ctx, map[catalog.ReadingKey][]byte{{Object: "o", Reader: "r"}: {1}}))
}

func isKind(t testing.TB, err error, kind retake.ErrorKind) {
	t.Helper()
	if !retake.IsKind(err, kind) {
		t.Errorf("got error %v, want kind %s", err, kind)
	}
}

// TestBuryNeedsMaintenance: whoever adds to history cannot take from it, and after the
// attempt everything is as before.
func TestBuryNeedsMaintenance(t *testing.T) {
	t.Parallel()
	db, _ := prepared(t, real.StartPostgres(t, real.Careless))
	c := postgres.Open(db, "a", sqlcatalog.Options{})
	fill(t, c)
	stones := []retake.Tombstone{{ID: "cp_2", Number: 2}}
	for _, kind := range append(retake.KeyKinds, "", "other") {
		if kind == retake.KeyMaintainer {
			continue
		}
		ctx := retake.WithActor(t.Context(), retake.Actor{Kind: kind})
		if kind == "" {
			ctx = t.Context()
		}
		isKind(t, c.Bury(ctx, "w", stones), retake.Denied)
		isKind(t, c.Reset(ctx), retake.Denied)
	}
	_, err := c.Checkpoint(t.Context(), "cp_2")
	ok(t, err)
	ok(t, c.Bury(asMaintainer(t.Context()), "w", stones))
	_, err = c.Checkpoint(t.Context(), "cp_2")
	if !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("got error %v", err)
	}
	ok(t, c.Reset(asMaintainer(t.Context())))
}

// TestPreparedTogether: pools that prepare at once all succeed, on a server that has no
// roles yet, in one database and in another.
func TestPreparedTogether(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t, real.Careless, "cluster_name=together")
	var g errgroup.Group
	for range 3 {
		dsn := c.Database(t)
		for range 4 {
			db := pool(t, dsn, 2)
			g.Go(func() error {
				if err := postgres.Prepare(t.Context(), db, nil); err != nil {
					return err
				}
				return postgres.Open(db, "a", sqlcatalog.Options{}).Append(t.Context(), checkpoint(1))
			})
		}
	}
	ok(t, g.Wait())
}

// TestPrepareWithoutRights: who may not make roles is told what to do, and who is a
// member of them needs no more.
func TestPrepareWithoutRights(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t, real.Careless, "cluster_name=rights")
	for _, text := range []string{"CREATE ROLE low LOGIN", "CREATE DATABASE low OWNER low"} {
		ok(t, c.Run("postgres", "postgres", text))
	}
	db := pool(t, c.DSN("low", "low"), 0)
	err := postgres.Prepare(t.Context(), db, nil)
	isKind(t, err, retake.Denied)
	if hint := retake.AsError(err).Hint; !strings.Contains(hint, "a member of both") {
		t.Errorf("hint %q", hint)
	}
	ok(t, c.Run("postgres", "postgres", "CREATE ROLE retake_api; CREATE ROLE retake_maint; GRANT retake_api, retake_maint TO low"))
	ok(t, postgres.Prepare(t.Context(), db, nil))
	fill(t, postgres.Open(db, "a", sqlcatalog.Options{}))
}

// TestPrepareAgain: where all is in place a server waits for nobody, and what is missing
// is mended.
func TestPrepareAgain(t *testing.T) {
	t.Parallel()
	db, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	fill(t, postgres.Open(db, "a", sqlcatalog.Options{}))
	tx, err := db.BeginTx(t.Context(), nil)
	ok(t, err)
	ok(t, postgres.EnterNamespace("a")(t.Context(), tx))
	_, err = tx.ExecContext(t.Context(), "UPDATE mark SET value = 'w'")
	ok(t, err)
	hasty := pool(t, dsn+"&lock_timeout=50", 2)
	ok(t, postgres.Prepare(t.Context(), hasty, nil))
	ok(t, tx.Rollback())

	for _, harm := range []string{
		"ALTER TABLE mark DISABLE ROW LEVEL SECURITY", "ALTER TABLE mark NO FORCE ROW LEVEL SECURITY",
		"CREATE POLICY wide ON mark USING (true)", "ALTER POLICY retake_ns ON mark USING (true)",
		"DROP POLICY retake_ns ON mark; CREATE POLICY retake_ns ON mark USING (true)",
		"CREATE OR REPLACE FUNCTION retake_ns() RETURNS text LANGUAGE sql AS $$ SELECT 'a' $$",
	} {
		_, err := db.ExecContext(t.Context(), harm)
		ok(t, err)
		if n, err := seen(t, db, "b", "mark"); err == nil && n == 0 && !strings.Contains(harm, "NO FORCE") {
			t.Errorf("%s: no harm was done", harm)
		}
		ok(t, postgres.Prepare(t.Context(), hasty, nil))
		if n, err := seen(t, db, "b", "mark"); err != nil || n != 0 {
			t.Errorf("%s: %d rows of another are seen: %v", harm, n, err)
		}
		if _, err := db.ExecContext(t.Context(), "SELECT * FROM mark"); err == nil {
			t.Errorf("%s: the owner sees rows without a namespace", harm)
		}
	}
}

// seen counts the rows of a table as who cannot delete history sees them.
func seen(t testing.TB, db *sql.DB, ns, table string) (n int, err error) {
	t.Helper()
	return n, migrate.Tx(t.Context(), db, nil, func(tx *sql.Tx) error {
		if err := postgres.EnterNamespace(ns)(t.Context(), tx); err != nil {
			return err
		}
		return tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n)
	})
}

// TestMoreTables: tables of others are made first, and guarded by what is said of them.
func TestMoreTables(t *testing.T) {
	t.Parallel()
	db := pool(t, real.StartPostgres(t, real.Careless).Database(t), 0)
	up := migrate.Schema{Table: "more_version", Steps: [][]string{{
		"CREATE TABLE sealed (ns TEXT, x TEXT)", "CREATE TABLE shared (x TEXT)", "CREATE TABLE past (ns TEXT, x TEXT)",
	}}}
	tables := []migrate.Table{{Name: "sealed", Tenant: true, Sealed: true}, {Name: "shared"}, {Name: "past", Tenant: true, History: true}}
	ok(t, postgres.Prepare(t.Context(), db, tables, up))
	for _, x := range []struct {
		text       string
		api, maint bool
	}{
		{"INSERT INTO sealed VALUES ('a', '')", true, true}, {"INSERT INTO sealed VALUES ('b', '')", false, false},
		{"UPDATE sealed SET x = ''", false, false}, {"DELETE FROM sealed", false, false}, {"TRUNCATE sealed", false, false},
		{"UPDATE shared SET x = ''", true, true}, {"DELETE FROM shared", true, true}, {"TRUNCATE shared", false, false},
		{"DELETE FROM past", false, true}, {"UPDATE past SET x = ''", false, false}, {"SELECT * FROM past", true, true},
		{"DROP TABLE shared", false, false}, {"SELECT * FROM more_version", false, false},
	} {
		for ctx, may := range map[context.Context]bool{t.Context(): x.api, asMaintainer(t.Context()): x.maint} {
			err := migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
				if err := postgres.EnterNamespace("a")(ctx, tx); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, x.text)
				return err
			})
			if (err == nil) != may {
				t.Errorf("%s: %v, want allowed %v", x.text, err, may)
			}
			if !may {
				isKind(t, postgres.Explain(err), retake.Denied)
			}
		}
	}
	err := postgres.Prepare(t.Context(), db, []migrate.Table{{Name: "nowhere"}})
	if err == nil || !strings.Contains(err.Error(), "guard table nowhere: there is no such table") {
		t.Errorf("got error %v", err)
	}
}

// TestOrder: a database that orders text by a language is refused before anything is
// made in it.
func TestOrder(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t, real.Careless)
	ok(t, c.Run("postgres", "postgres", "CREATE DATABASE words OWNER retake TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"))
	db := pool(t, c.DSN("retake", "words"), 0)
	if err := postgres.Prepare(t.Context(), db, nil); !errors.Is(err, migrate.ErrOrder) {
		t.Errorf("got error %v", err)
	}
	var n int
	ok(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n))
	if n != 0 {
		t.Errorf("%d tables were made", n)
	}
}
