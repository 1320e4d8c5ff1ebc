package server

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
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
	"github.com/retake-dev/retake/internal/server/jobs"
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

var queueNames = []string{serverdb.QueueOutbox, serverdb.QueueDelivery, serverdb.QueueSchedule, serverdb.QueueDeletion, serverdb.QueueRetention, serverdb.QueueAnchor}

// assembleParts creates the namespace pool, the background jobs and the gateway.
func (s *Server) assembleParts(ctx context.Context) error {
	s.peerSocket = filepath.Join(s.opts.DataDir, "run", strconv.Itoa(os.Getpid())+"-"+rand.Text()[:6]+".sock")
	s.sender = webhook.NewSender(webhook.SenderOptions{Lenient: s.opts.AllowInsecureWebhooks, Allow: s.opts.AllowAddresses})
	var err error
	if s.pool, err = tenant.New(tenant.Options{
		DataDir: s.opts.DataDir, Address: s.peerSocket, Ledger: s.ledger, Sealer: s.sealer, Clock: s.opts.Clock, Log: s.opts.Log, MaxOpen: s.opts.MaxOpen,
		OpenCatalog: s.openCatalog, OpenStore: s.openStore, Readers: s.opts.Readers, Floor: s.opts.Floor, Boot: s.opts.Boot, OnOpen: s.attachHandlers,
		OnBackupEnd: s.reportBackupFailure, OnNearlyFull: s.reportNearlyFull,
		OnTaskFail: func(task string) { s.metrics.CountBackgroundFailure(task) },
		OnOpened:   func(part string, took time.Duration, err error) { s.metrics.CountOpen(part, took, err) },
		OnScrub:    s.noteScrub,
		NewBackup: func(_ retake.NamespaceID, dir string, locks fsx.Locks) *backup.Worker {
			return backup.New(backup.Options{Dir: dir, Path: s.opts.SearchPath, Seal: s.sealer, Locks: locks, Clock: s.opts.Clock, ResolveHost: s.resolveBackupHost})
		},
	}); err != nil {
		return err
	}
	s.prepareReadiness()
	s.metrics = metrics.New(s.db, s.gauges()...)
	if s.opts.TraceEndpoint != "" {
		if s.tracer, err = tracing.New(ctx, s.opts.TraceEndpoint, s.opts.Version); err != nil {
			return err
		}
	}
	s.dispatcher = webhooks.New(webhooks.Options{
		Ledger: s.ledger, Sealer: s.sealer, Clock: s.opts.Clock, Log: s.opts.Log,
		Sender: s.sender, Poll: workerPoll,
		OpenOutbox: s.openOutbox, CheckpointURL: s.checkpointURL,
	})
	s.scheduler = scheduler.New(scheduler.Options{
		Ledger: s.ledger, Clock: s.opts.Clock, Log: s.opts.Log, Poll: workerPoll,
		OpenService: func(ctx context.Context, ns retake.NamespaceID) (retake.Service, func(), error) {
			t, release, err := s.pool.Open(ctx, ns)
			if err != nil {
				return nil, nil, err
			}
			return t.Service, release, nil
		},
		Publish:     s.dispatcher.Publish,
		SignAnchor:  func(b []byte) []byte { return ed25519.Sign(s.anchorKey, b) },
		KeepAnchor:  s.keepAnchor,
		IsElsewhere: isElsewhere,
	})
	s.alarm = jobs.NewAlarm(jobs.AlarmOptions{Ledger: s.ledger, Clock: s.opts.Clock, Log: s.opts.Log, Wake: s.wakeWorker, Listen: s.listenQueue})
	s.gateway = gateway.New(gateway.Options{Ledger: s.ledger, Sealer: s.sealer, Pool: s.pool, Clock: s.opts.Clock, Log: s.opts.Log, Metrics: s.metrics, Tracer: s.tracer, CheckReadiness: s.checkReadiness, PublicURL: s.opts.PublicURL,
		WakeOutbox: func() { s.dispatcher.Wake(serverdb.QueueOutbox) }, Tools: http.HandlerFunc(s.serveTools)})
	return nil
}

// workerPoll is how often a worker reads its queue by itself: the alarm wakes it when something is
// due.
const workerPoll = time.Minute

// wakeWorker wakes the worker of a queue.
func (s *Server) wakeWorker(queue string) {
	s.dispatcher.Wake(queue)
	s.scheduler.Wake(queue)
}

// attachHandlers gives an open namespace its office and its HTTP handler.
func (s *Server) attachHandlers(t *tenant.Tenant) {
	o := adminapi.New(adminapi.Options{
		Namespace: t.ID, Ledger: s.ledger, Service: t.Service, Sealer: s.sealer, Clock: s.opts.Clock, CurrentNamespace: t.Namespace,
		MakeHostedDir: t.MakeHostedDir, PinHold: t.Hold, UnpinHold: t.Release, CheckWebhookURL: s.sender.CheckURL, AnchorPublicKey: s.anchorPublicKey(),
		VerifyAnchor: func(a serverdb.Anchor) error { return s.verifyAnchor(t.ID, a) },
		KeptAnchors:  func(ctx context.Context) ([]serverdb.Anchor, error) { return s.keptAnchors(ctx, t.ID) },
		PlanSchedule: scheduler.PlanSchedule, ReplayDelivery: s.dispatcher.Replay, WakeDelivery: func() { s.dispatcher.Wake(serverdb.QueueDelivery) },
		OpenRoot: t.OpenRoot, UploadDir: t.Dirs.Private, Measure: t.Usage, Provision: s.AddNamespace, ProvisionKey: s.AddKey,
		MaxLimits: maxTenantLimits(), AvailableBytes: func() (int64, error) { return s.availableBytes(t.Dirs.Files) }, CheckMayAdd: t.CheckMayAdd,
	})
	api := httpapi.New(t.Service, httpapi.Options{
		Office: o, Cursors: s.cursors, DetachWork: true, WorkContext: s.workCtx, StreamContext: s.streamCtx, Log: s.opts.Log,
		About:      func() retake.About { return retake.About{Version: s.opts.Version, Started: s.started, Namespace: t.ID} },
		Operations: s.operationsOf(t.ID),
		KeepOpen: func(ctx context.Context) (func(), error) {
			_, release, err := s.pool.Open(ctx, t.ID)
			return release, err
		},
	})
	t.Attachment = &namespaceHandler{o, web.ContentHandler(api, t.Service, httpapi.WriteProblem)}
}

