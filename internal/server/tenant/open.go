package tenant

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/recent"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/store"
)

const (
	writerTimeout   = 60 * time.Second
	namespaceMaxAge = 2 * time.Second // changes by another server are seen after this time
)

// openNamespace locks a namespace and opens its service in a slot. r.mu must be held.
func (p *Pool) openNamespace(ctx context.Context, ns retake.NamespaceID, r *namespaceSlot) error {
	row, err := p.opts.Ledger.Namespace(ctx, ns)
	if err != nil {
		return p.namespaceError(ns, err)
	}
	if row.Ended != nil {
		return &retake.Error{Kind: retake.Denied, What: "the namespace was deleted", Safe: unchanged}
	}
	free, err := p.lockNamespace(ctx, ns)
	if err != nil {
		return err
	}
	r.namespace, r.namespaceReadAt = row, p.opts.Clock.Now()
	t := &Tenant{ID: ns, Dirs: p.namespaceDirs(ns)}
	t.currentNamespace = func() retake.Namespace { return p.currentNamespace(ns, r) }
	t.confined = &confinedService{fsys: fsx.OS(), dirs: t.Dirs, currentNamespace: t.currentNamespace, clock: p.opts.Clock, onScrub: p.opts.OnScrub}
	t.confined.meter.mu.Lock() // signals of the last run are handled at once, and must wait for inner
	svc, err := p.newService(ctx, ns, r, t.confined)
	if err != nil {
		free()
		return err
	}
	r.service, r.releaseLock = svc, free
	t.confined.inner = svc
	t.confined.meter.mu.Unlock()
	t.Service = t.confined
	if p.opts.OnOpen != nil {
		p.opts.OnOpen(t)
	}
	r.tenant = t
	return nil
}

// namespaceError turns a missing row into an error for the user.
func (p *Pool) namespaceError(ns retake.NamespaceID, err error) error {
	if errors.Is(err, serverdb.ErrNotFound) {
		return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no namespace %s", ns), Safe: unchanged}
	}
	return err
}

// currentNamespace returns the row of a namespace and reads it again if it is too old. If that
// fails, the old row is used.
func (p *Pool) currentNamespace(ns retake.NamespaceID, r *namespaceSlot) retake.Namespace {
	r.namespaceMu.Lock()
	defer r.namespaceMu.Unlock()
	if now := p.opts.Clock.Now(); now.Sub(r.namespaceReadAt) > namespaceMaxAge {
		ctx, cancel := context.WithTimeout(context.Background(), namespaceMaxAge)
		defer cancel()
		if row, err := p.opts.Ledger.Namespace(ctx, ns); err == nil {
			r.namespace = row
		}
		r.namespaceReadAt = now
	}
	return r.namespace
}

// newService creates the directories of a namespace and the service that works in them.
func (p *Pool) newService(ctx context.Context, ns retake.NamespaceID, r *namespaceSlot, w *confinedService) (*service.Service, error) {
	place := p.namespaceDirs(ns)
	dirs := map[string]string{}
	for _, d := range []string{"store", "locks", "index", "returns", "signals", "sessions"} {
		dirs[d] = filepath.Join(place.Private, d)
	}
	for _, d := range append([]string{place.Files}, dirs["store"], dirs["locks"], dirs["index"], dirs["returns"], dirs["signals"], dirs["sessions"]) {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make the directory of a namespace: %w", err)
		}
	}
	own, err := filepath.EvalSymlinks(place.Private)
	if err != nil {
		return nil, fmt.Errorf("find the directory of a namespace: %w", err)
	}
	cat, err := p.opts.OpenCatalog(ctx, ns)
	if err != nil {
		return nil, err
	}
	m := &w.meter
	m.catalog, m.keys, m.clock, m.log = cat, p.opts.Ledger.Book(ns), p.opts.Clock, p.opts.Log.With("namespace", ns)
	m.limits, m.space = func() retake.Limits { return w.currentNamespace().Limits }, w.Space
	if p.opts.OnNearlyFull != nil {
		m.notify = func(ctx context.Context, f retake.Fullness, id string) error {
			return p.opts.OnNearlyFull(ctx, ns, f, id)
		}
	}
	limits := func() retake.Limits { return p.currentNamespace(ns, r).Limits }
	parts := service.Parts{
		Parts: workspace.Parts{
			Catalog: recent.New(cat), // nobody else changes it while this server has the namespace
			OpenStore: func(ctx context.Context, create bool) (store.Store, error) {
				begun := p.opts.Clock.Now()
				st, err := p.openStore(ctx, ns, place, create)
				p.noteOpened(ctx, PartStore, begun, err)
				return st, err
			},
			FS: fsx.OS(), IndexDir: dirs["index"], DataDir: own, Clock: p.opts.Clock, BootID: p.opts.Boot,
			RestoreDir: dirs["returns"], SignalDir: dirs["signals"], SessionDir: dirs["sessions"],
			Locks: fsx.NewLocks(place.Locks), LockWait: writerTimeout, Exclusive: true,
			Policy:             func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree:            p.opts.Floor,
			MaxCheckpointBytes: func() int64 { return limits().Checkpoint },
			MayAdd: func(ctx context.Context, ws retake.WorkspaceID, who retake.Actor) error {
				return w.meter.checkMayAdd(ctx, ws, who, false)
			},
		},
		Maintenance: maintenance.Options{RefuseWhenFull: true, Within: func(retake.WorkspaceID) time.Duration { return limits().Within }, GoneAfter: func(retake.WorkspaceID) time.Duration { return limits().GoneAfter }},
		KernelFence: true,
		Protection:  "remote",
	}
	parts.Diag = diag.New(p.opts.Log.With("namespace", ns), p.opts.Clock, p.opts.OnTaskFail)
	if p.opts.NewBackup != nil {
		parts.Backup.Worker = p.NewBackup(ns)
		parts.Backup.OnEnd = func(b retake.Backup, err error) { p.opts.OnBackupEnd(ns, b, err) }
	}
	if p.opts.Readers != nil {
		parts.Insight.Readers = p.opts.Readers(filepath.Join(own, "reader.key"))
	}
	return service.New(parts), nil
}

