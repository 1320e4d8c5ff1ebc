package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// callEach calls every method of an interface with arguments that ask for something.
func callEach(t *testing.T, v reflect.Value, port reflect.Type, judge func(method string, err error)) {
	t.Helper()
	for i := range port.NumMethod() {
		m := port.Method(i)
		if m.Name == "Book" || m.Name == "Close" {
			continue
		}
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for p := 1; p < m.Type.NumIn(); p++ {
			in := m.Type.In(p)
			arg := reflect.Zero(in)
			switch {
			case in.Kind() == reflect.Int:
				arg = reflect.ValueOf(1)
			case in.Kind() == reflect.Slice:
				arg = reflect.MakeSlice(in, 1, 1)
			case in == reflect.TypeFor[retake.NamespaceID]():
				arg = reflect.ValueOf(retake.NamespaceID("a"))
			case in == reflect.TypeFor[retake.Namespace]():
				arg = reflect.ValueOf(retake.Namespace{ID: "a"})
			}
			args = append(args, arg)
		}
		out := v.MethodByName(m.Name).Call(args)
		err, _ := out[len(out)-1].Interface().(error)
		judge(m.Name, err)
	}
}

// TestEnterFirst: no method does anything in a transaction that nobody could enter, and
// each enters the namespace it is about.
func TestEnterFirst(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var entered []retake.NamespaceID
	l := open(t, database(t, sqlite.Memory), sqldb.Options{Enter: func(_ context.Context, _ *sql.Tx, ns retake.NamespaceID) error {
		entered = append(entered, ns)
		return refused
	}})
	shared := []string{"Put", "PutNew", "Claim", "NextDue", "Extend", "Finish", "Postpone", "Failing", "Depth", "Lease"} // of no namespace: without a transaction
	cross := []string{"Namespaces", "KeyByDigest"}
	judge := func(method string, err error) {
		if slices.Contains(shared, method) {
			if err != nil || len(entered) > 0 {
				t.Errorf("%s: error %v, entered %q", method, err, entered)
			}
			return
		}
		want := []retake.NamespaceID{"a"}
		if slices.Contains(cross, method) {
			want = []retake.NamespaceID{""}
		}
		if !errors.Is(err, refused) {
			t.Errorf("%s: error %v", method, err)
		}
		if d := cmp.Diff(want, entered); d != "" {
			t.Errorf("%s entered (-want +got):\n%s", method, d)
		}
		entered = nil
	}
	callEach(t, reflect.ValueOf(l), reflect.TypeFor[serverdb.Ledger](), judge)
	callEach(t, reflect.ValueOf(l.Book("a")), reflect.TypeFor[serverdb.Book](), judge)
}

// TestEnterAgain: rows of a namespace are read from inside it, also when the question came
// from outside.
func TestEnterAgain(t *testing.T) {
	t.Parallel()
	var entered []retake.NamespaceID
	l := open(t, database(t, sqlite.Memory), sqldb.Options{Enter: func(_ context.Context, _ *sql.Tx, ns retake.NamespaceID) error {
		entered = append(entered, ns)
		return nil
	}})
	wantNoError(t, l.AddNamespace(t.Context(), retake.Namespace{ID: "b"}, nil))
	wantNoError(t, l.AddNamespace(t.Context(), retake.Namespace{ID: "a"}, nil))
	wantNoError(t, l.Book("b").AddKey(t.Context(), retake.Key{ID: "k"}, [32]byte{1}))
	entered = nil
	_, _, err := l.KeyByDigest(t.Context(), [32]byte{1})
	wantNoError(t, err)
	_, err = l.Namespaces(t.Context())
	wantNoError(t, err)
	if d := cmp.Diff([]retake.NamespaceID{"", "b", "", "a", "b"}, entered); d != "" {
		t.Errorf("entered (-want +got):\n%s", d)
	}
}

// TestTables: every table is listed, and those of tenants have their column.
func TestTables(t *testing.T) {
	t.Parallel()
	db := database(t, sqlite.Memory)
	wantNoError(t, sqldb.Migrate(t.Context(), db))
	wantNoError(t, sqldb.Migrate(t.Context(), db))
	listed := []string{sqldb.VersionTable}
	for _, table := range sqldb.Tables() {
		listed = append(listed, table.Name)
		var n int
		wantNoError(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pragma_table_info($1) WHERE name = 'ns'`, table.Name).Scan(&n))
		if table.Tenant && n != 1 {
			t.Errorf("%s has no column ns", table.Name)
		}
	}
	rows, err := db.QueryContext(t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
	wantNoError(t, err)
	defer rows.Close()
	var there []string
	for rows.Next() {
		var name string
		wantNoError(t, rows.Scan(&name))
		there = append(there, name)
	}
	wantNoError(t, rows.Err())
	slices.Sort(listed)
	if d := cmp.Diff(there, listed); d != "" {
		t.Errorf("tables (-there +listed):\n%s", d)
	}
}

// TestSweep: old replies go while new ones come.
func TestSweep(t *testing.T) {
	t.Parallel()
	db := database(t, sqlite.Memory)
	b := open(t, db, sqldb.Options{}).Book("a")
	count := func() (n int) {
		t.Helper()
		wantNoError(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM reply`).Scan(&n))
		return n
	}
	begin := func(key string, at time.Duration) {
		t.Helper()
		_, _, err := b.BeginReply(t.Context(), key, [32]byte{}, begun.Add(at), time.Minute)
		wantNoError(t, err)
	}
	for n := range 20 {
		begin(fmt.Sprint(n), 0)
		wantNoError(t, b.EndReply(t.Context(), fmt.Sprint(n), serverdb.Reply{Status: 200}, begun.Add(time.Hour)))
	}
	begin("one", 59*time.Minute)
	if count() != 21 {
		t.Fatalf("%d replies before any is old", count())
	}
	for n := range 10 {
		was := count()
		begin(fmt.Sprintf("late %d", n), 59*time.Minute+time.Minute)
		if gone := was + 1 - count(); gone > 4 {
			t.Errorf("%d replies went at once", gone)
		}
	}
	if count() != 10 {
		t.Errorf("%d replies, want the 10 that are not old", count())
	}
}

