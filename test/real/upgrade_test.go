//go:build postgres && s3

package real_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
	"github.com/retake-dev/retake/test/page"
	"github.com/retake-dev/retake/test/parts"
	"github.com/retake-dev/retake/test/real"
)

// The page about upgrades is true from its first command to its last, with this release and a next
// one whose tables have a column more.
func TestUpgradePage(t *testing.T) {
	blocks, err := page.Read("../../docs/server/upgrade.md", "")
	must(t, err)
	s, o := stage(t)
	next, remove, err := parts.Scratch("")
	must(t, err)
	t.Cleanup(func() { must(t, remove()) })
	program, err := parts.BuildNext(next)
	must(t, err)
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "RETAKE_") })
	s.Env = append(s.Env, "OLD="+o.Program, "NEW="+program, "RETAKE_POSTGRES="+o.Postgres, "ADMIN_POSTGRES="+strings.Replace(o.Postgres, parts.Owner+"@", "postgres@", 1))
	for i := range blocks { // the last part has no database, which the environment would give it
		if strings.Contains(blocks[i].Script, "--data first") {
			blocks[i].Script = "unset RETAKE_POSTGRES\n" + blocks[i].Script
		}
	}
	free := ports(t, 3)
	s.Swap = map[string]string{"7350": free[0], "7351": free[1], "7352": free[2]}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := page.Play(ctx, blocks, s)
	t.Log(out)
	must(t, err)
}

// A server of this release starts and works on tables that the next one has added to, and leaves
// them and their guards as they are. It is refused once something that it uses is gone.
func TestNewerTablesOnPostgres(t *testing.T) {
	dsn := real.StartPostgres(t, real.Careless).Database(t)
	data := shortDir(t)
	open := func() (*server.Server, error) {
		return server.Open(t.Context(), server.Options{
			DataDir: data, ListenAddress: "127.0.0.1:0", Postgres: dsn, Version: "test", Clock: clock.Wall, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Floor: func(int64) int64 { return 0 }, Boot: "this run", Derivation: derivation,
		})
	}
	first, err := open()
	must(t, err)
	defer first.Close() //nolint:errcheck // the test is over
	db, err := postgres.OpenDB(t.Context(), dsn, postgres.Options{})
	must(t, err)
	defer db.Close()
	next, tables := sqldb.Schema(), slices.Clone(sqldb.Tables())
	next.Steps = append(slices.Clone(next.Steps), []string{"ALTER TABLE namespace ADD COLUMN next_release BIGINT NOT NULL DEFAULT 0", "CREATE TABLE next_table (ns TEXT NOT NULL)"})
	i := slices.IndexFunc(tables, func(x migrate.Table) bool { return x.Name == "event" })
	tables[i].Sealed = false // the next release deletes old events
	tables = append(tables, migrate.Table{Name: "next_table", Tenant: true})
	must(t, postgres.Prepare(t.Context(), db, tables, next))
	older, err := open()
	if err != nil {
		t.Fatalf("start beside the next release: %v", err)
	}
	defer older.Close() //nolint:errcheck // the test is over
	for name, s := range map[string]*server.Server{"started-before": first, "started-after": older} {
		if _, err := s.AddNamespace(t.Context(), retake.Namespace{ID: retake.NamespaceID(name), Limits: retake.DefaultLimits()}, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !mayDelete(t, db, "event") {
		t.Error("the older server has taken rights away that the next one gave")
	}
	next.Steps = append(next.Steps, []string{"ALTER TABLE due DROP COLUMN reason"})
	next.MinReader = map[int]int{len(next.Steps): len(next.Steps) - 1}
	must(t, postgres.Prepare(t.Context(), db, tables, next))
	refused, err := open()
	if refused != nil {
		_ = refused.Close()
	}
	if !retake.IsKind(err, retake.Denied) || !strings.Contains(err.Error(), "can't use the database") {
		t.Errorf("start after something was taken away: %v", err)
	}
}

func mayDelete(t *testing.T, db *sql.DB, table string) (may bool) {
	t.Helper()
	must(t, db.QueryRowContext(t.Context(), "SELECT has_table_privilege('retake_api', $1, 'DELETE')", table).Scan(&may))
	return may
}

// A dump by the role of the servers fails, as the page says: it sees no rows.
func TestDumpNeedsAnotherRole(t *testing.T) {
	_, o := stage(t)
	if _, err := o.Admin(t.Context(), "add", "team"); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]bool{parts.Owner: false, "postgres": true} {
		dsn := strings.Replace(o.Postgres, parts.Owner+"@", role+"@", 1)
		err := run(t, "pg_dump", "--file="+filepath.Join(t.TempDir(), "dump"), dsn)
		if (err == nil) != want {
			t.Errorf("a dump by %s: %v", role, err)
		}
	}
}

func run(t *testing.T, name string, args ...string) error {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
