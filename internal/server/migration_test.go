package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// inDatabase opens a database that no server has open.
func inDatabase(t *testing.T, path string, f func(db *sql.DB)) {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{Durable: true})
	must(t, err)
	f(db)
	must(t, db.Close())
}

func execute(t *testing.T, db *sql.DB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		_, err := db.ExecContext(t.Context(), text)
		must(t, err)
	}
}

// newestTables is the version of all tables together.
var newestTables = sqlcatalog.Schema().Version() + sqldb.Schema().Version()

// copyOf returns where the copy from before a migration is.
func copyOf(data string, version int) string {
	return filepath.Join(data, fmt.Sprintf("server.db.before-v%d", version))
}

// makeOlder gives a database the tables of the release before: what its last migration made is gone.
func makeOlder(t *testing.T, data string) {
	t.Helper()
	inDatabase(t, filepath.Join(data, "server.db"), func(db *sql.DB) {
		execute(t, db, "DROP TABLE ended_session", "DELETE FROM ledger_version WHERE version = 3")
	})
}

func hasTable(t *testing.T, path, name string) bool {
	t.Helper()
	n := 0
	inDatabase(t, path, func(db *sql.DB) {
		must(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sqlite_master WHERE name = $1", name).Scan(&n))
	})
	return n > 0
}

// Before a migration the database is copied as it is; the copy before that goes. Without a migration
// nothing is copied.
func TestCopyBeforeMigration(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	logged := func(o *server.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }
	b := newTestServer(t, "", logged)
	b.writeFile("a", "1")
	saved := b.saveCheckpoint("first")
	b.stop()
	if all, _ := filepath.Glob(filepath.Join(b.data, "server.db.before*")); len(all) > 0 || strings.Contains(log.String(), "migrate") {
		t.Fatalf("a new database is migrated: %v %s", all, log.String())
	}
	makeOlder(t, b.data)
	old, now := copyOf(b.data, newestTables-1), copyOf(b.data, newestTables)
	must(t, os.WriteFile(old, nil, 0o600))
	b.start("", logged)
	if !strings.Contains(log.String(), fmt.Sprintf(`msg="migrate the tables of the database" from=%d to=%d`, newestTables-1, newestTables)) {
		t.Errorf("the log says %s", log.String())
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy of the migration before: %v", err)
	}
	found, err := b.clientAs(retake.KeyReader).Find(t.Context(), b.initial.Namespace.Default, "latest")
	if err != nil || found.ID != saved.ID {
		t.Errorf("after the migration: %+v %v", found, err)
	}
	b.stop()
	if i, err := os.Stat(now); err != nil || i.Mode().Perm() != 0o600 {
		t.Fatalf("the copy: %v %v", i, err)
	}
	if !hasTable(t, filepath.Join(b.data, "server.db"), "ended_session") || hasTable(t, now, "ended_session") || !hasTable(t, now, "checkpoint") {
		t.Error("the copy is not of the older tables")
	}
	must(t, os.Rename(now, filepath.Join(b.data, "server.db"))) // as the page says to go back
	b.start("", logged)
	if found, err := b.clientAs(retake.KeyReader).Find(t.Context(), b.initial.Namespace.Default, "latest"); err != nil || found.ID != saved.ID {
		t.Errorf("from the copy: %+v %v", found, err)
	}
}

// A database that cannot be copied is not migrated.
func TestNoMigrationWithoutCopy(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.stop()
	makeOlder(t, b.data)
	inTheWay := copyOf(b.data, newestTables)
	must(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	srv, err := server.Open(t.Context(), testOptions(b.data))
	if srv != nil {
		must(t, srv.Close())
	}
	if !retake.IsKind(err, retake.Limit) || !strings.Contains(err.Error(), inTheWay) {
		t.Fatalf("opened: %v", err)
	}
	if hasTable(t, filepath.Join(b.data, "server.db"), "ended_session") {
		t.Error("it is migrated all the same")
	}
	if all, _ := filepath.Glob(inTheWay + ".*"); len(all) > 0 {
		t.Errorf("it left %v", all)
	}
	must(t, os.RemoveAll(inTheWay))
	b.start("", nil)
	if res, _ := b.sendRequest("GET", "/v1/namespace", b.keySecret(retake.KeyReader), "", nil); res.StatusCode != 200 {
		t.Errorf("with room for a copy: %d", res.StatusCode)
	}
}

// A server of this release starts and works on the tables of the next one, which only adds to them,
// and is refused by those of the one after it, which takes away what this one uses.
func TestNewerTables(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	b.saveCheckpoint("first")
	b.stop()
	path, next := filepath.Join(b.data, "server.db"), sqldb.Schema()
	next.Steps = append(next.Steps[:len(next.Steps):len(next.Steps)], []string{"ALTER TABLE namespace ADD COLUMN next_release BIGINT NOT NULL DEFAULT 0"})
	inDatabase(t, path, func(db *sql.DB) { must(t, migrate.Apply(t.Context(), db, next)) })
	b.start("", nil)
	b.writeFile("a", "2")
	b.saveCheckpoint("on newer tables")
	if _, err := b.srv.AddNamespace(context.Background(), retake.Namespace{ID: "other", Limits: retake.DefaultLimits()}, ""); err != nil {
		t.Error(err)
	}
	b.stop()
	if all, _ := filepath.Glob(path + ".before*"); len(all) > 0 {
		t.Errorf("an older server copied newer tables: %v", all)
	}
	next.Steps = append(next.Steps, []string{"DROP TABLE ended_session"})
	next.MinReader = map[int]int{len(next.Steps): len(next.Steps) - 1}
	inDatabase(t, path, func(db *sql.DB) { must(t, migrate.Apply(t.Context(), db, next)) })
	srv, err := server.Open(t.Context(), testOptions(b.data))
	if srv != nil {
		must(t, srv.Close())
	}
	if !retake.IsKind(err, retake.Denied) || !errors.Is(err, migrate.ErrNewer) || !strings.Contains(err.Error(), "can't use the database") {
		t.Errorf("opened: %v", err)
	}
}

// Servers that start at once migrate once, and the copy is of the tables before.
func TestMigrationTogether(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.stop()
	makeOlder(t, b.data)
	var all errgroup.Group
	servers := make([]*server.Server, 4)
	for i := range servers {
		all.Go(func() (err error) {
			servers[i], err = server.Open(context.WithoutCancel(t.Context()), testOptions(b.data))
			return err
		})
	}
	err := all.Wait()
	for _, s := range servers {
		if s != nil {
			must(t, s.Close())
		}
	}
	must(t, err)
	saved := copyOf(b.data, newestTables)
	if hasTable(t, saved, "ended_session") || !hasTable(t, saved, "namespace") || !hasTable(t, filepath.Join(b.data, "server.db"), "ended_session") {
		t.Error("the copy is not of the older tables")
	}
}
