package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{})
	wantNoError(t, err)
	t.Cleanup(func() { wantNoError(t, db.Close()) })
	return db
}

func wantNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// queryText returns the column of a query.
func queryText(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	wantNoError(t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		wantNoError(t, rows.Scan(&s))
		all = append(all, s)
	}
	wantNoError(t, rows.Err())
	return strings.Join(all, " ")
}

func versions(t *testing.T, db *sql.DB) string {
	t.Helper()
	return queryText(t, db, "SELECT version FROM v ORDER BY version")
}

// steps make a table and count in it how often each of them ran.
func steps(n int) [][]string {
	all := [][]string{{"CREATE TABLE ran (step BIGINT NOT NULL)", "INSERT INTO ran VALUES (1)"}}
	for i := 2; i <= n; i++ {
		all = append(all, []string{fmt.Sprintf("INSERT INTO ran VALUES (%d)", i)})
	}
	return all
}

// of are steps whose version is kept in the table v.
func of(steps [][]string) migrate.Schema { return migrate.Schema{Table: "v", Steps: steps} }

const ran = "SELECT step FROM ran ORDER BY step"

func TestUp(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	for n, want := range []string{"", "1", "1", "1 2 3 4"} {
		if n == 0 {
			wantNoError(t, migrate.Apply(t.Context(), db, of(nil)))
			continue
		}
		for range 2 { // the second time there is nothing to do
			wantNoError(t, migrate.Apply(t.Context(), db, of(steps([]int{0, 1, 1, 4}[n]))))
		}
		if got := queryText(t, db, ran); got != want || versions(t, db) != want {
			t.Errorf("steps %q ran, versions are %q, want %q", got, versions(t, db), want)
		}
	}
}

// TestTwoTables: what one part of a program keeps is no matter of another.
func TestTwoTables(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(3))))
	wantNoError(t, migrate.Apply(t.Context(), db, migrate.Schema{Table: "other", Steps: [][]string{{"INSERT INTO ran VALUES (9)"}}}))
	if got := queryText(t, db, ran); got != "1 2 3 9" {
		t.Errorf("steps %q ran", got)
	}
}

// TestBrokenStep: a step leaves all of itself or nothing, and those before it stay.
func TestBrokenStep(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	broken := append(steps(2), []string{"INSERT INTO ran VALUES (3)", "INSERT INTO nowhere VALUES (1)"})
	err := migrate.Apply(t.Context(), db, of(broken))
	if err == nil || !strings.Contains(err.Error(), "migrate to version 3") {
		t.Fatalf("got error %v", err)
	}
	if got := queryText(t, db, ran); got != "1 2" || versions(t, db) != "1 2" {
		t.Errorf("steps %q ran, versions are %q", got, versions(t, db))
	}
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(3))))
	if got := queryText(t, db, ran); got != "1 2 3" {
		t.Errorf("steps %q ran", got)
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(3))))
	_, err := db.ExecContext(t.Context(), "UPDATE v SET min_reader = 0") // it does not say who can work with them
	wantNoError(t, err)
	err = migrate.Apply(t.Context(), db, of(steps(2)))
	if !errors.Is(err, migrate.ErrNewer) || !strings.Contains(err.Error(), "its version is 3, ours is 2") {
		t.Fatalf("got error %v", err)
	}
	if got := queryText(t, db, ran); got != "1 2 3" {
		t.Errorf("steps %q ran", got)
	}
}

// TestTogether: of several that migrate at once each finds all in place, and every step
// ran once (M2).
func TestTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	var g errgroup.Group
	for range 6 {
		db := open(t, path)
		g.Go(func() error { return migrate.Apply(t.Context(), db, of(steps(5))) })
	}
	wantNoError(t, g.Wait())
	if got := queryText(t, open(t, path), ran); got != "1 2 3 4 5" {
		t.Errorf("steps %q ran", got)
	}
}

