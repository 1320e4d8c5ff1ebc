// Package service is the one place where the workers, the store and the catalog
// meet: one use case per file, each readable from top to bottom.
//
// It decides; it never parses a flag, never prints, and leaves files to capture.
//
//	U1  Bytes first, then the row: once a seal returned nil the checkpoint exists,
//	    and nothing after that may take it away.
//	U2  The store is the truth. The catalog follows it, and catches up when it is behind.
//	U3  Every error that leaves has a kind, and says whether anything was changed.
package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/explain/hostprobe"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Parts is what a Service is made of.
type Parts struct {
	Catalog            catalog.Catalog
	OpenStore          func(ctx context.Context, create bool) (store.Store, error) // called once, on first need
	FS                 fsx.FS
	IndexDir           string // directory of the stat indexes
	DataDir            string // directory whose disk and inode are the store's
	Clock              clock.Clock
	BootID             string // identity of this run of the machine; "" when it cannot be told
	HomeDir            string // the user's home directory, for the danger guard
	Policy             func(retake.WorkspaceID) retake.Policy
	MinFree            func(total int64) int64                // bytes that must stay free on the store's disk
	Budget             func(total int64) int64                // bytes that the store may take on a disk of that size; nil or 0: no bound
	Within             func(retake.WorkspaceID) time.Duration // how long checkpoints are kept; nil or 0: for ever
	GoneAfter          func(retake.WorkspaceID) time.Duration // after how long nothing is kept but pins, the newest and what is in use; nil or 0: never
	RefuseWhenFull     bool                                   // checkpoints go by their age alone; when room is short, saves are refused
	MaxCheckpointBytes func() int64                           // bytes that the tree of one checkpoint may have; nil or 0: no bound
	LockWait           time.Duration                          // how long to wait for another writer
	Tracker            *track.Tracker                         // tells of changes; nil: every save looks at everything
	RestoreDir         string                                 // directory of what restores leave: journals, and what they replaced
	SignalDir          string                                 // directory of signals that are not done yet
	SessionDir         string                                 // directory of what is known of agents
	Habits             func(retake.WorkspaceID) retake.Habits
	Locks              fsx.Locks // between processes
	KernelFence        bool      // restores are also held to the workspace by the kernel

	Readers        *xray.Pool                                 // reads changed files for their meaning, in a child; nil: nothing is read
	HostProbe      *hostprobe.Options                         // places outside the roots; nil: nobody looks there
	StandingChecks func(retake.WorkspaceID) []retake.Standing // verifications that the user wants of every checkpoint; nil: none
	VerifyLimit    func(retake.WorkspaceID) time.Duration     // how long one may take
	DrillEnabled   func(retake.WorkspaceID) bool              // good checkpoints are proven restorable now and then
	Environ        func() []string                            // what verifications see when nothing was recorded

	Backup      *backup.Worker             // sends checkpoints to a git remote; nil: there are no backups
	OnBackupEnd func(retake.Backup, error) // is told how each run ended; nil: nobody is

	Protection string // from whom history is safe; "": an agent of the same user could remove it

	Diag *diag.Recorder // logs and counts what happens in the background; nil: nobody looks

	LocalAgents bool // agents run on this machine: the end of their process can be seen

	Exclusive bool // this service alone writes, for long: it keeps more in memory, and looks after the store between saves
}

// Service is retake.Service beside the files.
type Service struct {
	parts       Parts
	mu          sync.Mutex  // guards st, lives and hearings
	openedStore store.Store // nil until first needed
	caches      map[retake.WorkspaceID]*workspaceCache

	agentStates  map[retake.WorkspaceID]*agentState // guarded by mu
	backgroundWG sync.WaitGroup                     // what signals asked for and is under way
	caughtUp     chan struct{}                      // closed when what waited for this service was heard
	queueMu      sync.Mutex                         // held by who hears what waits
	lifetime     context.Context                    // ends what waits for an agent when the service closes
	endLifetime  context.CancelFunc

	readers      *xray.Pool
	summarizer   *summarizer         // of stories
	checkRunner  *checkRunner        // of standing verifications
	backupRunner *backupRunner       // of git remotes
	host         hostCache           // what was seen outside the roots
	goodCache    goodCheckpointCache // which checkpoints are

	retention   retentionState // what is known of the room that checkpoints take
	catalogMu   sync.RWMutex   // held alone while the catalog is made again, so that nobody takes a workspace for unknown
	maintenance *maintenance   // nil unless this service is sole
}

var _ retake.Service = (*Service)(nil)