// TestWithin: what a catalog does, its entry and what is due are one step.
func TestWithin(t *testing.T) {
	t.Parallel()
	db := database(t, filepath.Join(t.TempDir(), "server.db"))
	now := clock.NewManual(begun)
	l := open(t, db, sqldb.Options{Clock: now})
	var fail error
	within := l.OnChange("a")
	c, err := sqlcatalog.New(t.Context(), db, "a", sqlcatalog.Options{OnChange: func(ctx context.Context, tx *sql.Tx, verb, subject string) error {
		return errors.Join(within(ctx, tx, verb, subject), fail)
	}})
	wantNoError(t, err)
	who := retake.Actor{Kind: retake.KeyAgent, Key: "key_1"}
	ctx := retake.WithActor(t.Context(), who)
	cp := retake.Checkpoint{ID: "cp_1", Workspace: "ws_1", Number: 1, Time: begun}
	fail = errors.New("no")
	if err := c.Append(ctx, cp); !errors.Is(err, fail) {
		t.Fatalf("error %v", err)
	}
	if n, _, err := l.Depth(ctx, serverdb.QueueOutbox); err != nil || n != 0 {
		t.Errorf("%d due after nothing happened, %v", n, err)
	}
	fail = nil
	wantNoError(t, c.Append(ctx, cp))
	wantNoError(t, c.Append(ctx, cp)) // it is there
	now.Advance(time.Hour)
	cp.ID, cp.Number = "cp_2", 2
	wantNoError(t, c.Append(ctx, cp))

	all, err := l.Book("a").Audit(ctx, retake.AuditQuery{})
	wantNoError(t, err)
	if len(all) != 2 || all[1].Subject != "cp_1" || all[0].Subject != "cp_2" || all[0].Actor != who || !all[0].Time.Equal(begun.Add(time.Hour)) {
		t.Errorf("entries %v", all)
	}
	due, err := l.Claim(ctx, serverdb.QueueOutbox, begun, time.Minute, 9)
	wantNoError(t, err)
	if len(due) != 1 || due[0].Namespace != "a" || due[0].ID != "" || !due[0].At.Equal(begun) {
		t.Errorf("due %v", due)
	}
	proof, err := sqldb.Check(ctx, "a", l.Book("a"), nil)
	wantNoError(t, err)
	if proof.Broken != 0 || proof.Entries != 2 {
		t.Errorf("proof %+v", proof)
	}
}

// TestWithinTogether: catalogs, acts, claims and publications of the same namespaces side
// by side end, and lose nothing.
func TestWithinTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.db")
	const each = 10
	var g errgroup.Group
	for w := range 4 {
		db := database(t, path)
		l := open(t, db, sqldb.Options{})
		ns := retake.NamespaceID(fmt.Sprint("n", w%2))
		c, err := sqlcatalog.New(t.Context(), db, string(ns), sqlcatalog.Options{OnChange: l.OnChange(ns)})
		wantNoError(t, err)
		g.Go(func() error {
			for n := range each {
				id := fmt.Sprintf("cp_%d_%d", w, n)
				ws := retake.WorkspaceID(fmt.Sprint("ws_", w))
				err := errors.Join(
					c.Append(t.Context(), retake.Checkpoint{ID: retake.CheckpointID(id), Workspace: ws, Number: int64(n + 1), Time: begun}),
					l.Book(ns).PutHook(t.Context(), serverdb.Hook{Webhook: retake.Webhook{ID: retake.WebhookID(id)}}),
					l.Book(ns).Publish(t.Context(), []retake.Event{{ID: id, Type: retake.EventCreated}},
						func(e retake.Event, h serverdb.Hook, _ retake.EventType) (string, []byte) {
							return e.ID + string(h.ID), nil
						}),
				)
				if err != nil {
					return err
				}
				due, err := l.Claim(t.Context(), serverdb.QueueOutbox, begun.AddDate(90, 0, 0), 0, 2)
				for _, d := range due {
					err = errors.Join(err, l.Finish(t.Context(), d))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	wantNoError(t, g.Wait())
	l := open(t, database(t, path), sqldb.Options{})
	for _, ns := range []retake.NamespaceID{"n0", "n1"} {
		proof, err := sqldb.Check(t.Context(), ns, l.Book(ns), nil)
		wantNoError(t, err)
		if proof.Broken != 0 || proof.Entries != 2*2*each {
			t.Errorf("%s: %+v", ns, proof)
		}
	}
}