func TestTx(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(1))))
	add := func(err error) func(tx *sql.Tx) error {
		return func(tx *sql.Tx) error {
			_, failed := tx.ExecContext(t.Context(), "INSERT INTO ran VALUES (2)")
			return errors.Join(failed, err)
		}
	}
	enough := errors.New("enough")
	if err := migrate.Tx(t.Context(), db, nil, add(enough)); !errors.Is(err, enough) {
		t.Errorf("got error %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := migrate.Tx(gone, db, nil, add(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if got := queryText(t, db, ran); got != "1" {
		t.Errorf("a transaction that ended left %q", got)
	}
	wantNoError(t, migrate.Tx(t.Context(), db, nil, add(nil)))
	if got := queryText(t, db, ran); got != "1 2" {
		t.Errorf("a transaction left %q", got)
	}
}

// An older program works with tables to which things were added, and not with those from which
// something was taken that it uses (M3). It changes neither.
func TestExpandAndContract(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	three := of(steps(3))
	wantNoError(t, migrate.Apply(t.Context(), db, three))
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(4)))) // adds
	wantNoError(t, migrate.Apply(t.Context(), db, three))
	five := of(steps(5))
	five.MinReader = map[int]int{5: 4} // takes away what version 4 does not use any more
	wantNoError(t, migrate.Apply(t.Context(), db, five))
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(4))))
	err := migrate.Apply(t.Context(), db, three)
	if !errors.Is(err, migrate.ErrNewer) || !strings.Contains(err.Error(), "its version is 5 and needs 4, ours is 3") {
		t.Errorf("got error %v", err)
	}
	six := of(steps(6)) // adds again, and gives nothing back
	six.MinReader = five.MinReader
	wantNoError(t, migrate.Apply(t.Context(), db, six))
	if err := migrate.Apply(t.Context(), db, three); !errors.Is(err, migrate.ErrNewer) {
		t.Errorf("got error %v", err)
	}
	if got := queryText(t, db, ran); got != "1 2 3 4 5 6" {
		t.Errorf("steps %q ran", got)
	}
}

// The version table of an older program gets the column with the next step. Until then it is as it
// was, and a newer version in it is one that an older program cannot judge.
func TestOlderVersionTable(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	for _, text := range []string{"CREATE TABLE v (version BIGINT NOT NULL, PRIMARY KEY (version))", "INSERT INTO v VALUES (1), (2)", "CREATE TABLE ran (step BIGINT NOT NULL)"} {
		_, err := db.ExecContext(t.Context(), text)
		wantNoError(t, err)
	}
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(2))))
	if err := migrate.Apply(t.Context(), db, of(steps(1))); !errors.Is(err, migrate.ErrNewer) {
		t.Errorf("got error %v", err)
	}
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(3))))
	wantNoError(t, migrate.Apply(t.Context(), db, of(steps(2))))
	if got := queryText(t, db, "SELECT version || ':' || min_reader FROM v ORDER BY version"); got != "1:0 2:0 3:1" {
		t.Errorf("the table has %q", got)
	}
}

func TestCurrent(t *testing.T) {
	t.Parallel()
	db := open(t, sqlite.Memory)
	for want := range 3 {
		if want > 0 {
			wantNoError(t, migrate.Apply(t.Context(), db, of(steps(want))))
		}
		if got, err := migrate.Current(t.Context(), db, of(steps(2))); got != want || err != nil {
			t.Errorf("%d %v, want %d", got, err, want)
		}
	}
	wantNoError(t, db.Close())
	if _, err := migrate.Current(t.Context(), db, of(nil)); err == nil {
		t.Error("a database that is away has tables")
	}
}

// A server of the release before must work beside one of this release, so what is released only
// adds, or says in MinReader from which version on it is not missed.
func TestStepsOnlyAdd(t *testing.T) {
	t.Parallel()
	adds := regexp.MustCompile(`^(CREATE TABLE|CREATE INDEX|ALTER TABLE \w+ ADD COLUMN|INSERT INTO) `)
	for _, s := range []migrate.Schema{sqldb.Schema(), sqlcatalog.Schema(), {Table: "control", Steps: [][]string{{"DROP TABLE x"}}}} {
		found := ""
		for i, step := range s.Steps {
			for _, text := range step {
				if lowest, said := s.MinReader[i+1]; !adds.MatchString(text) && (!said || lowest > i) {
					found = text
				}
			}
		}
		if (found != "") != (s.Table == "control") {
			t.Errorf("%s: the release before does not work with: %s", s.Table, found)
		}
	}
}