// New makes a service of its parts.
func New(p Parts) *Service {
	s := &Service{parts: p, caches: map[retake.WorkspaceID]*workspaceCache{}, agentStates: map[retake.WorkspaceID]*agentState{}}
	s.lifetime, s.endLifetime = context.WithCancel(context.Background())
	s.readers, s.goodCache.byWorkspace = p.Readers, map[retake.WorkspaceID]cachedGood{}
	s.summarizer = &summarizer{svc: s}
	s.checkRunner = &checkRunner{svc: s, runs: map[retake.WorkspaceID]*checkRun{}}
	if s.parts.VerifyLimit == nil {
		s.parts.VerifyLimit = func(retake.WorkspaceID) time.Duration { return 0 }
	}
	if s.parts.Environ == nil {
		s.parts.Environ = func() []string { return nil }
	}
	if s.parts.DrillEnabled == nil {
		s.parts.DrillEnabled = func(retake.WorkspaceID) bool { return false }
	}
	s.backupRunner = newBackupRunner(s)
	s.caughtUp = make(chan struct{})
	if !p.Exclusive {
		close(s.caughtUp)
		return s
	}
	s.maintenance = startMaintenance(s)
	s.backgroundWG.Go(func() {
		defer close(s.caughtUp)
		s.background(taskEvents, s.handleQueuedSignals)
	})
	return s
}

// Close ends the work in the background, then closes store and catalog.
func (s *Service) Close() error {
	if s.maintenance != nil {
		s.maintenance.stop()
	}
	s.summarizer.runOnClose()
	s.checkRunner.stopAll()
	s.backupRunner.stop()
	s.waitForBackground()
	if s.readers != nil {
		s.parts.Diag.Log().Debug("readers ended", "err", s.readers.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.caches {
		s.stopWatch(l)
	}
	var err error
	if s.parts.Tracker != nil {
		err = s.parts.Tracker.Close()
	}
	if s.openedStore != nil {
		err = errors.Join(err, s.openedStore.Close())
	}
	return errors.Join(err, s.parts.Catalog.Close())
}

// waitForBackground lets what signals asked for come to its end, but does not wait for agents.
func (s *Service) waitForBackground() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.backgroundWG.Wait()
	}()
	select {
	case <-done:
	case <-time.After(shutdownWait):
		s.endLifetime()
		<-done
	}
	s.endLifetime()
}

// lastWait is a little more than the last words of an agent may take.
const shutdownWait = transcriptWait + time.Second

// store opens the store on first need: reading the timeline never pays for it.
func (s *Service) store(ctx context.Context) (store.Store, error) {
	return s.openStore(ctx, false)
}

func (s *Service) openStore(ctx context.Context, create bool) (store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openedStore != nil {
		return s.openedStore, nil
	}
	st, err := s.parts.OpenStore(ctx, create)
	if err != nil {
		return nil, err
	}
	s.openedStore = st
	return st, nil
}

func newCheckpointID() (retake.CheckpointID, error) {
	u, err := uuid.NewV7()
	return retake.CheckpointID(retake.CheckpointPrefix + u.String()), err
}

func newWorkspaceID() (retake.WorkspaceID, error) {
	u, err := uuid.NewV7()
	return retake.WorkspaceID(retake.WorkspacePrefix + u.String()), err
}

// Safe sentences.
const (
	unchanged = "Nothing was changed."
	notSaved  = "Nothing was saved; earlier checkpoints are intact."
)

// wrapError gives an error its kind. What already has one keeps it.
func wrapError(what, safe string, err error) error {
	var e *retake.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	out := &retake.Error{Kind: retake.Internal, What: what, Safe: safe, Err: err}
	switch {
	case errors.Is(err, context.Canceled):
		out.Kind = retake.Canceled
	case errors.Is(err, store.ErrInDoubt):
		out.Safe = "It is not certain that this checkpoint was kept; earlier ones are intact."
		out.Hint = "see whether it is there: retake rebuild && retake log"
	case errors.Is(err, store.ErrBusy):
		out.Kind, out.Hint = retake.Busy, "another save or a sweep is running; try again"
	case errors.Is(err, fsx.ErrNoSpace):
		out.Kind, out.Hint = retake.Limit, "free up space: retake space --free"
	case errors.Is(err, store.ErrDamaged):
		out.Kind, out.Hint = retake.Damaged, "see what else is damaged: retake scrub --all"
	case errors.Is(err, store.ErrNotFound), errors.Is(err, catalog.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		out.Kind = retake.NotFound
	case errors.Is(err, fs.ErrPermission):
		out.Kind = retake.Denied
	}
	return out
}

// storeDirIDs is the store's own directory, which must never be captured into itself.
func (s *Service) storeDirIDs() ([]capture.DirID, error) {
	d, err := s.parts.FS.OpenRoot(s.parts.DataDir)
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

func (s *Service) captureOptions(ws retake.WorkspaceID, root string, budget time.Duration, progress func(retake.Progress)) (capture.Options, error) {
	skip, err := s.storeDirIDs()
	return capture.Options{
		Clock: s.parts.Clock, Policy: s.effectivePolicy(ws, root), Budget: budget, Skip: skip, FineTimes: s.parts.FS.HasFineTimestamps(root),
		Marker: true, Workspace: ws, Xattr: marker.Xattr, Progress: progress,
	}, err
}

func indexFileName(ws retake.WorkspaceID) string { return string(ws) + ".index" }

// diskSpace refuses when the store's disk is down to the floor.
func (s *Service) diskSpace() (free, floor int64, err error) {
	free, total, err := s.parts.FS.FreeSpace(s.parts.DataDir)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for room: %w", err)
	}
	return free, s.parts.MinFree(total), nil
}
