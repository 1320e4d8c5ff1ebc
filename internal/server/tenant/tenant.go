// Package tenant opens namespaces. It connects the catalog, the store and the directories of
// a namespace to one Service that is confined to them.
//
// It creates directories below the server's data directory and nowhere else. It does not know
// who sends a request, and never opens a port.
//
//	P1  A namespace is open in one server at a time. A file lock ensures it, which the system
//	    releases when the process ends.
//	P2  No path that a tenant sends leads out of the directories of its namespace.
//	P3  The password of a store is in memory only while the store is being opened.
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

// Options configure a pool.
type Options struct {
	DataDir string // data directory of the server
	Address string // socket at which other servers with this data directory reach this one
	Ledger  serverdb.Ledger
	Sealer  secretbox.Keeper
	Clock   clock.Clock
	Log     *slog.Logger
	MaxOpen int // idle namespaces are closed when more are open; 0: 64

	OpenCatalog func(ctx context.Context, ns retake.NamespaceID) (catalog.Catalog, error)
	OpenStore   func(ctx context.Context, ns retake.NamespaceID, own Dirs, password string, create bool) (store.Store, error)
	Readers     func(keyFile string) *xray.Pool // nil: file contents are not analyzed
	Floor       func(total int64) int64
	Boot        string
	NewBackup   func(ns retake.NamespaceID, dir string, locks fsx.Locks) *backup.Worker
	OnTaskFail  func(task string) // called for each failure in the background; nil: only the log has it
	// OnOpened is called when a namespace was opened, or its store, or could not be.
	OnOpened func(part string, took time.Duration, err error)
	// OnScrub is called when a scrub has ended, with the directory of its namespace.
	OnScrub     func(ctx context.Context, own Dirs, rep retake.ScrubReport, err error)
	OnBackupEnd func(ns retake.NamespaceID, b retake.Backup, err error) // called after each backup
	OnOpen      func(t *Tenant)                                         // called for each namespace that was opened; may set Attachment

	// OnNearlyFull publishes that the store or a share of it is nearly full, once for an ID.
	OnNearlyFull func(ctx context.Context, ns retake.NamespaceID, f retake.Fullness, id string) error
}

// Dirs are the directories of a namespace.
type Dirs struct {
	Private string // store, indexes, locks and journals; tenants cannot reach it
	Store   string
	Locks   string
	Files   string // hosted workspaces, one directory each
}

// Tenant is an open namespace.
type Tenant struct {
	ID         retake.NamespaceID
	Service    retake.Service
	Dirs       Dirs
	Attachment any // set by Options.OnOpen

	confined         *confinedService
	currentNamespace func() retake.Namespace
}

// Namespace returns the namespace's row, which is at most a few seconds old.
func (t *Tenant) Namespace() retake.Namespace { return t.currentNamespace() }

// Pool manages the open namespaces.
type Pool struct {
	opts  Options
	locks fsx.Locks

	mu     sync.Mutex
	slots  map[retake.NamespaceID]*namespaceSlot // guarded by mu
	closed bool                                  // guarded by mu
}

// namespaceSlot holds one namespace of a pool. mu is held while the namespace opens or closes.
type namespaceSlot struct {
	mu              sync.Mutex
	tenant          *Tenant // guarded by mu; nil: closed
	service         *service.Service
	releaseLock     func()           // releases the file lock
	users           int              // guarded by Pool.mu
	lastUsed        time.Time        // guarded by Pool.mu
	namespace       retake.Namespace // guarded by namespaceMu
	namespaceReadAt time.Time
	namespaceMu     sync.Mutex
}

// New creates a pool. It opens no namespace.
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

// ElsewhereError reports that another server has the namespace open.
type ElsewhereError struct{ Address string }

func (e *ElsewhereError) Error() string { return "another server has the namespace: " + e.Address }

var namespacePattern = pattern.Lazy(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckNamespaceName returns an error if a namespace may not have this name.
func CheckNamespaceName(ns retake.NamespaceID) error {
	if namespacePattern().MatchString(string(ns)) {
		return nil
	}
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not a valid namespace name", ns), Safe: unchanged,
		Hint: "lowercase letters, digits and dashes, at most 63, a letter or digit at both ends"}
}

const unchanged = "Nothing was changed."

// namespaceDirs returns the directories of a namespace.
func (p *Pool) namespaceDirs(ns retake.NamespaceID) Dirs {
	home := filepath.Join(p.opts.DataDir, "ns", string(ns))
	own := filepath.Join(home, "own")
	return Dirs{Private: own, Store: filepath.Join(own, "store"), Locks: filepath.Join(own, "locks"), Files: filepath.Join(home, "files")}
}

// BackupDir is the directory of git backups in the private directory of a namespace.
const BackupDir = "backup"

// EachDir calls f for the private directory of each namespace that the data directory has, whether
// it is open or not, until f returns an error.
func (p *Pool) EachDir(f func(own string) error) error {
	all, err := os.ReadDir(filepath.Join(p.opts.DataDir, "ns"))
	if err != nil {
		return fmt.Errorf("list namespaces: %w", err)
	}
	for _, e := range all {
		if !e.IsDir() {
			continue
		}
		if err := f(p.namespaceDirs(retake.NamespaceID(e.Name())).Private); err != nil {
			return err
		}
	}
	return nil
}

// Open returns a namespace for the duration of one request. The caller must call the returned
// function afterwards. The first caller opens the namespace and others wait for it. The error
// is an ElsewhereError if another server has the namespace open.
func (p *Pool) Open(ctx context.Context, ns retake.NamespaceID) (*Tenant, func(), error) {
	r, err := p.acquireSlot(ns)
	if err != nil {
		return nil, nil, err
	}
	release := sync.OnceFunc(func() { p.releaseSlot(r) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tenant == nil {
		begun := p.opts.Clock.Now()
		err := p.openNamespace(ctx, ns, r)
		p.noteOpened(ctx, PartNamespace, begun, err)
		if err != nil {
			release()
			return nil, nil, err
		}
	}
	return r.tenant, release, nil
}

// Parts that are opened: a namespace with a request, its store with the first one that needs it.
const (
	PartNamespace = "namespace"
	PartStore     = "store"
)

// noteOpened reports how an opening ended, unless that says nothing about this server: what is not
// there, what another server has open, and a caller that has gone.
func (p *Pool) noteOpened(ctx context.Context, part string, begun time.Time, err error) {
	var elsewhere *ElsewhereError
	if p.opts.OnOpened == nil || errors.Is(ctx.Err(), context.Canceled) || errors.As(err, &elsewhere) ||
		retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Denied) || retake.IsKind(err, retake.Busy) {
		return
	}
	p.opts.OnOpened(part, p.opts.Clock.Now().Sub(begun), err)
}

// acquireSlot returns the slot of a namespace and counts the caller as a user, so that the
// slot is not evicted.
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

// releaseSlot ends one use of a slot, and closes idle namespaces above the limit.
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

// takeIdleSlots removes the least recently used idle slots above the limit from the pool and
// returns them. p.mu must be held.
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

// closeSlot closes the namespace of a slot that is no longer in the pool. The file lock is
// released last, so that no other server opens the namespace before it is closed here.
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

// Close closes all namespaces.
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

// OpenCount returns the number of namespaces that this server has open.
func (p *Pool) OpenCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots)
}

// lockNamespace takes the lock of a namespace for this server and returns the function that
// releases it. If another server has the lock, the error is an ElsewhereError with its
// address. A short wait covers a server that is just closing the namespace.
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
