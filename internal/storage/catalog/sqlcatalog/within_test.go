package sqlcatalog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/catalogtest"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
)

// changeLog keeps what a catalog tells, in the order of the calls.
type changeLog struct {
	sync.Mutex
	entered map[*sql.Tx]bool
	acts    []string
	strays  int // acts in a transaction that nobody entered
	fail    error
}

func (r *changeLog) options() sqlcatalog.Options {
	r.entered = map[*sql.Tx]bool{}
	return sqlcatalog.Options{
		EnterTx: func(_ context.Context, tx *sql.Tx) error {
			r.Lock()
			defer r.Unlock()
			r.entered[tx] = true
			return nil
		},
		OnChange: func(_ context.Context, tx *sql.Tx, verb, subject string) error {
			r.Lock()
			defer r.Unlock()
			if !r.entered[tx] {
				r.strays++
			}
			r.acts = append(r.acts, verb+" "+subject)
			return r.fail
		},
	}
}

// calls returns the acts and the number of transactions since the last call.
func (r *changeLog) calls() ([]string, int) {
	r.Lock()
	defer r.Unlock()
	acts, entered := r.acts, len(r.entered)
	r.acts, r.entered = nil, map[*sql.Tx]bool{}
	return acts, entered
}

// TestSuiteWithin: hooks change nothing of what a catalog answers.
func TestSuiteWithin(t *testing.T) {
	t.Parallel()
	db := memory(t)
	wantNoError(t, sqlcatalog.Migrate(t.Context(), db))
	r := &changeLog{}
	opts := r.options()
	t.Cleanup(func() {
		if acts, entered := r.calls(); len(acts) == 0 || entered == 0 || r.strays > 0 {
			t.Errorf("%d acts, %d entries, %d acts outside", len(acts), entered, r.strays)
		}
	})
	catalogtest.Run(t, func(t *testing.T, ns string) catalog.Catalog {
		t.Helper()
		return sqlcatalog.ForNamespace(db, ns, opts)
	})
}

// TestEveryTransactionEnters: each method enters once, and acts are told when, and only
// when, something changed.
func TestEveryTransactionEnters(t *testing.T) {
	t.Parallel()
	db := memory(t)
	wantNoError(t, sqlcatalog.Migrate(t.Context(), db))
	r := &changeLog{}
	c := sqlcatalog.ForNamespace(db, "a", r.options())
	for _, s := range steps(t.Context(), c) {
		wantNoError(t, s.do())
		acts, entered := r.calls()
		if entered != 1 || !slices.Equal(acts, s.acts) {
			t.Errorf("%s: %d entries, acts %q, want %q", s.name, entered, acts, s.acts)
		}
	}
	wantNoError(t, errors.Join(c.Bury(t.Context(), "w", nil), c.Take(t.Context(), nil), c.PutReadings(t.Context(), nil)))
	if acts, entered := r.calls(); entered != 0 || len(acts) != 0 {
		t.Errorf("nothing to do: %d entries, acts %q", entered, acts)
	}
}

type step struct {
	name string
	do   func() error
	acts []string
}

// steps call every method of a catalog.
func steps(ctx context.Context, c *sqlcatalog.Catalog) []step {
	ws := retake.Workspace{ID: "w", Name: "n", Root: "/r"}
	one, two := retake.Checkpoint{ID: "cp_1", Workspace: "w", Number: 1}, retake.Checkpoint{ID: "cp_2", Workspace: "w", Number: 2, Return: &retake.Return{Course: retake.CourseRestore}}
	pins := []retake.Pin{{Name: "p", Checkpoint: "cp_1", Number: 1}}
	v := retake.Verification{ID: "vf_1", Workspace: "w", Checkpoint: "cp_1", Verdict: retake.Passed}
	stones := []retake.Tombstone{{ID: "cp_2", Number: 2}, {ID: "cp_1", Number: 1}}
	key := catalog.ReadingKey{Object: "o", Reader: "r"}
	writes := []step{
		{"put workspace", func() error { return c.PutWorkspace(ctx, ws) }, []string{"put workspace w"}},
		{"put workspace again", func() error { return c.PutWorkspace(ctx, ws) }, nil},
		{"append one", func() error { return c.Append(ctx, one) }, []string{"append checkpoint cp_1"}},
		{"append one again", func() error { return c.Append(ctx, one) }, nil},
		{"append two", func() error { return c.Append(ctx, two) }, []string{"restore cp_2"}},
		{"set pins", func() error { return c.SetPins(ctx, "w", pins) }, []string{"set pins w"}},
		{"set pins again", func() error { return c.SetPins(ctx, "w", pins) }, nil},
		{"put verification", func() error { return c.PutVerification(ctx, v) }, []string{"put verification vf_1"}},
		{"put verification again", func() error { return c.PutVerification(ctx, v) }, nil},
		{"put notes", func() error { return c.PutNotes(ctx, catalog.Notes{Workspace: "w", Checkpoint: "cp_1"}) }, nil},
		{"put readings", func() error { return c.PutReadings(ctx, map[catalog.ReadingKey][]byte{key: nil}) }, nil},
		{"set mark", func() error { return c.SetMark(ctx, "k", "v") }, nil},
	}
	ends := []step{
		{"take", func() error { return c.Take(ctx, []int64{1}) }, nil},
		{"bury", func() error { return c.Bury(ctx, "w", stones) }, []string{"bury checkpoint cp_2", "bury checkpoint cp_1"}},
		{"bury again", func() error { return c.Bury(ctx, "w", stones) }, nil},
		{"reset", func() error { return c.Reset(ctx) }, []string{"reset catalog a"}},
		{"reset again", func() error { return c.Reset(ctx) }, nil},
	}
	return slices.Concat(writes, reads(ctx, c), ends)
}

