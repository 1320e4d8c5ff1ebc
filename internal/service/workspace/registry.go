package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Parts are the dependencies and settings that all parts of the service share.
type Parts struct {
	Catalog            catalog.Catalog
	OpenStore          func(ctx context.Context, create bool) (store.Store, error) // called once, on first need
	FS                 fsx.FS
	IndexDir           string // stat indexes
	DataDir            string // directory of the store
	RestoreDir         string // journals of restores, and the files they replaced
	SignalDir          string // queue of unfinished signals
	SessionDir         string // agent states
	HomeDir            string // the user's home directory, for the danger guard
	Clock              clock.Clock
	BootID             string // identity of this boot of the machine; "" if unknown
	Policy             func(retake.WorkspaceID) retake.Policy
	Habits             func(retake.WorkspaceID) retake.Habits
	MinFree            func(total int64) int64 // bytes that must stay free on the store's disk
	MaxCheckpointBytes func() int64            // maximum size of one tree; nil or 0: no limit
	Locks              fsx.Locks               // between processes
	LockWait           time.Duration           // how long to wait for another writer
	Tracker            *track.Tracker          // reports changes; nil: every save scans everything
	Environ            func() []string         // environment of checks if none was recorded
	Diag               *diag.Recorder          // logs and counts background work; may be nil
	Exclusive          bool                    // this service is the only writer and long-lived: it keeps more in memory and maintains the store between saves

	// MayAdd returns ErrOverLimit if no checkpoint may be added for a signal; nil: all may.
	MayAdd func(ctx context.Context, ws retake.WorkspaceID, who retake.Actor) error
}

// Registry finds and opens workspaces and their store, and keeps what is cached of them.
type Registry struct {
	Parts
	Background
	InUse          CheckpointsInUse
	writable       writeTest
	RequestUpkeep  func()       // asks for upkeep in the next pause
	CatalogMu      sync.RWMutex // write-locked while the catalog is rebuilt, so that no workspace seems unknown
	catalogChanges atomic.Int64 // one more when a rebuild begins and when it ends: odd while one runs

	opening     sync.Mutex  // held while the store is opened
	mu          sync.Mutex  // guards openedStore and caches; never held over disk I/O
	openedStore store.Store // nil until first needed
	caches      map[retake.WorkspaceID]*Cache

	sessionSyncs    sessionSyncs
	syncedAfterBoot atomic.Bool // the catalog has followed the store since the machine started
}

// New returns the workspaces of a store.
func New(p Parts) *Registry {
	if p.Environ == nil {
		p.Environ = func() []string { return nil }
	}
	return &Registry{Parts: p, Background: newBackground(p.Diag), caches: map[retake.WorkspaceID]*Cache{}, RequestUpkeep: func() {}}
}

// Close ends the watches, then closes the store and the catalog.
func (s *Registry) Close() error {
	for _, l := range s.allCaches() {
		s.StopWatch(l)
	}
	var err error
	if s.Tracker != nil {
		err = s.Tracker.Close()
	}
	if st := s.StoreIfOpen(); st != nil {
		err = errors.Join(err, st.Close())
	}
	return errors.Join(err, s.Catalog.Close())
}

// Store returns the store and opens it on first use, so that reading the timeline never has
// to.
func (s *Registry) Store(ctx context.Context) (store.Store, error) {
	return s.OpenOrCreateStore(ctx, false)
}

// OpenOrCreateStore returns the store, opening it if needed; with create it may be created.
func (s *Registry) OpenOrCreateStore(ctx context.Context, create bool) (store.Store, error) {
	if st := s.StoreIfOpen(); st != nil {
		return st, nil
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if st := s.StoreIfOpen(); st != nil {
		return st, nil
	}
	st, err := s.OpenStore(ctx, false)
	if retake.IsKind(err, retake.NotFound) || errors.Is(err, store.ErrNotFound) {
		st, err = createStore(ctx, s, create, err)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openedStore = st
	return st, nil
}

// createStore creates the store where there is none, unless the catalog knows of checkpoints: then
// it was lost, and a new one would hide that. missing is the error of opening it.
func createStore(ctx context.Context, s *Registry, create bool, missing error) (store.Store, error) {
	all, err := s.Catalog.Workspaces(AsMaintainer(ctx))
	if err != nil {
		return nil, err
	}
	lost := int64(0)
	for _, w := range all {
		lost += w.Count
	}
	switch {
	case lost > 0:
		return nil, lostStoreError(s, lost)
	case create:
		return s.OpenStore(ctx, true)
	}
	return nil, missing
}

// lostStoreError says whether the store is gone, or only its password.
func lostStoreError(s *Registry, checkpoints int64) error {
	count, dir := fmt.Sprintf(" %s in it.", lostCountText(checkpoints)), filepath.Join(s.DataDir, "store")
	blobs, err := s.FS.OpenRoot(filepath.Join(dir, "blobs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return LostStoreError("the store is gone: "+dir, count, s.DataDir)
	}
	_ = blobs.Close() // only looked
	lost := LostStoreError("the password of the store is gone: "+filepath.Join(dir, "password"), count, s.DataDir)
	lost.Hint = "with a recovery key: retake help recovery-key\n" + lost.Hint
	return lost
}

// StoreIfOpen returns the store, or nil if nothing needed it yet.
func (s *Registry) StoreIfOpen() store.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openedStore
}

func NewCheckpointID() (retake.CheckpointID, error) {
	u, err := uuid.NewV7()
	return retake.CheckpointID(retake.CheckpointPrefix + u.String()), err
}

func NewWorkspaceID() (retake.WorkspaceID, error) {
	u, err := uuid.NewV7()
	return retake.WorkspaceID(retake.WorkspacePrefix + u.String()), err
}

// StoreDirIDs identifies the store's own directory, which must never be captured into
// itself.
func (s *Registry) StoreDirIDs() ([]capture.DirID, error) {
	d, err := s.FS.OpenRoot(s.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no store yet
	}
	if err != nil {
		return nil, fmt.Errorf("find the store: %w", err)
	}
	defer d.Close() //nolint:errcheck // only looked
	i, err := d.Stat()
	if err != nil {
		return nil, fmt.Errorf("find the store: %w", err)
	}
	return []capture.DirID{{Dev: i.Dev, Ino: i.Ino}}, nil
}

func (s *Registry) CaptureOptions(ws retake.WorkspaceID, root string, budget time.Duration, progress func(retake.Progress)) (capture.Options, error) {
	skip, err := s.StoreDirIDs()
	return capture.Options{
		Clock: s.Clock, Policy: s.EffectivePolicy(ws, root), Budget: budget, Skip: skip, FineTimes: s.FS.HasFineTimestamps(root),
		Marker: true, Workspace: ws, Xattr: marker.Xattr, Progress: progress,
	}, err
}

func IndexFileName(ws retake.WorkspaceID) string { return string(ws) + ".index" }
