// Package tenant opens namespaces: the rows, the store and the directory of each, as one
// Service that keeps inside its walls.
//
// It makes directories below the server's data directory and nothing elsewhere. It never
// knows who asks; it never opens a port.
//
//	P1  A namespace is open in one server at a time: a lock that ends with the process says so.
//	P2  No path that a tenant names leads out of the directories that are the namespace's.
//	P3  The password of a store is in memory only while it is being opened.
package tenant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Options are what a pool stands on.
type Options struct {
	DataDir string // the server's directory
	Address string // where other servers of this data directory find this one
	Ledger  serverdb.Ledger
	Sealer  secretbox.Keeper
	Clock   clock.Clock
	Log     *slog.Logger
	MaxOpen int // namespaces that are open at once; more wait for one that nobody uses

	OpenCatalog func(ctx context.Context, ns retake.NamespaceID) (catalog.Catalog, error)
	OpenStore   func(ctx context.Context, ns retake.NamespaceID, own Dirs, password string, create bool) (store.Store, error)
	Readers     func(keyFile string) *xray.Pool // nil: nothing is read for its meaning
	Floor       func(total int64) int64
	Boot        string
	NewBackup   func(ns retake.NamespaceID, dir string, locks fsx.Locks) *backup.Worker
	OnBackupEnd func(ns retake.NamespaceID, b retake.Backup, err error) // how a backup ended
	OnOpen      func(t *Tenant)                                         // adds what stands on the service: office and handler
}

// Dirs is the directory of a namespace.
type Dirs struct {
	Private string // store, indexes, locks, journals: nobody else's
	Store   string
	Locks   string
	Files   string // workspaces of the namespace, one directory each
}

// Tenant is a namespace that is open.
type Tenant struct {
	ID         retake.NamespaceID
	Service    retake.Service
	Dirs       Dirs
	Attachment any // what Grow made

	confined         *confinedService
	currentNamespace func() retake.Namespace
}

// Namespace is the namespace as it was last read.
func (t *Tenant) Namespace() retake.Namespace { return t.currentNamespace() }

// Pool holds the namespaces that are open.
type Pool struct {
	opts  Options
	locks fsx.Locks

	mu     sync.Mutex
	slots  map[retake.NamespaceID]*namespaceSlot // guarded by mu
	closed bool                                  // guarded by mu
}

// namespaceSlot is one namespace. Its own lock is held while it opens or closes.
type namespaceSlot struct {
	mu              sync.Mutex
	tenant          *Tenant // guarded by mu; nil: shut
	service         *service.Service
	releaseLock     func()           // gives the lock back
	users           int              // guarded by Pool.mu
	lastUsed        time.Time        // guarded by Pool.mu
	namespace       retake.Namespace // guarded by rowMu
	namespaceReadAt time.Time
	namespaceMu     sync.Mutex
}

// New makes a pool. It opens nothing.
func New(o Options) (*Pool, error) {
	locks := filepath.Join(o.DataDir, "held")
	for _, d := range []string{o.DataDir, locks, filepath.Join(o.DataDir, "ns")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make the server's directory: %w", err)
		}
	}
	if o.MaxOpen <= 0 {
		o.MaxOpen = 64
	}
	return &Pool{opts: o, locks: fsx.NewLocks(locks), slots: map[retake.NamespaceID]*namespaceSlot{}}, nil
}

// ElsewhereError says that another server has the namespace.
type ElsewhereError struct{ Address string }

func (e *ElsewhereError) Error() string { return "another server has the namespace: " + e.Address }

var namespacePattern = pattern.Lazy(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckNamespaceName says whether a namespace may be called so.
func CheckNamespaceName(ns retake.NamespaceID) error {
	if namespacePattern().MatchString(string(ns)) {
		return nil
	}
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not a valid namespace name", ns), Safe: unchanged,
		Hint: "lowercase letters, digits and dashes, at most 63, a letter or digit at both ends"}
}

const unchanged = "Nothing was changed."