// NewBackup returns what makes the backups of a namespace, which need not be open.
func (p *Pool) NewBackup(ns retake.NamespaceID) *backup.Worker {
	place := p.namespaceDirs(ns)
	own, err := filepath.EvalSymlinks(place.Private)
	if err != nil { // it has no directory yet, and no backups
		own = place.Private
	}
	return p.opts.NewBackup(ns, filepath.Join(own, BackupDir), fsx.NewLocks(place.Locks))
}

// openStore unseals the password of a store and opens the store with it.
func (p *Pool) openStore(ctx context.Context, ns retake.NamespaceID, place Dirs, create bool) (store.Store, error) {
	sealed, err := p.opts.Ledger.Password(ctx, ns)
	if err != nil {
		return nil, fmt.Errorf("read the password of a store: %w", err)
	}
	password, err := p.opts.Sealer.Open(ctx, PasswordPurpose(ns), sealed)
	if retake.IsKind(err, retake.Away) { // the key is not there yet
		return nil, err
	}
	if err != nil {
		return nil, &retake.Error{Kind: retake.Away, What: "the store of the namespace cannot be unlocked", Safe: unchanged, Hint: "the key-encryption key is another than the one that sealed it", Err: err}
	}
	return p.opts.OpenStore(ctx, ns, place, string(password), create)
}

// PasswordPurpose binds a sealed password to its namespace: it cannot be unsealed for another.
func PasswordPurpose(ns retake.NamespaceID) string { return "store of " + string(ns) }

// Create adds a namespace and takes the first checkpoint of its default workspace.
func (p *Pool) Create(ctx context.Context, row retake.Namespace) (retake.Namespace, error) {
	if err := CheckNamespaceName(row.ID); err != nil {
		return row, err
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never returns an error
	sealed, err := p.opts.Sealer.Seal(ctx, PasswordPurpose(row.ID), []byte(hex.EncodeToString(raw)))
	if err != nil {
		return row, fmt.Errorf("seal the password of a store: %w", err)
	}
	row.Created = p.opts.Clock.Now()
	if row.Roots == nil {
		row.Roots = []string{}
	}
	err = p.opts.Ledger.AddNamespace(ctx, row, sealed)
	if errors.Is(err, serverdb.ErrExists) {
		return row, &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("there is a namespace %s already", row.ID), Safe: unchanged}
	}
	if err != nil {
		return row, err
	}
	return p.createDefaultWorkspace(ctx, row)
}

// createDefaultWorkspace creates the default workspace of a namespace.
func (p *Pool) createDefaultWorkspace(ctx context.Context, row retake.Namespace) (retake.Namespace, error) {
	t, release, err := p.Open(ctx, row.ID)
	if err != nil {
		return row, err
	}
	defer release()
	res, err := t.Service.Init(ctx, retake.InitRequest{Name: DefaultWorkspaceName})
	if err != nil {
		return row, err
	}
	return p.opts.Ledger.ChangeNamespace(ctx, row.ID, func(ns *retake.Namespace) error {
		ns.Default = res.Workspace.ID
		return nil
	})
}

// DefaultWorkspaceName is the name of a namespace's default workspace.
const DefaultWorkspaceName = "default"
