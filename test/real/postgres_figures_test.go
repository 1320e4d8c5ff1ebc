//go:build postgres

package real_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/migrate"
	"github.com/retake-dev/retake/test/real"
)

// multiply makes a timeline long: the checkpoint cp_1, and what is known of it, again
// with every number up to n.
func multiply(t testing.TB, db *sql.DB, ns string, n int) {
	t.Helper()
	ctx := asMaintainer(t.Context())
	cp := checkpoint(1)
	cp.Policy = retake.Policy{GitIgnore: true, Exclude: []string{"node_modules/", "*.o", "target/"}}
	c := postgres.Open(db, ns, sqlcatalog.Options{})
	ok(t, c.PutWorkspace(ctx, retake.Workspace{ID: "w", Name: "n", Root: "/r"}))
	ok(t, c.Append(ctx, cp))
	ok(t, c.PutNotes(ctx, catalog.Notes{
		Workspace: "w", Checkpoint: cp.ID, Gist: retake.Gist{V: 1, Head: "abc"},
		Facts: []retake.Fact{{Kind: retake.FactPackage, Name: "lodash"}}, Words: []catalog.Place{{Where: "path", Text: "src/auth.ts"}},
	}))
	ok(t, c.PutVerification(ctx, retake.Verification{ID: "vf_1", Workspace: "w", Checkpoint: cp.ID, Content: cp.Content, Verdict: retake.Passed}))
	ok(t, migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
		if err := postgres.EnterNamespace(ns)(ctx, tx); err != nil {
			return err
		}
		for _, text := range []string{
			`INSERT INTO checkpoint SELECT ns, 'cp_' || g, workspace, g, parent, time_us + g * 1000000::bigint, trigger, intent, tree, md5(g::text),
				grade, files, dirs, bytes, new_bytes, added, deleted, edited, body FROM checkpoint, generate_series(2, $1::bigint) g WHERE id = 'cp_1'`,
			`INSERT INTO finding SELECT ns, 'cp_' || g, workspace, g, v, md5(g::text), body FROM finding, generate_series(2, $1::bigint) g WHERE checkpoint = 'cp_1'`,
			`INSERT INTO fact SELECT ns, 'cp_' || g, 0, workspace, g, kind, convert_to('x' || g, 'UTF8'), body FROM fact, generate_series(2, $1::bigint) g WHERE checkpoint = 'cp_1'`,
			`INSERT INTO place SELECT ns, 'cp_' || g, workspace, g, 'src/' || g, body FROM place, generate_series(2, $1::bigint) g WHERE checkpoint = 'cp_1'`,
			`INSERT INTO verification SELECT ns, 'vf_' || g, workspace, 'cp_' || g, g, md5(g::text), name, command, g, body, output
				FROM verification, generate_series(2, $1::bigint) g WHERE id = 'vf_1'`,
			`INSERT INTO outbox SELECT ns, id + g, topic, workspace, checkpoint, time_us FROM outbox, generate_series(2, $1::bigint) g WHERE id = 1`,
		} {
			if _, err := tx.ExecContext(ctx, text, n); err != nil {
				return fmt.Errorf("%.20s: %w", text, err)
			}
		}
		return nil
	}))
	_, err := db.ExecContext(ctx, "VACUUM ANALYZE checkpoint, finding, fact, place, verification, outbox")
	ok(t, err)
}

// questions are what is asked of a long timeline, with n numbers.
func questions(t testing.TB, c catalog.Catalog, n int) map[string]func(i int) error {
	ctx := t.Context()
	at := func(i int) int { return 1 + (i*7919)%n }
	id := func(i int) retake.CheckpointID { return retake.CheckpointID(fmt.Sprintf("cp_%d", at(i))) }
	page := func(q retake.LogQuery) error {
		q.Workspace = "w"
		_, err := c.Page(ctx, q)
		return err
	}
	since := checkpoint(n - 20).Time
	return map[string]func(int) error{
		"Page":       func(i int) error { return page(retake.LogQuery{Before: int64(at(i)), Limit: 50}) },
		"Page since": func(int) error { return page(retake.LogQuery{Since: since, Limit: 50}) },
		"Checkpoint": func(i int) error { _, err := c.Checkpoint(ctx, id(i)); return err },
		"ByNumber":   func(i int) error { _, err := c.ByNumber(ctx, "w", int64(at(i))); return err },
		"ByPrefix":   func(i int) error { _, err := c.ByPrefix(ctx, "w", string(id(i))); return err },
		"Before":     func(i int) error { _, err := c.Before(ctx, "w", checkpoint(at(i)).Time); return err },
		"Latest":     func(int) error { _, err := c.Latest(ctx, "w", 3); return err },
		"Start":      func(int) error { _, err := c.Start(ctx, "w"); return err },
		"Pending":    func(int) error { _, err := c.Pending(ctx, 50); return err },
		"Gists":      func(i int) error { _, err := c.Gists(ctx, "w", []retake.CheckpointID{id(i), id(i + 1)}); return err },
		"Bare":       func(int) error { _, err := c.Bare(ctx, "w", 2, 50); return err },
		"ByHead":     func(int) error { _, err := c.ByHead(ctx, "w", "abc"); return err },
		"Mentions": func(int) error {
			_, err := c.Mentions(ctx, retake.ChronicleQuery{Workspace: "w", Name: "lodash"})
			return err
		},
		"Verifications": func(int) error {
			_, err := c.Verifications(ctx, catalog.VerificationQuery{Workspace: "w", Limit: 20})
			return err
		},
		"Verifications of contents": func(int) error {
			_, err := c.Verifications(ctx, catalog.VerificationQuery{Workspace: "w", Contents: []retake.ContentID{"c0ffee", "x"}})
			return err
		},
		"WithContent": func(int) error { _, err := c.WithContent(ctx, "w", "c0ffee"); return err },
	}
}

