// Package service implements the use cases of retake on top of the engine, the store and
// the catalog, one use case per file.
//
// It makes decisions only: it parses no flags, prints nothing, and leaves reading and
// writing the user's files to other packages.
//
//	U1  Bytes first, then the row: once a seal returned nil the checkpoint exists,
//	    and no later failure may undo it.
//	U2  The store is the truth. The catalog follows it, and catches up when it is behind.
//	U3  Every error that is returned has a kind, and says whether anything was changed.
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

// Parts are the dependencies and settings of a Service.
type Parts struct {
	Catalog            catalog.Catalog
	OpenStore          func(ctx context.Context, create bool) (store.Store, error) // called once, on first need
	FS                 fsx.FS
	IndexDir           string // stat indexes
	DataDir            string // directory of the store
	Clock              clock.Clock
	BootID             string // identity of this boot of the machine; "" if unknown
	HomeDir            string // the user's home directory, for the danger guard
	Policy             func(retake.WorkspaceID) retake.Policy
	MinFree            func(total int64) int64                // bytes that must stay free on the store's disk
	Budget             func(total int64) int64                // maximum size of the store on a disk of that size; nil or 0: no limit
	Within             func(retake.WorkspaceID) time.Duration // how long checkpoints are kept; nil or 0: forever
	GoneAfter          func(retake.WorkspaceID) time.Duration // age after which only pins, the newest and checkpoints in use are kept; nil or 0: never
	RefuseWhenFull     bool                                   // checkpoints are dropped by age only; when space is short, saves are refused
	MaxCheckpointBytes func() int64                           // maximum size of one tree; nil or 0: no limit
	LockWait           time.Duration                          // how long to wait for another writer
	Tracker            *track.Tracker                         // reports changes; nil: every save scans everything
	RestoreDir         string                                 // journals of restores, and the files they replaced
	SignalDir          string                                 // queue of unfinished signals
	SessionDir         string                                 // agent states
	Habits             func(retake.WorkspaceID) retake.Habits
	Locks              fsx.Locks // between processes
	KernelFence        bool      // the kernel also confines restores to the workspace

	Readers        *xray.Pool                                 // child processes that read changed files for their meaning; nil: nothing is read
	HostProbe      *hostprobe.Options                         // places outside the roots; nil: not probed
	StandingChecks func(retake.WorkspaceID) []retake.Standing // checks to run for every checkpoint; nil: none
	VerifyLimit    func(retake.WorkspaceID) time.Duration     // time limit of one check
	DrillEnabled   func(retake.WorkspaceID) bool              // good checkpoints are test-restored now and then
	Environ        func() []string                            // environment of checks if none was recorded

	Backup      *backup.Worker             // pushes checkpoints to a git remote; nil: no backups
	OnBackupEnd func(retake.Backup, error) // called after each run; may be nil

	Protection string // who the history is protected from; "": an agent of the same user could remove it

	Diag *diag.Recorder // logs and counts background work; may be nil

	LocalAgents bool // agents run on this machine, so the exit of their process can be seen

	Exclusive bool // this service is the only writer and long-lived: it keeps more in memory and maintains the store between saves
}

// Service implements retake.Service on top of a store, a catalog and the file system.
type Service struct {
	parts       Parts
	mu          sync.Mutex  // guards openedStore and caches
	openedStore store.Store // nil until first needed
	opening     sync.Mutex  // held while the store is opened
	caches      map[retake.WorkspaceID]*workspaceCache

	agentsMu     sync.Mutex // guards agentStates
	agentStates  map[retake.WorkspaceID]*agentState
	backgroundWG sync.WaitGroup  // background work that Close waits for
	caughtUp     chan struct{}   // closed when the signals queued before the start are handled
	queueMu      sync.Mutex      // held while queued signals are handled
	lifetime     context.Context // ends background work when the service closes
	endLifetime  context.CancelFunc

	readers      *xray.Pool
	summarizer   *summarizer         // summarizes new checkpoints
	checkRunner  *checkRunner        // runs standing checks
	backupRunner *backupRunner       // pushes to git remotes
	host         hostCache           // what was found outside the roots
	goodCache    goodCheckpointCache // newest good checkpoint of each workspace

	retention   retentionState // disk use and cleanup
	catalogMu   sync.RWMutex   // write-locked while the catalog is rebuilt, so that no workspace seems unknown
	maintenance *maintenance   // nil unless the service is exclusive

	inUse          checkpointsInUse
	saveHooks      saveHooks
	runningChecks  func(retake.WorkspaceID) map[retake.ContentID][]string // by content: the checks that run just now
	requestSummary func(retake.Checkpoint)                                // asks for a missing summary
	agentPIDs      func(retake.WorkspaceID) []int                         // processes of the agents of a workspace
	requestUpkeep  func()                                                 // asks for upkeep in the next pause

	serving    context.Context // ends when the service begins to close
	endServing context.CancelFunc
}