// namespaceDirs answers where a namespace lies.
func (p *Pool) namespaceDirs(ns retake.NamespaceID) Dirs {
	home := filepath.Join(p.opts.DataDir, "ns", string(ns))
	own := filepath.Join(home, "own")
	return Dirs{Private: own, Store: filepath.Join(own, "store"), Locks: filepath.Join(own, "locks"), Files: filepath.Join(home, "files")}
}

// Open answers a namespace for the length of one request; release it afterwards. Who
// comes first opens it, others wait. ElsewhereError: another server has it.
func (p *Pool) Open(ctx context.Context, ns retake.NamespaceID) (*Tenant, func(), error) {
	r, err := p.acquireSlot(ns)
	if err != nil {
		return nil, nil, err
	}
	release := sync.OnceFunc(func() { p.releaseSlot(r) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tenant == nil {
		if err := p.openNamespace(ctx, ns, r); err != nil {
			release()
			return nil, nil, err
		}
	}
	return r.tenant, release, nil
}

func (p *Pool) acquireSlot(ns retake.NamespaceID) (*namespaceSlot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &retake.Error{Kind: retake.Away, What: "the server is leaving", Safe: unchanged}
	}
	r := p.slots[ns]
	if r == nil {
		r = &namespaceSlot{}
		p.slots[ns] = r
	}
	r.users++
	r.lastUsed = p.opts.Clock.Now()
	return r, nil
}

func (p *Pool) releaseSlot(r *namespaceSlot) {
	p.mu.Lock()
	r.users--
	r.lastUsed = p.opts.Clock.Now()
	spare := p.takeIdleSlots()
	p.mu.Unlock()
	for _, r := range spare {
		go p.closeSlot(r)
	}
}

// takeIdleSlots answers the rooms to shut: the longest unused beyond the most. Under mu.
func (p *Pool) takeIdleSlots() []*namespaceSlot {
	over := len(p.slots) - p.opts.MaxOpen
	var out []*namespaceSlot
	for ; over > 0; over-- {
		var oldest *namespaceSlot
		var name retake.NamespaceID
		for ns, r := range p.slots {
			if r.users == 0 && (oldest == nil || r.lastUsed.Before(oldest.lastUsed)) {
				oldest, name = r, ns
			}
		}
		if oldest == nil {
			break
		}
		delete(p.slots, name)
		out = append(out, oldest)
	}
	return out
}

// closeSlot closes a room that nobody can enter any more, and gives its lock back last.
func (p *Pool) closeSlot(r *namespaceSlot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tenant == nil {
		return
	}
	if err := r.service.Close(); err != nil {
		p.opts.Log.Error("close namespace", "ns", r.tenant.ID, "err", err)
	}
	r.releaseLock()
	r.tenant, r.service, r.releaseLock = nil, nil, nil
}

// Close shuts all rooms.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	rooms := p.slots
	p.slots = map[retake.NamespaceID]*namespaceSlot{}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, r := range rooms {
		wg.Go(func() { p.closeSlot(r) })
	}
	wg.Wait()
	return nil
}

// OpenCount lists the namespaces that this server has open.
func (p *Pool) OpenCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots)
}

// lockNamespace takes the namespace for this server, or answers who has it. A holder that is
// just leaving is waited for.
func (p *Pool) lockNamespace(ctx context.Context, ns retake.NamespaceID) (func(), error) {
	try, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	free, err := p.locks.Lock(try, string(ns), true)
	if errors.Is(err, fsx.ErrLocked) {
		who, rerr := os.ReadFile(p.holderFile(ns))
		if rerr != nil || len(who) == 0 {
			return nil, &retake.Error{Kind: retake.Busy, What: "the namespace is being opened by another server", Safe: unchanged, Hint: "try again"}
		}
		return nil, &ElsewhereError{Address: strings.TrimSpace(string(who))}
	}
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(p.holderFile(ns), []byte(p.opts.Address+"\n"), 0o600); err != nil {
		free()
		return nil, fmt.Errorf("say who has the namespace: %w", err)
	}
	return free, nil
}

func (p *Pool) holderFile(ns retake.NamespaceID) string {
	return filepath.Join(p.opts.DataDir, "held", string(ns)+".at")
}
