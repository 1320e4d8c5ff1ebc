package server

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/server/adminapi"
	"github.com/retake-dev/retake/internal/server/gateway"
	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/tracing"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

var queues = []string{serverdb.QueueOutbox, serverdb.QueueDelivery, serverdb.QueueSchedule, serverdb.QueueDeletion, serverdb.QueueRetention, serverdb.QueueAnchor}

// assemble puts namespaces, jobs and front on the rows.
func (s *Server) assemble(ctx context.Context) error {
	s.socket = filepath.Join(s.o.Data, "run", strconv.Itoa(os.Getpid())+"-"+rand.Text()[:6]+".sock")
	sender := webhook.NewSender(webhook.SenderOptions{Lenient: s.o.Lenient})
	var err error
	if s.pool, err = tenant.New(tenant.Options{
		Data: s.o.Data, Address: s.socket, Ledger: s.ledger, Seal: s.seal, Clock: s.o.Clock, Log: s.o.Log, Most: s.o.Most,
		Catalog: s.rows, Store: s.openStore, Readers: s.o.Readers, Floor: s.o.Floor, Boot: s.o.Boot, Grow: s.grow,
		Backed: s.backedUp,
		Backup: func(_ retake.NamespaceID, dir string, locks fsx.Locks) *backup.Worker {
			return backup.New(backup.Options{Dir: dir, Path: s.o.Path, Seal: s.seal, Locks: locks, Clock: s.o.Clock, Address: sender.Address})
		},
	}); err != nil {
		return err
	}
	s.meter = metrics.New(func() float64 { return float64(s.pool.Held()) }, queues, s.depth)
	if s.o.Trace != "" {
		if s.trace, err = tracing.New(ctx, s.o.Trace, s.o.Version); err != nil {
			return err
		}
	}
	s.courier = webhooks.New(webhooks.Options{
		Ledger: s.ledger, Seal: s.seal, Clock: s.o.Clock, Log: s.o.Log,
		Sender: sender,
		Outbox: s.outbox, Address: s.address,
	})
	s.table = scheduler.New(scheduler.Options{
		Ledger: s.ledger, Clock: s.o.Clock, Log: s.o.Log,
		Open: func(ctx context.Context, ns retake.NamespaceID) (retake.Service, func(), error) {
			t, release, err := s.pool.Open(ctx, ns)
			if err != nil {
				return nil, nil, err
			}
			return t.Service, release, nil
		},
		Publish:   s.courier.Publish,
		Sign:      func(b []byte) []byte { return ed25519.Sign(s.signer, b) },
		Elsewhere: elsewhere,
	})
	s.front = gateway.New(gateway.Options{Ledger: s.ledger, Seal: s.seal, Pool: s.pool, Clock: s.o.Clock, Log: s.o.Log, Meter: s.meter, Trace: s.trace, Ready: s.ready, Public: s.o.Public,
		Stir: func() { s.courier.Stir(serverdb.QueueOutbox) }, Tools: http.HandlerFunc(s.tools)})
	return nil
}

// grow gives a namespace its office and its handler.
func (s *Server) grow(t *tenant.Tenant) {
	o := adminapi.New(adminapi.Options{
		Namespace: t.ID, Ledger: s.ledger, Service: t.Service, Seal: s.seal, Clock: s.o.Clock, Space: t.Space,
		Hosted: t.Hosted, Hold: t.Hold, Release: t.Release, Lenient: s.o.Lenient, Public: s.public(),
		Verify: func(a serverdb.Anchor) error { return s.verify(t.ID, a) },
		Plan:   scheduler.Plan, Replay: s.courier.Replay, Stir: func() { s.courier.Stir(serverdb.QueueDelivery) },
		Ceiling: ceiling(), Room: func() (int64, error) { return s.roomAt(t.Place.Files) },
	})
	api := httpapi.New(t.Service, httpapi.Options{
		Office: o, Cursors: s.cursors, Carry: true, Stop: s.carried, Leaving: s.leaving, Log: s.o.Log,
		About: func() retake.About { return retake.About{Version: s.o.Version, Started: s.started, Namespace: t.ID} },
	})
	t.Hang = &hung{o, web.Content(api, t.Service, httpapi.WriteProblem)}
}