var _ retake.Service = (*Service)(nil)

// New returns a service with the given parts. An exclusive service starts its background
// work here.
func New(p Parts) *Service {
	s := &Service{parts: p, caches: map[retake.WorkspaceID]*workspaceCache{}, agentStates: map[retake.WorkspaceID]*agentState{}}
	s.lifetime, s.endLifetime = context.WithCancel(context.Background())
	s.serving, s.endServing = context.WithCancel(context.Background())
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
	s.connect()
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

// connect makes the parts of the service tell each other what they do not call by
// themselves.
func (s *Service) connect() {
	s.runningChecks = s.checkRunner.runningChecks
	s.requestSummary = s.summarizer.requestMissing
	s.agentPIDs = func(id retake.WorkspaceID) []int { return s.agentStateOf(id).agentPIDs() }
	s.requestUpkeep = func() { s.maintenance.requestRun() }
	s.saveHooks = saveHooks{
		Describe: s.attributeToAgents,
		Warnings: s.backupWarnings,
		Sealed: func(cp retake.Checkpoint, res *capture.Result) {
			if res.Complete {
				s.maintenance.noteFullScan(cp.Files)
			}
			s.dropSealedEffects(cp)
		},
		Recorded: func(cp retake.Checkpoint, res *capture.Result) {
			s.summarizer.enqueueSealed(cp, res)
			s.checkRunner.onCheckpoint(cp)
			s.backupRunner.onCheckpoint(cp)
		},
	}
}

// Close ends background work, then closes the store and the catalog.
func (s *Service) Close() error {
	if s.endServing(); s.maintenance != nil {
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

// waitForBackground waits for background work, but ends it after shutdownWait: an agent may
// never finish.
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

// shutdownWait is a little longer than the wait for the last message of an agent.
const shutdownWait = transcriptWait + time.Second

// store returns the store and opens it on first use, so that reading the timeline never has
// to.
func (s *Service) store(ctx context.Context) (store.Store, error) {
	return s.openStore(ctx, false)
}

// openStore returns the store, opening it if needed; with create it may be created.
func (s *Service) openStore(ctx context.Context, create bool) (store.Store, error) {
	if st := s.storeIfOpen(); st != nil {
		return st, nil
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if st := s.storeIfOpen(); st != nil {
		return st, nil
	}
	st, err := s.parts.OpenStore(ctx, create)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openedStore = st
	return st, nil
}

// storeIfOpen returns the store, or nil if nothing needed it yet.
func (s *Service) storeIfOpen() store.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openedStore
}

func newCheckpointID() (retake.CheckpointID, error) {
	u, err := uuid.NewV7()
	return retake.CheckpointID(retake.CheckpointPrefix + u.String()), err
}

func newWorkspaceID() (retake.WorkspaceID, error) {
	u, err := uuid.NewV7()
	return retake.WorkspaceID(retake.WorkspacePrefix + u.String()), err
}

// What an error says about the safety of the user's data.
const (
	unchanged = "Nothing was changed."
	notSaved  = "Nothing was saved; earlier checkpoints are intact."
)

// wrapError gives an error a kind, a description and a statement of what is safe. An error
// that already has a kind is returned as it is.
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

// storeDirIDs identifies the store's own directory, which must never be captured into
// itself.
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

// diskSpace returns the free bytes on the store's disk and the minimum that must stay free.
func (s *Service) diskSpace() (free, floor int64, err error) {
	free, total, err := s.parts.FS.FreeSpace(s.parts.DataDir)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for room: %w", err)
	}
	return free, s.parts.MinFree(total), nil
}