func reads(ctx context.Context, c *sqlcatalog.Catalog) []step {
	one := func(_ retake.Checkpoint, err error) error { return err }
	maybe := func(err error) error {
		if errors.Is(err, catalog.ErrNotFound) {
			return nil
		}
		return err
	}
	return []step{
		{name: "Workspace", do: func() error { _, err := c.Workspace(ctx, "w"); return err }},
		{name: "Workspaces", do: func() error { _, err := c.Workspaces(ctx); return err }},
		{name: "Checkpoint", do: func() error { return one(c.Checkpoint(ctx, "cp_1")) }},
		{name: "ByNumber", do: func() error { return one(c.ByNumber(ctx, "w", 1)) }},
		{name: "ByPrefix", do: func() error { _, err := c.ByPrefix(ctx, "w", "cp"); return err }},
		{name: "Before", do: func() error { return maybe(one(c.Before(ctx, "w", time.Time{}))) }},
		{name: "Latest", do: func() error { return one(c.Latest(ctx, "w", 0)) }},
		{name: "Start", do: func() error { return maybe(one(c.Start(ctx, "w"))) }},
		{name: "Page", do: func() error { _, err := c.Page(ctx, retake.LogQuery{Workspace: "w"}); return err }},
		{name: "Page of a session", do: func() error { _, err := c.Page(ctx, retake.LogQuery{Workspace: "w", Session: "s"}); return err }},
		{name: "Tombstones", do: func() error { _, err := c.Tombstones(ctx, "w"); return err }},
		{name: "Counts", do: func() error { _, _, err := c.Counts(ctx, "w"); return err }},
		{name: "Added", do: func() error { _, err := c.Added(ctx); return err }},
		{name: "Pins", do: func() error { _, err := c.Pins(ctx, "w"); return err }},
		{name: "Pending", do: func() error { _, err := c.Pending(ctx, 1); return err }},
		{name: "Gists", do: func() error { _, err := c.Gists(ctx, "w", []retake.CheckpointID{"cp_1"}); return err }},
		{name: "Bare", do: func() error { _, err := c.Bare(ctx, "w", 1, 1); return err }},
		{name: "ByHead", do: func() error { return maybe(one(c.ByHead(ctx, "w", "abc"))) }},
		{name: "Search", do: func() error { _, err := c.Search(ctx, retake.SearchQuery{Workspace: "w", Text: "x"}); return err }},
		{name: "Mentions", do: func() error { _, err := c.Mentions(ctx, retake.ChronicleQuery{Workspace: "w", Name: "x"}); return err }},
		{name: "Verifications", do: func() error { _, err := c.Verifications(ctx, catalog.VerificationQuery{Workspace: "w"}); return err }},
		{name: "WithContent", do: func() error { _, err := c.WithContent(ctx, "w", ""); return err }},
		{name: "Readings", do: func() error { _, err := c.Readings(ctx, []catalog.ReadingKey{{Object: "o", Reader: "r"}}); return err }},
		{name: "Mark", do: func() error { _, err := c.Mark(ctx, "k"); return err }},
	}
}

// TestWithinFails: what could not be told did not happen, and nobody gets in whom Enter
// refuses.
func TestWithinFails(t *testing.T) {
	t.Parallel()
	db := memory(t)
	wantNoError(t, sqlcatalog.Migrate(t.Context(), db))
	r := &changeLog{fail: errors.New("no room")}
	c := sqlcatalog.ForNamespace(db, "a", r.options())
	cp := retake.Checkpoint{ID: "cp_1", Workspace: "w", Number: 1}
	if err := c.Append(t.Context(), cp); !errors.Is(err, r.fail) {
		t.Errorf("append: %v", err)
	}
	for _, table := range []string{"checkpoint", "outbox", "writer"} {
		wantEqual(t, table, rows(t, db, "SELECT COUNT(*) FROM "+table), [][]string{{"0"}})
	}
	refused := errors.New("not you")
	c = sqlcatalog.ForNamespace(db, "a", sqlcatalog.Options{EnterTx: func(context.Context, *sql.Tx) error { return refused }})
	if err := c.Append(t.Context(), cp); !errors.Is(err, refused) {
		t.Errorf("append: %v", err)
	}
	if _, err := c.Page(t.Context(), retake.LogQuery{Workspace: "w"}); !errors.Is(err, refused) {
		t.Errorf("page: %v", err)
	}
}

// TestAgain: a transaction that others were in the way of is run again, not forever, and
// leaves one row.
func TestAgain(t *testing.T) {
	t.Parallel()
	db := memory(t)
	wantNoError(t, sqlcatalog.Migrate(t.Context(), db))
	inTheWay := errors.New("in the way")
	for times, want := range map[int]error{0: nil, 3: nil, 100: inTheWay} {
		runs := 0
		ns := fmt.Sprint(times)
		c := sqlcatalog.ForNamespace(db, ns, sqlcatalog.Options{
			IsRetryable: func(err error) bool { return errors.Is(err, inTheWay) },
			OnChange: func(context.Context, *sql.Tx, string, string) error {
				if runs++; runs <= times {
					return inTheWay
				}
				return nil
			},
		})
		err := c.Append(t.Context(), retake.Checkpoint{ID: "cp_1", Workspace: "w", Number: 1})
		if !errors.Is(err, want) || runs > 10 {
			t.Errorf("%d times in the way: %d runs, %v", times, runs, err)
		}
		there := "1"
		if want != nil {
			there = "0"
		}
		wantEqual(t, "rows", rows(t, db, "SELECT COUNT(*) FROM outbox WHERE ns = $1", ns), [][]string{{there}})
	}
}