// roomAt is how much may be written at a path before the floor of its disk is reached.
func (s *Server) roomAt(path string) (int64, error) {
	free, total, err := fsx.OS().Free(path)
	if err != nil {
		return 0, fmt.Errorf("ask for room: %w", err)
	}
	if s.o.Floor != nil {
		free -= s.o.Floor(total)
	}
	return max(free, 0), nil
}

// hung is what stands on a namespace that is open.
type hung struct {
	office *adminapi.Office
	http.Handler
}

// ceiling is what a tenant may set for itself at most.
func ceiling() retake.Limits {
	l := retake.DefaultLimits()
	l.Within, l.Store, l.Workspaces, l.PerSecond, l.RestoreHour = 0, 0, 0, 0, 0
	return l
}

func (s *Server) verify(ns retake.NamespaceID, a serverdb.Anchor) error {
	if ed25519.Verify(s.signer.Public().(ed25519.PublicKey), scheduler.AnchorText(ns, a), a.Signature) {
		return nil
	}
	return errors.New("the signature of the anchor is not ours")
}

// sparedPacks is how old a pack in a bucket is before a clean-up deletes it.
const sparedPacks = 24 * time.Hour

func (s *Server) openStore(ctx context.Context, ns retake.NamespaceID, at tenant.Place, password string, create bool) (store.Store, error) {
	o := kopia.Options{
		Dir: at.Store, FS: fsx.OS(), Locks: fsx.NewLocks(at.Locks), Clock: s.o.Clock, Exclusive: true,
		Password: password, Derivation: s.o.Derivation,
	}
	if s.o.Bucket != nil {
		b := *s.o.Bucket
		b.Prefix += "ns/" + string(ns) + "/"
		o.Bucket, o.Spare, o.Still = &b, sparedPacks, s.ownsBucket
	}
	if create {
		return kopia.Create(ctx, o)
	}
	st, err := kopia.Open(ctx, o)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &retake.Error{Kind: retake.NotFound, What: "the namespace has no store yet", Safe: "Nothing was changed."}
	}
	return st, err
}

// address is where a checkpoint can be asked for; without a public address of ours it
// begins at the root of whatever address the asker knows.
func (s *Server) address(_ retake.NamespaceID, ws retake.WorkspaceID, cp retake.CheckpointID) string {
	return strings.TrimSuffix(s.o.Public, "/") + "/v1/workspaces/" + string(ws) + "/find?ref=" + string(cp)
}

// backedUp tells the world that a backup did not work.
func (s *Server) backedUp(ns retake.NamespaceID, b retake.Backup, err error) {
	if err == nil {
		return
	}
	now := s.o.Clock.Now()
	e, cerr := webhooks.Compose(retake.EventBackup, now, retake.EventData{Namespace: ns, Workspace: b.Workspace, Name: b.URL, Why: retake.AsError(err).What}, now.UTC().Format(time.RFC3339Nano))
	if cerr == nil {
		cerr = s.courier.Publish(s.carried, ns, e)
	}
	if cerr != nil {
		s.o.Log.Error("tell of a backup that failed", "ns", ns, "err", cerr)
	}
}

func elsewhere(err error) bool {
	var e *tenant.ElsewhereError
	return errors.As(err, &e)
}

// outbox opens the rows of a namespace that need no store.
func (s *Server) outbox(ctx context.Context, ns retake.NamespaceID) (webhooks.Rows, func(), error) {
	c, err := s.rows(ctx, ns)
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil // the database stays open
}

func (s *Server) depth(queue string) float64 {
	n, _, err := s.ledger.Depth(context.Background(), queue)
	if err != nil {
		return -1
	}
	return float64(n)
}

// ready asks the parts below.
func (s *Server) ready(ctx context.Context) map[string]error {
	return map[string]error{"database": s.ownsDatabase(ctx), "disk": s.writable()}
}

func (s *Server) writable() error {
	b, err := json.Marshal(s.started)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.o.Data, "run", fmt.Sprintf("%d.ready", os.Getpid())), b, 0o600); err != nil {
		return fmt.Errorf("write to the data directory: %w", err)
	}
	return nil
}
