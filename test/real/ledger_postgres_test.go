//go:build postgres

package real_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/serverdbtest"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
	"github.com/retake-dev/retake/test/real"
)

// ledgerDB answers a new database that is ready for ledgers, and catalogs.
func ledgerDB(t testing.TB, c real.Cluster) (db *sql.DB, dsn string) {
	t.Helper()
	dsn = c.Database(t)
	db = pool(t, dsn, 0)
	ok(t, postgres.Prepare(t.Context(), db, sqldb.Tables(), sqldb.Schema()))
	return db, dsn
}

func enterLedger(ctx context.Context, tx *sql.Tx, ns retake.NamespaceID) error {
	return postgres.EnterNamespace(string(ns))(ctx, tx)
}

func openLedger(t testing.TB, db *sql.DB) *sqldb.Ledger {
	t.Helper()
	l, err := sqldb.New(t.Context(), db, sqldb.Options{Enter: enterLedger, Explain: postgres.Explain, SkipLocked: postgres.SkipLocked})
	ok(t, err)
	return l
}

// TestLedgerOnPostgres is the whole suite behind the policies, on three pools in turn, as
// three servers have them.
func TestLedgerOnPostgres(t *testing.T) {
	t.Parallel()
	db, dsn := ledgerDB(t, real.StartPostgres(t, real.Careless))
	pools := []*sql.DB{db, pool(t, dsn, 8), pool(t, dsn, 8)}
	var opened atomic.Int64
	serverdbtest.Run(t, func(t *testing.T) serverdb.Ledger {
		t.Helper()
		return openLedger(t, pools[opened.Add(1)%int64(len(pools))])
	})
}

// fullLedger puts a row into every table, for namespaces "a" and "b".
func fullLedger(t *testing.T, l *sqldb.Ledger) {
	t.Helper()
	ctx := t.Context()
	for i, ns := range []retake.NamespaceID{"a", "b"} {
		b := l.Book(ns)
		ok(t, l.AddNamespace(ctx, retake.Namespace{ID: ns}, []byte("sealed")))
		ok(t, b.AddKey(ctx, retake.Key{ID: "key_1"}, [32]byte{byte(i)}))
		ok(t, b.EndSession(ctx, "session_1", time.Now().Add(time.Hour)))
		ok(t, b.PutHook(ctx, serverdb.Hook{Webhook: retake.Webhook{ID: "wh_1"}}))
		ok(t, b.Publish(ctx, []retake.Event{{ID: "e1", Type: retake.EventCreated}},
			func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte) { return "msg_1", nil }))
		ok(t, b.PutSchedule(ctx, retake.Schedule{ID: "sc_1"}))
		ok(t, b.PutDeletion(ctx, retake.Deletion{ID: "del_1"}))
		head, _, err := sqldb.Unanchored(ctx, b)
		ok(t, err)
		ok(t, b.PutAnchor(ctx, serverdb.Anchor{Seq: head.Seq, Hash: head.Hash}))
		_, _, err = b.BeginReply(ctx, "k", [32]byte{}, time.Now(), time.Hour)
		ok(t, err)
	}
	_, err := l.Lease(ctx, "x", "me", time.Now(), time.Hour)
	ok(t, err)
}

// asRole runs a text inside a namespace, and answers how many rows it reached.
func asRole(ctx context.Context, db *sql.DB, ns, text string) (int64, error) {
	var n int64
	err := migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
		if err := postgres.EnterNamespace(ns)(ctx, tx); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, text)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}

// TestLedgerWalls: the database itself keeps namespaces apart, and history whole, whatever
// the program asks.
func TestLedgerWalls(t *testing.T) {
	t.Parallel()
	db, _ := ledgerDB(t, real.StartPostgres(t, real.Careless))
	fullLedger(t, openLedger(t, db))
	for _, table := range sqldb.Tables() {
		rows, err := asRole(t.Context(), db, "a", "SELECT FROM "+table.Name)
		ok(t, err)
		if rows == 0 {
			t.Errorf("%s: there are no rows to look at", table.Name)
		}
		if table.Tenant {
			others, err := asRole(t.Context(), db, "a", "SELECT FROM "+table.Name+" WHERE ns <> 'a'")
			ok(t, err)
			if others != 0 {
				t.Errorf("%s: %d rows of others can be seen", table.Name, others)
			}
			if n, err := asRole(t.Context(), db, "", "SELECT FROM "+table.Name); !retake.IsKind(postgres.Explain(err), retake.Denied) {
				t.Errorf("%s: without a namespace there are %d rows, %v", table.Name, n, err)
			}
		}
		if !table.Sealed {
			continue
		}
		for _, text := range []string{"DELETE FROM " + table.Name, "UPDATE " + table.Name + " SET ns = ns", "TRUNCATE " + table.Name} {
			for who, ctx := range map[string]context.Context{"api": t.Context(), "maintenance": asMaintainer(t.Context())} {
				if _, err := asRole(ctx, db, "a", text); !retake.IsKind(postgres.Explain(err), retake.Denied) {
					t.Errorf("%s as %s: error %v", text, who, err)
				}
			}
		}
	}
}

