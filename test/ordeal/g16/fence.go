//go:build linux

package g16

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	books "github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// rowFence: the database alone keeps rows apart, when every question names another
// namespace than the one that was entered.
func rowFence(r *harness.Run) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G16", What: "the fence of the database alone: questions in the name of another", Detail: map[string]any{},
		Control: "the same questions after entering that namespace: rows come",
	}
	start := time.Now()
	f, err := openFence(r)
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	f.foreign(&v)
	var blind []string
	for name, ask := range f.questions("beta") {
		if n, _ := ask(); n > 0 {
			v.Caught++
		} else {
			blind = append(blind, name)
		}
	}
	v.Detail["nothing was there for"] = blind
	if err := errors.Join(f.db.Close(), f.h.Close()); err != nil {
		v.Fail("close: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// foreign asks and does everything in the name of another.
func (f *fence) foreign(v *harness.Verdict) {
	for name, ask := range f.questions("alpha") {
		v.Tried++
		if n, what := ask(); n != 0 {
			v.Fail("%s: %d came: %s", name, n, what)
		}
	}
	for name, do := range f.deeds("alpha") {
		v.Tried++
		before, err := f.h.Rows.Dump("beta")
		if err != nil {
			v.Fail("%v", err)
			return
		}
		deed := do()
		after, err := f.h.Rows.Dump("beta")
		if diff := (serverbed.State{Rows: before}).Unlike(serverbed.State{Rows: after}); len(diff) > 0 || err != nil {
			v.Fail("%s: %v: %.300s %v", name, deed, diff, err)
		}
	}
}

// fence is a database with two namespaces, of which one is asked for.
type fence struct {
	h  *serverbed.Hall
	db *sql.DB
	b  *serverbed.Realm
	cp retake.CheckpointID
}

func openFence(r *harness.Run) (*fence, error) {
	dsn, err := serverbed.PostgresFor(r)
	if err != nil {
		return nil, err
	}
	h, err := serverbed.OpenHall(r, serverbed.HallOptions{Postgres: dsn})
	if err != nil {
		return nil, err
	}
	sink, err := serverbed.NewReceiver(nil)
	if err != nil {
		return nil, err
	}
	f := &fence{h: h}
	if _, err := h.Add("alpha"); err != nil {
		return nil, err
	}
	if f.b, err = serverbed.FurnishRealm(h, "beta", sink); err != nil {
		return nil, err
	}
	if _, err := h.Must(f.b.Keys[retake.KeyAgent], http.MethodPost, "/v1/workspaces/"+string(f.b.Home)+"/verifications", `{"ref":"2","name":"test","command":"true","verdict":"passed"}`); err != nil {
		return nil, err
	}
	h.Settled()
	f.cp = retake.CheckpointID(f.b.Names["snapshot"])
	f.db, err = postgres.OpenDB(context.Background(), dsn, postgres.Options{})
	return f, err
}

// rows are the rows of beta, for who entered another namespace.
func (f *fence) rows(entered string) (catalog.Catalog, books.Ledger, error) {
	l, err := sqldb.New(context.Background(), f.db, sqldb.Options{
		Clock: clock.Wall, Explain: postgres.Explain,
		Enter: func(ctx context.Context, tx *sql.Tx, _ retake.NamespaceID) error {
			return postgres.EnterNamespace(entered)(ctx, tx)
		},
	})
	return sqlcatalog.ForNamespace(f.db, "beta", sqlcatalog.Options{EnterTx: postgres.EnterNamespace(entered), Explain: postgres.Explain}), l, err
}

type question func() (int, string)

// fetched counts what a question brings; an error brings nothing.
func fetched[T any](all []T, err error) (int, string) {
	if err != nil {
		return 0, ""
	}
	b, _ := json.Marshal(all) // for a person
	return len(all), fmt.Sprintf("%.200s", b)
}

func single[T any](one T, err error) (int, string) {
	if err != nil {
		return 0, ""
	}
	return fetched([]T{one}, nil)
}

func (f *fence) questions(entered string) map[string]question {
	c, l, err := f.rows(entered)
	if err != nil {
		return map[string]question{"open": func() (int, string) { return 1, err.Error() }}
	}
	ctx, ws, book := context.Background(), f.b.Home, l.Book("beta")
	return map[string]question{
		"workspace":     func() (int, string) { return single(c.Workspace(ctx, ws)) },
		"workspaces":    func() (int, string) { return fetched(c.Workspaces(ctx)) },
		"checkpoint":    func() (int, string) { return single(c.Checkpoint(ctx, f.cp)) },
		"by number":     func() (int, string) { return single(c.ByNumber(ctx, ws, 1)) },
		"by prefix":     func() (int, string) { return fetched(c.ByPrefix(ctx, ws, "cp_")) },
		"before":        func() (int, string) { return single(c.Before(ctx, ws, time.Now())) },
		"latest":        func() (int, string) { return single(c.Latest(ctx, ws, 0)) },
		"start":         func() (int, string) { return single(c.Start(ctx, ws)) },
		"page":          func() (int, string) { return fetched(c.Page(ctx, retake.LogQuery{Workspace: ws})) },
		"pins":          func() (int, string) { return fetched(c.Pins(ctx, ws)) },
		"bare":          func() (int, string) { return fetched(c.Bare(ctx, ws, 1<<20, 10)) },
		"verifications": func() (int, string) { return fetched(c.Verifications(ctx, catalog.VerificationQuery{Workspace: ws})) },
		"keys":          func() (int, string) { return fetched(book.Keys(ctx)) },
		"hooks":         func() (int, string) { return fetched(book.Hooks(ctx)) },
		"events":        func() (int, string) { return fetched(book.Events(ctx, 0, 100)) },
		"deliveries":    func() (int, string) { return fetched(book.Deliveries(ctx, retake.DeliveryQuery{})) },
		"delivery":      func() (int, string) { return single(book.Delivery(ctx, f.b.Names["delivery"])) },
		"schedules":     func() (int, string) { return fetched(book.Schedules(ctx)) },
		"deletions":     func() (int, string) { return fetched(book.Deletions(ctx)) },
		"audit":         func() (int, string) { return fetched(book.Audit(ctx, retake.AuditQuery{})) },
		"password":      func() (int, string) { return single(l.Password(ctx, "beta")) },
	}
}

// deeds would change rows of beta.
func (f *fence) deeds(entered string) map[string]func() error {
	c, l, err := f.rows(entered)
	if err != nil {
		return map[string]func() error{"open": func() error { return err }}
	}
	ctx, ws, book := retake.WithActor(context.Background(), retake.Actor{Kind: retake.KeyMaintainer}), f.b.Home, l.Book("beta")
	return map[string]func() error{
		"pins":    func() error { return c.SetPins(ctx, ws, nil) },
		"mark":    func() error { return c.SetMark(ctx, "a", "b") },
		"reset":   func() error { return c.Reset(ctx) },
		"bury":    func() error { return c.Bury(ctx, ws, []retake.Tombstone{{ID: f.cp, Number: 4}}) },
		"append":  func() error { return c.Append(ctx, retake.Checkpoint{ID: "cp_x", Workspace: ws, Number: 99}) },
		"add key": func() error { return book.AddKey(ctx, retake.Key{ID: "key_x"}, [32]byte{1}) },
		"revoke":  func() error { _, err := book.RevokeKey(ctx, f.b.Ids[retake.KeyAgent], time.Now()); return err },
		"hook":    func() error { return book.DropHook(ctx, retake.WebhookID(f.b.Names["hook"])) },
		"note":    func() error { return book.Note(ctx, "a", "b") },
		"password": func() error {
			_, own, err := f.rows("beta")
			if err != nil {
				return err
			}
			was, err := own.Password(ctx, "beta")
			if err != nil {
				return err
			}
			return l.PutPassword(ctx, "beta", was, []byte("x"))
		},
	}
}