// operationsOf returns the operations of a namespace. They are known longer than it is open.
func (s *Server) operationsOf(ns retake.NamespaceID) *httpapi.Operations {
	o, _ := s.operations.LoadOrStore(ns, httpapi.NewOperations(s.opts.Clock))
	return o.(*httpapi.Operations)
}

// availableBytes returns how many bytes may be written at a path before its disk reaches the
// floor.
func (s *Server) availableBytes(path string) (int64, error) {
	free, total, err := fsx.OS().FreeSpace(path)
	if err != nil {
		return 0, fmt.Errorf("ask for room: %w", err)
	}
	if s.opts.Floor != nil {
		free -= s.opts.Floor(total)
	}
	return max(free, 0), nil
}

// namespaceHandler is what an open namespace carries for the gateway and for the operator.
type namespaceHandler struct {
	office *adminapi.Office
	http.Handler
}

// maxTenantLimits returns the largest limits that a tenant may set for itself. 0 means that
// the server sets no bound.
func maxTenantLimits() retake.Limits {
	l := retake.DefaultLimits()
	l.Within, l.Store, l.Workspaces, l.PerSecond, l.RestoreHour = 0, 0, 0, 0, 0
	return l
}

// verifyAnchor checks that this server's key signed an anchor.
func (s *Server) verifyAnchor(ns retake.NamespaceID, a serverdb.Anchor) error {
	if ed25519.Verify(s.anchorKey.Public().(ed25519.PublicKey), scheduler.AnchorText(ns, a), a.Signature) {
		return nil
	}
	return errors.New("the signature of the anchor is not ours")
}

// packMinAge is the age below which a cleanup does not delete a pack in a bucket.
const packMinAge = 24 * time.Hour

// openStore opens or creates the store of a namespace, on disk or in the bucket.
func (s *Server) openStore(ctx context.Context, ns retake.NamespaceID, at tenant.Dirs, password string, create bool) (store.Store, error) {
	o := kopia.Options{
		Dir: at.Store, FS: fsx.OS(), Locks: fsx.NewLocks(at.Locks), Clock: s.opts.Clock, Exclusive: true,
		Password: password, Derivation: s.opts.Derivation,
	}
	if s.opts.Bucket != nil {
		b := *s.opts.Bucket
		b.Prefix += "ns/" + string(ns) + "/"
		o.Bucket, o.MinPackAge, o.StillOwned = &b, packMinAge, s.checkBucketOwner
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

// checkpointURL returns the URL of a checkpoint. Without a public URL it is only a path.
func (s *Server) checkpointURL(_ retake.NamespaceID, ws retake.WorkspaceID, cp retake.CheckpointID) string {
	return strings.TrimSuffix(s.opts.PublicURL, "/") + "/v1/workspaces/" + string(ws) + "/find?ref=" + string(cp)
}

// reportBackupFailure publishes an event if a backup failed.
func (s *Server) reportBackupFailure(ns retake.NamespaceID, b retake.Backup, err error) {
	if err == nil {
		return
	}
	now := s.opts.Clock.Now()
	e, cerr := webhooks.NewEvent(retake.EventBackup, now, retake.EventData{Namespace: ns, Workspace: b.Workspace, Name: b.URL, Why: retake.AsError(err).What}, now.UTC().Format(time.RFC3339Nano))
	if cerr == nil {
		cerr = s.dispatcher.Publish(s.workCtx, ns, e)
	}
	if cerr != nil {
		s.opts.Log.Error("tell of a backup that failed", "ns", ns, "err", cerr)
	}
}

// reportNearlyFull publishes that the store of a namespace or a share of it is nearly full.
func (s *Server) reportNearlyFull(ctx context.Context, ns retake.NamespaceID, f retake.Fullness, id string) error {
	d := retake.EventData{Namespace: ns, Workspace: f.Workspace, Key: f.Key, Bytes: f.Bytes, Limit: f.Limit, Percent: f.Percent}
	e, err := webhooks.NewEvent(retake.EventFull, s.opts.Clock.Now(), d, id)
	if err != nil {
		return err
	}
	return s.dispatcher.Publish(ctx, ns, e)
}

// resolveBackupHost returns the address of a host that backups may go to.
func (s *Server) resolveBackupHost(ctx context.Context, host string) (string, error) {
	at, err := s.sender.PublicAddress(ctx, host)
	if errors.Is(err, webhook.ErrNotPublic) {
		return "", fmt.Errorf("%w: %w", backup.ErrRefusedHost, err)
	}
	return at, err
}

// isElsewhere reports whether another server has the namespace open.
func isElsewhere(err error) bool {
	var e *tenant.ElsewhereError
	return errors.As(err, &e)
}

// openOutbox opens the catalog of a namespace without its store.
func (s *Server) openOutbox(ctx context.Context, ns retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
	c, err := s.openCatalog(ctx, ns)
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil // only the catalog is closed, not the database
}
