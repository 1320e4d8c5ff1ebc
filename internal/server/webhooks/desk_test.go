package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

const (
	acme  = retake.NamespaceID("acme")
	space = retake.WorkspaceID("ws_00000000-0000-4000-8000-000000000001")
)

var began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// desk is a server's ledger and one catalog in one database, as they are in the field.
type desk struct {
	*testing.T
	clock  clock.Clock
	held   *clock.Held // the same, when it is held
	ledger *sqldb.Ledger
	book   serverdb.Book
	cat    *sqlcatalog.Catalog
	keeper secretbox.Keeper
	number int64
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	held := clock.NewHeld(began)
	d := newDeskAt(t, held)
	d.held = held
	return d
}

func newDeskAt(t *testing.T, c clock.Clock) *desk {
	t.Helper()
	d := &desk{T: t, clock: c}
	db, err := sqlite.DB(t.Context(), sqlite.Memory, sqlite.Options{})
	d.must(err)
	t.Cleanup(func() { db.Close() })
	d.ledger, err = sqldb.New(t.Context(), db, sqldb.Options{Clock: c})
	d.must(err)
	d.must(d.ledger.AddNamespace(t.Context(), retake.Namespace{ID: acme, Created: c.Now()}, []byte("sealed")))
	d.book = d.ledger.Book(acme)
	d.cat, err = sqlcatalog.New(t.Context(), db, string(acme), sqlcatalog.Options{Within: d.ledger.Within(acme)})
	d.must(err)
	d.keeper, err = secretbox.Local(secretbox.NewKey())
	d.must(err)
	return d
}

func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) options() webhooks.Options {
	return webhooks.Options{
		Ledger: d.ledger, Seal: d.keeper, Clock: d.clock,
		Sender: webhook.NewSender(webhook.SenderOptions{Lenient: true, Clock: d.clock}),
		Address: func(ns retake.NamespaceID, ws retake.WorkspaceID, cp retake.CheckpointID) string {
			return "/v1/" + string(cp)
		},
		Outbox: func(context.Context, retake.NamespaceID) (webhooks.Rows, func(), error) {
			return d.cat, func() {}, nil
		},
	}
}

func (d *desk) courier() *webhooks.Courier { return webhooks.New(d.options()) }

// once does what is due now, also what that made due.
func (d *desk) once(c *webhooks.Courier) {
	d.Helper()
	for {
		n, err := c.Once(d.Context())
		d.must(err)
		if n == 0 {
			return
		}
	}
}

func checkpointID(n int64) retake.CheckpointID {
	return retake.CheckpointID(fmt.Sprintf("cp_00000000-0000-4000-8000-%012d", n))
}

// save appends the next checkpoint, after change looked at it.
func (d *desk) save(change func(*retake.Checkpoint)) retake.Checkpoint {
	d.Helper()
	d.number++
	cp := retake.Checkpoint{
		ID: checkpointID(d.number), Workspace: space, Number: d.number, Time: d.clock.Now(), Trigger: retake.TriggerManual,
		Intent: fmt.Sprintf("work %d", d.number), Tree: "ktree", Content: retake.ContentID(fmt.Sprintf("content %d", d.number)),
		Bytes: 1000 + d.number, Coverage: retake.Coverage{Grade: retake.Complete},
	}
	if change != nil {
		change(&cp)
	}
	d.must(d.cat.Append(d.Context(), cp))
	return cp
}

func (d *desk) forget(numbers ...int64) {
	d.Helper()
	var stones []retake.Tombstone
	for _, n := range numbers {
		stones = append(stones, retake.Tombstone{Number: n, ID: checkpointID(n), Time: began, At: d.clock.Now()})
	}
	d.must(d.cat.Bury(d.Context(), space, stones))
}

func (d *desk) events() []retake.Event {
	d.Helper()
	all, err := d.book.Events(d.Context(), 0, 0)
	d.must(err)
	return all
}

func (d *desk) delivery(id string) retake.Delivery {
	d.Helper()
	v, err := d.book.Delivery(d.Context(), id)
	d.must(err)
	return v
}

// only answers the one message that there is.
func (d *desk) only() retake.Delivery {
	d.Helper()
	all, err := d.book.Deliveries(d.Context(), retake.DeliveryQuery{})
	d.must(err)
	if len(all) != 1 {
		d.Fatalf("%d messages, want one: %+v", len(all), all)
	}
	return d.delivery(all[0].ID)
}

// hook adds a webhook, and answers what its receiver checks with.
func (d *desk) hook(id retake.WebhookID, url string, scheme retake.Scheme, types ...retake.EventType) (shown string) {
	d.Helper()
	private, shown, public := webhook.NewSecret(scheme)
	d.must(d.book.PutHook(d.Context(), serverdb.Hook{
		Webhook: retake.Webhook{ID: id, URL: url, Types: types, Scheme: scheme, Public: public, Created: d.clock.Now()},
		Secret:  d.sealed(id, private),
	}))
	return shown
}

func (d *desk) sealed(id retake.WebhookID, private []byte) []byte {
	d.Helper()
	b, err := d.keeper.Seal(d.Context(), webhooks.SecretPurpose(acme, id), private)
	d.must(err)
	return b
}

// message is one that arrived.
type message struct {
	id     string
	header http.Header
	body   []byte
}

// inbox is a receiver.
type inbox struct {
	url    string
	answer func(n int, w http.ResponseWriter) // n counts from 1; nil: 204

	mu  sync.Mutex
	all []message // guarded by mu
}

func newInbox(t *testing.T, answer func(n int, w http.ResponseWriter)) *inbox {
	t.Helper()
	in := &inbox{answer: answer}
	s := httptest.NewServer(in)
	t.Cleanup(s.Close)
	in.url = s.URL
	return in
}

func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever sends will send again
	}
	in.mu.Lock()
	in.all = append(in.all, message{id: r.Header.Get(webhook.HeaderID), header: r.Header.Clone(), body: body})
	n := len(in.all)
	in.mu.Unlock()
	if in.answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	in.answer(n, w)
}

func (in *inbox) messages() []message {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]message(nil), in.all...)
}

// status answers the same to everybody.
func status(code int) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) { w.WriteHeader(code) }
}

var _ webhooks.Rows = (catalog.Catalog)(nil)
