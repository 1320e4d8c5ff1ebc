//go:build postgres

package real_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/test/real"
)

// TestKilledInTheMiddle: a session that the server ends in the middle of a transaction
// leaves nothing of it, and the next call works.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	db, dsn := prepared(t, real.StartPostgres(t))
	killer := pool(t, dsn, 2)
	kill := false
	c := postgres.Open(db, "a", sqlcatalog.Options{OnChange: func(ctx context.Context, tx *sql.Tx, _, _ string) error {
		if !kill {
			return nil
		}
		var pid int
		if err := tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		_, err := killer.ExecContext(ctx, "SELECT pg_terminate_backend($1, 5000)", pid)
		return err
	}})
	ok(t, c.Append(t.Context(), checkpoint(1)))
	kill = true
	err := c.Append(t.Context(), checkpoint(2))
	isKind(t, err, retake.Away)
	kill = false
	_, err = c.Checkpoint(t.Context(), "cp_2")
	if !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("got error %v", err)
	}
	notices, err := c.Pending(t.Context(), 0)
	ok(t, err)
	if len(notices) != 1 {
		t.Errorf("%d notices, want 1", len(notices))
	}
	ok(t, c.Append(t.Context(), checkpoint(2)))
	if live, last, err := c.Counts(t.Context(), "w"); err != nil || live != 2 || last != 2 {
		t.Errorf("%d live, last %d: %v", live, last, err)
	}
}

// TestKilledInThePool: connections that died while nobody used them are not noticed.
func TestKilledInThePool(t *testing.T) {
	t.Parallel()
	db, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	c := postgres.Open(db, "a", sqlcatalog.Options{})
	ok(t, c.Append(t.Context(), checkpoint(1)))
	var conns []*sql.Conn // so that there are several
	for range 4 {
		conn, err := db.Conn(t.Context())
		ok(t, err)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		ok(t, conn.Close())
	}
	killer := pool(t, dsn, 2)
	_, err := killer.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	ok(t, err)
	for n := 2; n < 6; n++ {
		ok(t, c.Append(t.Context(), checkpoint(n)))
		_, err = c.Latest(t.Context(), "w", int64(n-1))
		ok(t, err)
	}
}

// TestWriterWaits: who waits too long for another writer is told that it is busy, and who
// gives up gets its own error.
func TestWriterWaits(t *testing.T) {
	t.Parallel()
	db, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	hasty := postgres.Open(pool(t, dsn+"&lock_timeout=50", 2), "a", sqlcatalog.Options{})
	patient := postgres.Open(db, "a", sqlcatalog.Options{})
	ok(t, patient.Append(t.Context(), checkpoint(1)))
	tx, err := db.BeginTx(t.Context(), nil)
	ok(t, err)
	ok(t, postgres.EnterNamespace("a")(t.Context(), tx))
	_, err = tx.ExecContext(t.Context(), "UPDATE writer SET notices = notices WHERE ns = 'a'")
	ok(t, err)

	isKind(t, hasty.Append(t.Context(), checkpoint(2)), retake.Busy)
	ok(t, postgres.Open(pool(t, dsn, 2), "b", sqlcatalog.Options{}).Append(t.Context(), checkpoint(2))) // another namespace does not wait
	_, err = hasty.Page(t.Context(), retake.LogQuery{Workspace: "w"})
	ok(t, err) // nor does a reader
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := patient.Append(short, checkpoint(2)); !errors.Is(err, context.DeadlineExceeded) || retake.IsKind(err, retake.Away) {
		t.Errorf("got error %v", err)
	}
	ok(t, tx.Rollback())
	ok(t, patient.Append(t.Context(), checkpoint(2)))
}

// TestDeadlock: two that wait for each other both end well, because one begins again.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	db, _ := prepared(t, real.StartPostgres(t, real.Careless, "deadlock_timeout=20ms"))
	_, err := db.ExecContext(t.Context(), "CREATE TABLE meeting (x TEXT PRIMARY KEY); INSERT INTO meeting VALUES ('a'), ('b'); GRANT ALL ON meeting TO retake_api")
	ok(t, err)
	begun := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
	var again atomic.Int64
	var g errgroup.Group
	for mine, other := range map[string]string{"a": "b", "b": "a"} {
		var met sync.Once
		within := func(ctx context.Context, tx *sql.Tx, _, _ string) error {
			if _, err := tx.ExecContext(ctx, "UPDATE meeting SET x = x WHERE x = $1", mine); err != nil {
				return err
			}
			met.Do(func() {
				close(begun[mine])
				<-begun[other]
			})
			_, err := tx.ExecContext(ctx, "UPDATE meeting SET x = x WHERE x = $1", other)
			if postgres.IsRetryable(err) {
				again.Add(1)
			}
			return err
		}
		g.Go(func() error {
			return postgres.Open(db, mine, sqlcatalog.Options{OnChange: within}).Append(t.Context(), checkpoint(1))
		})
	}
	ok(t, g.Wait())
	if again.Load() == 0 {
		t.Error("nobody was in the way of the other")
	}
}

// TestAway: a server that is not there, or does not let us in, is away.
func TestAway(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t, real.Careless)
	for dsn, kind := range map[string]retake.ErrorKind{
		"postgres://retake@/x?host=" + t.TempDir(): retake.Away,
		"postgres://retake@127.0.0.1:1/x":          retake.Away,
		c.DSN("retake", "nowhere"):                 retake.Away,
		c.DSN("nobody", "postgres"):                retake.Away,
		"postgres://a b:c":                         retake.Invalid,
	} {
		_, err := postgres.OpenDB(t.Context(), dsn, postgres.Options{})
		isKind(t, err, kind)
	}
	_, err := postgres.OpenDB(t.Context(), "postgres://retake:hunter2@127.0.0.1:1/x?sslmode=wrong", postgres.Options{})
	isKind(t, err, retake.Invalid)
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password is told: %v", err)
	}
}

// TestTooLarge: what does not fit an index is a limit, and is not half there.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	db, _ := prepared(t, real.StartPostgres(t, real.Careless))
	c := postgres.Open(db, "a", sqlcatalog.Options{})
	var name strings.Builder
	for i := range 4000 {
		name.WriteString(string(rune(0x4e00 + i*37%20000))) // does not compress well
	}
	pins := []retake.Pin{{Name: "short"}, {Name: name.String()}}
	isKind(t, c.SetPins(t.Context(), "w", pins), retake.Limit)
	left, err := c.Pins(t.Context(), "w")
	ok(t, err)
	if len(left) != 0 {
		t.Errorf("%d pins are left", len(left))
	}
}
