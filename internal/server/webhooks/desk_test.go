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
	acme        = retake.NamespaceID("acme")
	workspaceID = retake.WorkspaceID("ws_00000000-0000-4000-8000-000000000001")
)

var startTime = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// fixture is the ledger of a server and one catalog in one database, as in production.
type fixture struct {
	*testing.T
	clock      clock.Clock
	heldClock  *clock.Manual // the same clock, if it is a held one
	ledger     *sqldb.Ledger
	book       serverdb.Book
	catalog    *sqlcatalog.Catalog
	sealer     secretbox.Keeper
	lastNumber int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	held := clock.NewManual(startTime)
	d := newFixtureWithClock(t, held)
	d.heldClock = held
	return d
}

func newFixtureWithClock(t *testing.T, c clock.Clock) *fixture {
	t.Helper()
	d := &fixture{T: t, clock: c}
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	d.must(err)
	t.Cleanup(func() { db.Close() })
	d.ledger, err = sqldb.New(t.Context(), db, sqldb.Options{Clock: c})
	d.must(err)
	d.must(d.ledger.AddNamespace(t.Context(), retake.Namespace{ID: acme, Created: c.Now()}, []byte("sealed")))
	d.book = d.ledger.Book(acme)
	d.catalog, err = sqlcatalog.New(t.Context(), db, string(acme), sqlcatalog.Options{OnChange: d.ledger.OnChange(acme)})
	d.must(err)
	d.sealer, err = secretbox.NewLocalKeeper(secretbox.NewKey())
	d.must(err)
	return d
}

func (d *fixture) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *fixture) options() webhooks.Options {
	return webhooks.Options{
		Ledger: d.ledger, Sealer: d.sealer, Clock: d.clock,
		Sender: webhook.NewSender(webhook.SenderOptions{Lenient: true, Clock: d.clock}),
		CheckpointURL: func(ns retake.NamespaceID, ws retake.WorkspaceID, cp retake.CheckpointID) string {
			return "/v1/" + string(cp)
		},
		OpenOutbox: func(context.Context, retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
			return d.catalog, func() {}, nil
		},
	}
}

func (d *fixture) newDispatcher() *webhooks.Dispatcher { return webhooks.New(d.options()) }

// runDue handles what is due now, including items that become due meanwhile.
func (d *fixture) runDue(c *webhooks.Dispatcher) {
	d.Helper()
	for {
		n, err := c.RunOnce(d.Context())
		d.must(err)
		if n == 0 {
			return
		}
	}
}

func checkpointID(n int64) retake.CheckpointID {
	return retake.CheckpointID(fmt.Sprintf("cp_00000000-0000-4000-8000-%012d", n))
}

// saveCheckpoint appends the next checkpoint, which change may modify.
func (d *fixture) saveCheckpoint(change func(*retake.Checkpoint)) retake.Checkpoint {
	d.Helper()
	d.lastNumber++
	cp := retake.Checkpoint{
		ID: checkpointID(d.lastNumber), Workspace: workspaceID, Number: d.lastNumber, Time: d.clock.Now(), Trigger: retake.TriggerManual,
		Intent: fmt.Sprintf("work %d", d.lastNumber), Tree: "ktree", Content: retake.ContentID(fmt.Sprintf("content %d", d.lastNumber)),
		Bytes: 1000 + d.lastNumber, Coverage: retake.Coverage{Grade: retake.Complete},
	}
	if change != nil {
		change(&cp)
	}
	d.must(d.catalog.Append(d.Context(), cp))
	return cp
}

func (d *fixture) forgetCheckpoints(numbers ...int64) {
	d.Helper()
	var stones []retake.Tombstone
	for _, n := range numbers {
		stones = append(stones, retake.Tombstone{Number: n, ID: checkpointID(n), Time: startTime, At: d.clock.Now()})
	}
	d.must(d.catalog.Bury(d.Context(), workspaceID, stones))
}

func (d *fixture) events() []retake.Event {
	d.Helper()
	all, err := d.book.Events(d.Context(), 0, 0)
	d.must(err)
	return all
}

func (d *fixture) delivery(id string) retake.Delivery {
	d.Helper()
	v, err := d.book.Delivery(d.Context(), id)
	d.must(err)
	return v
}

// onlyDelivery returns the only message.
func (d *fixture) onlyDelivery() retake.Delivery {
	d.Helper()
	all, err := d.book.Deliveries(d.Context(), retake.DeliveryQuery{})
	d.must(err)
	if len(all) != 1 {
		d.Fatalf("%d messages, want one: %+v", len(all), all)
	}
	return d.delivery(all[0].ID)
}

// addWebhook adds a webhook and returns the secret for its receiver.
func (d *fixture) addWebhook(id retake.WebhookID, url string, scheme retake.Scheme, types ...retake.EventType) (shown string) {
	d.Helper()
	private, shown, public := webhook.NewSecret(scheme)
	d.must(d.book.PutHook(d.Context(), serverdb.Hook{
		Webhook: retake.Webhook{ID: id, URL: url, Types: types, Scheme: scheme, Public: public, Created: d.clock.Now()},
		Secret:  d.sealSecret(id, private),
	}))
	return shown
}

func (d *fixture) sealSecret(id retake.WebhookID, private []byte) []byte {
	d.Helper()
	b, err := d.sealer.Seal(d.Context(), webhooks.SecretPurpose(acme, id), private)
	d.must(err)
	return b
}

// message is a message that arrived.
type message struct {
	id     string
	header http.Header
	body   []byte
}

// receiver is the endpoint of a webhook.
type receiver struct {
	url     string
	respond func(n int, w http.ResponseWriter) // n counts from 1; nil: 204

	mu       sync.Mutex
	received []message // guarded by mu
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter)) *receiver {
	t.Helper()
	in := &receiver{respond: answer}
	s := httptest.NewServer(in)
	t.Cleanup(s.Close)
	in.url = s.URL
	return in
}

func (in *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the message will be sent again
	}
	in.mu.Lock()
	in.received = append(in.received, message{id: r.Header.Get(webhook.HeaderID), header: r.Header.Clone(), body: body})
	n := len(in.received)
	in.mu.Unlock()
	if in.respond == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	in.respond(n, w)
}

func (in *receiver) messages() []message {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]message(nil), in.received...)
}

// respondWith responds with the same status to every message.
func respondWith(code int) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) { w.WriteHeader(code) }
}

var _ webhooks.CatalogReader = (catalog.Catalog)(nil)
