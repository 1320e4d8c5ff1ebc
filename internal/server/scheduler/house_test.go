package scheduler_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

const (
	acme = retake.NamespaceID("acme")
	day  = 24 * time.Hour
)

var startTime = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// fixture is a server with one namespace: a ledger, and a service with real files.
type fixture struct {
	kept      []serverdb.Anchor // outside of the database
	keepError error
	*testing.T
	clock      *clock.Manual
	db         *sql.DB
	ledger     *sqldb.Ledger
	book       serverdb.Book
	svc        *service.Service
	store      *memorytest.Store
	root       string
	ws         retake.WorkspaceID
	private    ed25519.PrivateKey
	public     ed25519.PublicKey
	dispatcher *webhooks.Dispatcher
	onOpen     func(ns retake.NamespaceID) error // called when a namespace is opened; nil: nothing
	writes     int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{T: t, clock: clock.NewManual(startTime), store: memorytest.New(), root: filepath.Join(t.TempDir(), "shop")}
	var err error
	h.db, err = sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	h.must(err)
	t.Cleanup(func() { h.db.Close() })
	h.ledger, err = sqldb.New(t.Context(), h.db, sqldb.Options{Clock: h.clock})
	h.must(err)
	h.must(h.ledger.AddNamespace(t.Context(), retake.Namespace{ID: acme, Created: startTime}, []byte("sealed")))
	h.book = h.ledger.Book(acme)
	h.public, h.private, err = ed25519.GenerateKey(nil)
	h.must(err)
	h.startService()
	h.must(os.Mkdir(h.root, 0o755))
	h.changeFile()
	res, err := h.svc.Init(t.Context(), retake.InitRequest{Dir: h.root})
	h.must(err)
	h.ws = res.Workspace.ID
	h.changeNamespace(func(ns *retake.Namespace) { ns.Default = h.ws })
	return h
}

func (h *fixture) startService() {
	h.Helper()
	home := h.TempDir()
	for _, dir := range []string{"index", "returns"} {
		h.must(os.Mkdir(filepath.Join(home, dir), 0o700))
	}
	cat, err := sqlcatalog.New(h.Context(), h.db, string(acme), sqlcatalog.Options{OnChange: h.ledger.OnChange(acme)})
	h.must(err)
	h.svc = service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return h.store, nil },
			FS:        fsx.OS(), IndexDir: filepath.Join(home, "index"), DataDir: home,
			RestoreDir: filepath.Join(home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: h.clock, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
		Maintenance: maintenance.Options{Within: func(retake.WorkspaceID) time.Duration { return 30 * day }},
	})
	h.Cleanup(func() { _ = h.svc.Close() })
	h.dispatcher = webhooks.New(webhooks.Options{
		Ledger: h.ledger, Clock: h.clock,
		OpenOutbox: func(context.Context, retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
			return cat, func() {}, nil
		},
	})
}

func (h *fixture) changeNamespace(change func(*retake.Namespace)) {
	h.Helper()
	_, err := h.ledger.ChangeNamespace(h.Context(), acme, func(ns *retake.Namespace) error {
		change(ns)
		return nil
	})
	h.must(err)
}

func (h *fixture) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *fixture) options() scheduler.Options {
	return scheduler.Options{
		Ledger: h.ledger, Clock: h.clock, Publish: h.dispatcher.Publish,
		SignAnchor: func(text []byte) []byte { return ed25519.Sign(h.private, text) },
		KeepAnchor: func(_ context.Context, _ retake.NamespaceID, a serverdb.Anchor) error {
			h.kept = append(h.kept, a)
			return h.keepError
		},
		OpenService: func(_ context.Context, ns retake.NamespaceID) (retake.Service, func(), error) {
			if h.onOpen != nil {
				if err := h.onOpen(ns); err != nil {
					return nil, nil, err
				}
			}
			return h.svc, func() {}, nil
		},
	}
}

func (h *fixture) newScheduler() *scheduler.Scheduler { return scheduler.New(h.options()) }

// runDue handles what is due now in a queue, including items that become due meanwhile.
func (h *fixture) runDue(tt *scheduler.Scheduler, queue string) {
	h.Helper()
	for {
		n, err := tt.RunOnce(h.Context(), queue)
		h.must(err)
		if n == 0 {
			return
		}
	}
}

// changeFile changes a file.
func (h *fixture) changeFile() {
	h.Helper()
	h.writes++
	h.must(os.WriteFile(filepath.Join(h.root, "a"), fmt.Appendf(nil, "text %d", h.writes), 0o644))
}

// saveCheckpoints takes n checkpoints, each one step later.
func (h *fixture) saveCheckpoints(n int, step time.Duration) {
	h.Helper()
	for range n {
		h.clock.Advance(step)
		h.changeFile()
		_, err := h.svc.Save(h.Context(), retake.SaveRequest{Workspace: h.ws, Trigger: retake.TriggerQuiet})
		h.must(err)
	}
}

func (h *fixture) timeline() retake.Timeline {
	h.Helper()
	line, err := h.svc.Log(h.Context(), retake.LogQuery{Workspace: h.ws})
	h.must(err)
	return line
}

func (h *fixture) checkpoint(ref string) retake.Checkpoint {
	h.Helper()
	cp, err := h.svc.Find(h.Context(), h.ws, ref)
	h.must(err)
	return cp
}

// addSchedule adds a schedule, as an office does.
func (h *fixture) addSchedule(work retake.ScheduleWork, cron string) retake.Schedule {
	h.Helper()
	s, err := scheduler.PlanSchedule(retake.ScheduleRequest{Work: work, Cron: cron}, h.clock.Now())
	h.must(err)
	h.must(h.book.PutSchedule(h.Context(), s))
	h.must(h.ledger.Put(h.Context(), serverdb.Due{Queue: serverdb.QueueSchedule, Namespace: acme, ID: s.ID, At: s.Next}))
	return s
}

func (h *fixture) schedule(id string) retake.Schedule {
	h.Helper()
	s, err := h.book.Schedule(h.Context(), id)
	h.must(err)
	return s
}

// eventsOfType returns the data of all events of a type.
func (h *fixture) eventsOfType(kind retake.EventType) []retake.EventData {
	h.Helper()
	all, err := h.book.Events(h.Context(), 0, 0)
	h.must(err)
	var out []retake.EventData
	for _, e := range all {
		if e.Type == kind {
			var d retake.EventData
			h.must(json.Unmarshal(e.Data, &d))
			out = append(out, d)
		}
	}
	return out
}
