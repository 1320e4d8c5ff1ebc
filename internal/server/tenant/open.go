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
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/store"
)

const (
	waitForWriter = 60 * time.Second
	rowAge        = 2 * time.Second // a change of limits by another server shows after that
)

// open makes the service of a namespace. Under the room's lock.
func (p *Pool) open(ctx context.Context, ns retake.NamespaceID, r *room) error {
	row, err := p.o.Ledger.Namespace(ctx, ns)
	if err != nil {
		return p.unknown(ns, err)
	}
	if row.Ended != nil {
		return &retake.Error{Kind: retake.Denied, What: "the namespace was deleted", Safe: unchanged}
	}
	free, err := p.claim(ctx, ns)
	if err != nil {
		return err
	}
	svc, err := p.serve(ctx, ns, r)
	if err != nil {
		free()
		return err
	}
	r.row, r.rowAt = row, p.o.Clock.Now()
	r.inner, r.free = svc, free
	t := &Tenant{ID: ns, Place: p.placeOf(ns)}
	t.space = func() retake.Namespace { return p.space(ns, r) }
	t.walls = &walled{Service: svc, fsys: fsx.OS(), place: t.Place, space: t.space, clock: p.o.Clock}
	t.Service = t.walls
	if p.o.Grow != nil {
		p.o.Grow(t)
	}
	r.tenant = t
	return nil
}

func (p *Pool) unknown(ns retake.NamespaceID, err error) error {
	if errors.Is(err, serverdb.ErrNotFound) {
		return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no namespace %s", ns), Safe: unchanged}
	}
	return err
}

// space reads the row again when it is old; while it cannot be read the old one serves.
func (p *Pool) space(ns retake.NamespaceID, r *room) retake.Namespace {
	r.rowMu.Lock()
	defer r.rowMu.Unlock()
	if now := p.o.Clock.Now(); now.Sub(r.rowAt) > rowAge {
		ctx, cancel := context.WithTimeout(context.Background(), rowAge)
		defer cancel()
		if row, err := p.o.Ledger.Namespace(ctx, ns); err == nil {
			r.row = row
		}
		r.rowAt = now
	}
	return r.row
}

func (p *Pool) serve(ctx context.Context, ns retake.NamespaceID, r *room) (*service.Service, error) {
	place := p.placeOf(ns)
	dirs := map[string]string{}
	for _, d := range []string{"store", "locks", "index", "returns", "signals", "sessions"} {
		dirs[d] = filepath.Join(place.Own, d)
	}
	for _, d := range append([]string{place.Files}, dirs["store"], dirs["locks"], dirs["index"], dirs["returns"], dirs["signals"], dirs["sessions"]) {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make the directory of a namespace: %w", err)
		}
	}
	own, err := filepath.EvalSymlinks(place.Own)
	if err != nil {
		return nil, fmt.Errorf("find the directory of a namespace: %w", err)
	}
	cat, err := p.o.Catalog(ctx, ns)
	if err != nil {
		return nil, err
	}
	limits := func() retake.Limits { return p.space(ns, r).Limits }
	parts := service.Parts{
		Catalog: cat,
		OpenStore: func(ctx context.Context, create bool) (store.Store, error) {
			return p.store(ctx, ns, place, create)
		},
		FS: fsx.OS(), Indexes: dirs["index"], Data: own, Clock: p.o.Clock, Boot: p.o.Boot,
		Returns: dirs["returns"], Signals: dirs["signals"], Sessions: dirs["sessions"],
		Locks: fsx.NewLocks(place.Locks), Fence: true, Wait: waitForWriter, Exclusive: true, Protection: "remote",
		Policy:     func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
		Floor:      p.o.Floor,
		Steadfast:  true, // an agent that fills the store must not push older checkpoints out
		Within:     func(retake.WorkspaceID) time.Duration { return limits().Within },
		GoneAfter:  func(retake.WorkspaceID) time.Duration { return limits().GoneAfter },
		Checkpoint: func() int64 { return limits().Checkpoint },
	}
	if p.o.Backup != nil {
		parts.Backup = p.o.Backup(ns, filepath.Join(own, "backup"), parts.Locks)
		parts.Backed = func(b retake.Backup, err error) { p.o.Backed(ns, b, err) }
	}
	if p.o.Readers != nil {
		parts.Readers = p.o.Readers(filepath.Join(own, "reader.key"))
	}
	return service.New(parts), nil
}

// store opens the bytes with the password, which is unsealed for that alone.
func (p *Pool) store(ctx context.Context, ns retake.NamespaceID, place Place, create bool) (store.Store, error) {
	sealed, err := p.o.Ledger.Password(ctx, ns)
	if err != nil {
		return nil, fmt.Errorf("read the password of a store: %w", err)
	}
	password, err := p.o.Seal.Open(ctx, purpose(ns), sealed)
	if err != nil {
		return nil, &retake.Error{Kind: retake.Away, What: "the store of the namespace cannot be unlocked", Safe: unchanged, Hint: "the key-encryption key is another than the one that sealed it", Err: err}
	}
	return p.o.Store(ctx, ns, place, string(password), create)
}

// purpose binds a sealed password to its namespace.
func purpose(ns retake.NamespaceID) string { return "store of " + string(ns) }

// Make adds a namespace and takes the first checkpoint of its default workspace.
func (p *Pool) Make(ctx context.Context, row retake.Namespace) (retake.Namespace, error) {
	if err := CheckName(row.ID); err != nil {
		return row, err
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails; the runtime ends the process instead
	sealed, err := p.o.Seal.Seal(ctx, purpose(row.ID), []byte(hex.EncodeToString(raw)))
	if err != nil {
		return row, fmt.Errorf("seal the password of a store: %w", err)
	}
	row.Created = p.o.Clock.Now()
	if row.Roots == nil {
		row.Roots = []string{}
	}
	err = p.o.Ledger.AddNamespace(ctx, row, sealed)
	if errors.Is(err, serverdb.ErrExists) {
		return row, &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("there is a namespace %s already", row.ID), Safe: unchanged}
	}
	if err != nil {
		return row, err
	}
	return p.begin(ctx, row)
}

// begin gives a namespace its default workspace.
func (p *Pool) begin(ctx context.Context, row retake.Namespace) (retake.Namespace, error) {
	t, release, err := p.Open(ctx, row.ID)
	if err != nil {
		return row, err
	}
	defer release()
	res, err := t.Service.Init(ctx, retake.InitRequest{Name: DefaultName})
	if err != nil {
		return row, err
	}
	row.Default = res.Workspace.ID
	return row, p.o.Ledger.PutNamespace(ctx, row)
}

// DefaultName is what the default workspace of a namespace is called.
const DefaultName = "default"
