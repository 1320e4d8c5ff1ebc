package sqlcatalog_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/catalogtest"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/migrate"
)

func memory(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestSuite(t *testing.T) {
	t.Parallel()
	db := memory(t)
	catalogtest.Run(t, func(t *testing.T, ns string) catalog.Catalog {
		t.Helper()
		return open(t, db, ns)
	})
}

func open(t *testing.T, db *sql.DB, ns string) *sqlcatalog.Catalog {
	t.Helper()
	c, err := sqlcatalog.New(t.Context(), db, ns, sqlcatalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rows returns the rows of a query as text.
func rows(t *testing.T, db *sql.DB, query string, args ...any) [][]string {
	t.Helper()
	rs, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	names, err := rs.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for rs.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rs.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = c.String
		}
		all = append(all, row)
	}
	if err := rs.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

const inWorkspace = "(ns=? AND workspace=?)"

// plans are the steps that each query must show.
var plans = map[string][]string{
	"Checkpoint": {"(ns=? AND id=?)"},
	"ByNumber":   {"(ns=? AND workspace=? AND number=?)"},
	"ByPrefix":   {"(ns=? AND id=?)", "COVERING INDEX checkpoint_id (ns=? AND workspace=? AND id>? AND id<?)"},
	"Before":     {"checkpoint_time (ns=? AND workspace=? AND time_us<?)"},
	"Latest":     {inWorkspace},
	"Start":      {"checkpoint_grade (ns=? AND workspace=? AND grade=?)"},
	"Page":       {"(ns=? AND workspace=? AND number<?)"},
	"Page since": {"(ns=? AND workspace=? AND number=?)", "COVERING INDEX checkpoint_time (ns=? AND workspace=? AND time_us>?)"},
	"Tombstones": {inWorkspace},
	"Counts":     {"SEARCH checkpoint USING COVERING INDEX", "SEARCH tombstone USING COVERING INDEX"},
	"Added":      {"(ns=?)"},
	"Workspaces": {"SEARCH w USING INDEX", "SEARCH t USING INDEX"},
	"Pins":       {inWorkspace},
	"Pending":    {"(ns=?)"},
	"known":      {"COVERING INDEX", "(ns=? AND id=?)", "(ns=? AND workspace=? AND number=?)"},
	"buried":     {"COVERING INDEX", "(ns=? AND id=?)"},
	"holder":     {"(ns=? AND workspace=? AND number=?)"},

	"number":                    {"(ns=? AND id=?)"},
	"Gists":                     {"(ns=? AND checkpoint=?)"},
	"Bare":                      {"SEARCH c USING INDEX", inWorkspace, "COVERING INDEX finding_number (ns=? AND workspace=? AND number=? AND v>?)"},
	"ByHead":                    {"COVERING INDEX finding_head (ns=? AND workspace=? AND head>? AND head<?)", "(ns=? AND workspace=? AND number=?)"},
	"Mentions":                  {"fact_name (ns=? AND workspace=? AND name=?)", "(ns=? AND id=?)"},
	"Search":                    {"SEARCH p USING INDEX", inWorkspace, "(ns=? AND id=?)"},
	"Verifications":             {"verification_started " + inWorkspace, "COVERING INDEX", "(ns=? AND id=?)"},
	"Verifications of contents": {"verification_content (ns=? AND workspace=? AND content=?)", "COVERING INDEX", "(ns=? AND id=?)"},
	"WithContent":               {"checkpoint_content (ns=? AND workspace=? AND content=?)"},
	"Readings":                  {"(ns=? AND reader=? AND object=?)"},
	"last reading":              {"COVERING INDEX", "(ns=?)"},
	"trim readings":             {"COVERING INDEX", "(ns=? AND seq<?)"},
	"drop finding":              {"(ns=? AND checkpoint=?)"},
	"drop place":                {"(ns=? AND checkpoint=?)"},
	"drop facts":                {"(ns=? AND checkpoint=?)"},
	"answered":                  {"(ns=? AND id=?)"},
	"drop answers":              {"verification_checkpoint (ns=? AND checkpoint=?)"},
}

// sorting are those that may sort, because they read few rows out of an index
// that has another order.
var sorting = []string{"Page since", "Verifications of contents"}

// TestPlans: no query on rows walks a table, sorts a timeline, or reads rows of
// other workspaces.
func TestPlans(t *testing.T) {
	t.Parallel()
	db := memory(t)
	open(t, db, "a")
	for name, query := range sqlcatalog.Queries {
		plan := explain(t, db, query)
		if len(plans[name]) == 0 {
			t.Errorf("%s: nothing is said about its plan", name)
		}
		for _, part := range plans[name] {
			if !strings.Contains(plan, part) {
				t.Errorf("%s does not use %q:\n%s", name, part, plan)
			}
		}
		if sorts := strings.Contains(plan, "TEMP B-TREE FOR ORDER BY"); strings.Contains(plan, "SCAN") || sorts && !slices.Contains(sorting, name) {
			t.Errorf("%s walks or sorts:\n%s", name, plan)
		}
	}
}

func explain(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var args []any
	for i := 1; i <= 9; i++ {
		if strings.Contains(query, "$"+string(rune('0'+i))) {
			args = append(args, "1")
		}
	}
	var steps []string
	for _, row := range rows(t, db, "EXPLAIN QUERY PLAN "+query, args...) {
		steps = append(steps, row[3])
	}
	return strings.Replace(strings.Join(steps, "\n"), "SCAN CONSTANT ROW", "", 1) // a SELECT without FROM
}

// TestTables holds every table against Q1, and its key against the namespace.
func TestTables(t *testing.T) {
	t.Parallel()
	db := memory(t)
	open(t, db, "a")
	tables := rows(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'catalog_version'")
	if len(tables) != 14 {
		t.Errorf("there are %d tables: %v", len(tables), tables)
	}
	var names [][]string
	for _, table := range sqlcatalog.Tables() {
		names = append(names, []string{table.Name})
		if !table.Tenant || table.Sealed {
			t.Errorf("%+v", table)
		}
	}
	slices.SortFunc(names, slices.Compare)
	slices.SortFunc(tables, slices.Compare)
	wantEqual(t, "tables that are told", names, tables)
	for _, table := range tables {
		for _, col := range rows(t, db, "SELECT name, type, \"notnull\", pk FROM pragma_table_info($1)", table[0]) {
			name, kind, notNull, key := col[0], col[1], col[2], col[3]
			if !slices.Contains([]string{"TEXT", "BIGINT", "BYTEA"}, kind) || notNull != "1" {
				t.Errorf("%s.%s is %s, not null %s", table[0], name, kind, notNull)
			}
			if (name == "ns") != (key == "1") {
				t.Errorf("%s.%s is part %s of the key", table[0], name, key)
			}
		}
	}
}

func TestNewerCatalog(t *testing.T) {
	t.Parallel()
	db := memory(t)
	open(t, db, "a")
	if _, err := db.ExecContext(t.Context(), "INSERT INTO catalog_version (version) VALUES ($1)", len(sqlcatalog.Migrations)+1); err != nil {
		t.Fatal(err)
	}
	_, err := sqlcatalog.New(t.Context(), db, "a", sqlcatalog.Options{})
	if !errors.Is(err, migrate.ErrNewer) || !strings.HasPrefix(err.Error(), "open catalog: ") {
		t.Fatalf("got error %v", err)
	}
}

// TestHalfMigration: a migration that breaks leaves nothing of itself.
func TestHalfMigration(t *testing.T) {
	t.Parallel()
	db := memory(t)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE mark (x TEXT)"); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlcatalog.New(t.Context(), db, "a", sqlcatalog.Options{}); err == nil {
		t.Fatal("a table that is in the way is no error")
	}
	left := rows(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	if len(left) != 2 || left[0][0] != "catalog_version" || left[1][0] != "mark" {
		t.Fatalf("left tables %v", left)
	}
	if _, err := db.ExecContext(t.Context(), "DROP TABLE mark"); err != nil {
		t.Fatal(err)
	}
	open(t, db, "a")
}