// TestLedgerForgedOnPostgres: what the owner of the database changes is found.
func TestLedgerForgedOnPostgres(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t, real.Careless)
	db, _ := ledgerDB(t, c)
	var name string
	ok(t, db.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name))
	b := openLedger(t, db).Book("a")
	for n := range 5 {
		ok(t, b.Note(t.Context(), "do", fmt.Sprint("thing ", n+1)))
	}
	check := func(want int64) {
		t.Helper()
		proof, err := sqldb.Check(t.Context(), "a", b, nil)
		ok(t, err)
		if proof.Broken != want || proof.Entries != 5 {
			t.Fatalf("proof %+v, want broken %d", proof, want)
		}
	}
	check(0)
	ok(t, c.Run("postgres", name, `UPDATE audit SET body = convert_to(replace(convert_from(body, 'UTF8'), 'thing 3', 'thing 9'), 'UTF8')`))
	check(3)
}

// TestLedgerTogether: catalogs with their hook, acts, publications, claims and replies of
// the same namespaces, by three servers side by side: nobody is in the way of another for
// ever, and nothing is lost.
func TestLedgerTogether(t *testing.T) {
	t.Parallel()
	db, dsn := ledgerDB(t, real.StartPostgres(t, real.Careless))
	const servers, workers, each = 3, 3, 12
	began := time.Now()
	var g errgroup.Group
	for s := range servers {
		own := pool(t, dsn, 8)
		l := openLedger(t, own)
		for w := range workers {
			ns := retake.NamespaceID(fmt.Sprint("n", w%2))
			// A deadlock is no reason to try again here: there must be none.
			c := postgres.Open(own, string(ns), sqlcatalog.Options{OnChange: l.OnChange(ns), IsRetryable: func(error) bool { return false }})
			g.Go(func() error {
				for n := range each {
					if err := ledgerStep(t.Context(), c.Append, l, ns, fmt.Sprintf("%d_%d", s, w), n); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	ok(t, g.Wait())
	t.Logf("%d steps in %v", servers*workers*each, time.Since(began).Round(time.Millisecond))
	l := openLedger(t, db)
	for i, ns := range []retake.NamespaceID{"n0", "n1"} {
		b := l.Book(ns)
		steps := int64(servers * each * []int{2, 1}[i])
		proof, err := sqldb.Check(t.Context(), ns, b, nil)
		ok(t, err)
		if proof.Broken != 0 || proof.Entries != 2*steps {
			t.Errorf("%s: %+v, want %d entries", ns, proof, 2*steps)
		}
		events, err := b.Events(t.Context(), 0, 0)
		ok(t, err)
		if !slices.IsSortedFunc(events, func(a, b retake.Event) int { return int(a.Seq - b.Seq) }) || int64(len(events)) != steps {
			t.Errorf("%s: %d events, want %d", ns, len(events), steps)
		}
	}
}

// ledgerStep is one of everything.
func ledgerStep(ctx context.Context, append func(context.Context, retake.Checkpoint, ...catalog.Mark) error, l *sqldb.Ledger, ns retake.NamespaceID, who string, n int) error {
	b, now := l.Book(ns), time.Now().Add(time.Minute)
	id := fmt.Sprintf("%s_%d", who, n)
	cp := checkpoint(n + 1)
	cp.ID, cp.Workspace = retake.CheckpointID("cp_"+id), retake.WorkspaceID("ws_"+who)
	err := errors.Join(
		append(ctx, cp),
		b.PutHook(ctx, serverdb.Hook{Webhook: retake.Webhook{ID: retake.WebhookID("wh_" + fmt.Sprint(n%3)), URL: id}}),
		b.Publish(ctx, []retake.Event{{ID: id, Type: retake.EventCreated}},
			func(e retake.Event, h serverdb.Hook, _ retake.EventType) (string, []byte) {
				return e.ID + string(h.ID), nil
			}),
	)
	if err != nil {
		return err
	}
	for _, queue := range []string{serverdb.QueueOutbox, serverdb.QueueDelivery} {
		due, err := l.Claim(ctx, queue, now, time.Minute, 5)
		for _, d := range due {
			if n%2 == 0 {
				err = errors.Join(err, l.Finish(ctx, d))
			} else {
				err = errors.Join(err, l.Postpone(ctx, d, now))
			}
		}
		if err != nil {
			return err
		}
	}
	_, _, err = b.BeginReply(ctx, fmt.Sprint(n%7), [32]byte{}, now.Add(time.Duration(n)*time.Second), time.Second)
	return err
}

// BenchmarkLedger is what every request and every job pays, with commits that survive a
// power cut and without.
func BenchmarkLedger(b *testing.B) {
	for name, settings := range map[string][]string{"durable": nil, "careless": {real.Careless}} {
		b.Run(name, func(b *testing.B) {
			db, _ := ledgerDB(b, real.StartPostgres(b, settings...))
			serverdbtest.Bench(b, openLedger(b, db))
		})
	}
}