// TestNobodyWalks: on a long timeline no question reads a table from end to end. The
// server counts it; the last question, which must, is the control.
func TestNobodyWalks(t *testing.T) {
	t.Parallel()
	const length = 20_000
	db, dsn := prepared(t, real.StartPostgres(t, real.Careless))
	multiply(t, db, "a", length)
	multiply(t, db, "b", length/4)
	const walks = `SELECT COALESCE(SUM(seq_scan), 0) FROM pg_stat_user_tables
		WHERE relname IN ('checkpoint', 'finding', 'fact', 'place', 'verification', 'outbox')`
	count := func() (n int64) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), "SELECT pg_stat_force_next_flush()")
		ok(t, err)
		ok(t, db.QueryRowContext(t.Context(), walks).Scan(&n))
		return n
	}
	// Sessions of their own: what they counted is told when they end.
	during := func(f func(c catalog.Catalog)) int64 {
		t.Helper()
		before := count()
		one, err := postgres.OpenDB(t.Context(), dsn, postgres.Options{})
		ok(t, err)
		f(postgres.Open(one, "a", sqlcatalog.Options{}))
		ok(t, one.Close())
		waitGone(t, db)
		return count() - before
	}
	db.SetMaxIdleConns(1)
	db.SetMaxOpenConns(1)
	names := questions(t, nil, length)
	for name := range names {
		n := during(func(c catalog.Catalog) {
			for i := range 8 { // after five the server plans for all arguments at once
				ok(t, questions(t, c, length)[name](i))
			}
		})
		if n != 0 {
			t.Errorf("%s walks %d times", name, n)
		}
	}
	n := during(func(catalog.Catalog) {
		_, err := entered(t.Context(), db, "a", "SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SELECT body FROM checkpoint")
		ok(t, err)
	})
	if n == 0 {
		t.Error("a walk is not counted")
	}
}

// waitGone waits until the other sessions of this database have ended.
func waitGone(t *testing.T, db *sql.DB) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		var n int
		ok(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&n))
		if n == 0 {
			return
		}
		<-tick.C
	}
}

// BenchmarkCatalogs compares the two databases in one run: a durable commit for each
// Append, and a page of 50 out of a thousand.
func BenchmarkCatalogs(b *testing.B) {
	db, _ := prepared(b, real.StartPostgres(b))
	lite, err := sqlite.OpenDB(b.Context(), filepath.Join(b.TempDir(), "c.db"), sqlite.Options{Durable: true})
	ok(b, err)
	defer lite.Close()
	ok(b, sqlcatalog.Migrate(b.Context(), lite))
	for name, open := range map[string]func(ns string) catalog.Catalog{
		"postgres": func(ns string) catalog.Catalog { return postgres.Open(db, ns, sqlcatalog.Options{}) },
		"sqlite":   func(ns string) catalog.Catalog { return sqlcatalog.ForNamespace(lite, ns, sqlcatalog.Options{}) },
	} {
		b.Run("Append/"+name, func(b *testing.B) {
			c, n := open(fmt.Sprintf("append %d", b.N)), 0
			measure(b, func(int) error { n++; return c.Append(b.Context(), checkpoint(n)) })
		})
		c := open("page")
		for n := 1; n <= 1000; n++ {
			ok(b, c.Append(b.Context(), checkpoint(n)))
		}
		b.Run("Page/"+name, func(b *testing.B) {
			measure(b, func(i int) error {
				_, err := c.Page(b.Context(), retake.LogQuery{Workspace: "w", Before: int64(60 + i%900), Limit: 50})
				return err
			})
		})
		b.Run("Checkpoint/"+name, func(b *testing.B) {
			measure(b, func(i int) error {
				_, err := c.Checkpoint(b.Context(), checkpoint(1+i%1000).ID)
				return err
			})
		})
	}
}

// BenchmarkTimeline asks a short and a long timeline the same: where an index serves,
// the two take the same time.
func BenchmarkTimeline(b *testing.B) {
	cluster := real.StartPostgres(b, real.Careless)
	for _, length := range []int{10_000, 200_000} {
		db, _ := prepared(b, cluster)
		multiply(b, db, "a", length)
		c := postgres.Open(db, "a", sqlcatalog.Options{})
		ask := questions(b, c, length)
		ask["Counts"] = func(int) error { _, _, err := c.Counts(b.Context(), "w"); return err } // which counts
		for _, name := range slices.Sorted(maps.Keys(ask)) {
			b.Run(fmt.Sprintf("%s/%d", name, length), func(b *testing.B) { measure(b, ask[name]) })
		}
	}
}

// measure tells the middle and the slow end beside the mean.
func measure(b *testing.B, f func(i int) error) {
	b.Helper()
	var took []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		ok(b, f(i))
		took = append(took, time.Since(start))
		i++
	}
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
