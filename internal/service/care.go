package service

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// maintenance looks after the store and the trackers between saves. It begins when the
// saves pause, or when they do not pause for long, and never in the middle of one.
type maintenance struct {
	svc        *Service
	wakeup     chan struct{}
	ctx        context.Context // ends when the service stops looking after things
	freeMemory atomic.Bool     // a capture took much memory that nobody needs any more
	cancel     context.CancelFunc
	loops      sync.WaitGroup
}

const (
	savePause     = 300 * time.Millisecond // after the last save
	maxPauseWait  = 5 * time.Second        // when the saves do not pause
	checkInterval = time.Minute            // between two looks whether a check is due
)

func startMaintenance(s *Service) *maintenance {
	ctx, cancel := context.WithCancel(context.Background())
	c := &maintenance{svc: s, wakeup: make(chan struct{}, 1), ctx: ctx, cancel: cancel}
	c.loops.Go(func() { c.runUpkeepLoop(ctx) })
	c.loops.Go(func() { c.runCheckLoop(ctx) })
	c.loops.Go(func() { c.runQueueLoop(ctx) })
	c.loops.Go(func() { c.runQuietLoop(ctx) })
	return c
}

func (c *maintenance) stop() {
	c.cancel()
	c.loops.Wait()
}

// requestRun says that something was saved.
func (c *maintenance) requestRun() {
	if c == nil {
		return
	}
	select {
	case c.wakeup <- struct{}{}:
	default:
	}
}

// heavyFiles is how many files make a look at everything heavy.
const heavyScanFiles = 50_000

// noteFullScan says that everything was looked at.
func (c *maintenance) noteFullScan(files int64) {
	if c != nil && files > heavyScanFiles {
		c.freeMemory.Store(true)
	}
}

// runUpkeepLoop tends the store in the pauses. What does not work out is tried after the
// next save; every command that needs the store will meet the same trouble.
func (c *maintenance) runUpkeepLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wakeup:
		}
		if !c.waitForPause(ctx) {
			return
		}
		c.svc.mu.Lock()
		st := c.svc.openedStore
		c.svc.mu.Unlock()
		if st != nil {
			c.svc.background(taskMaintenance, func() error { return st.Maintain(ctx) })
		}
		c.svc.background(taskRetention, func() error {
			if c.svc.tryCleanup(ctx, st) {
				c.requestRun()
			}
			return nil
		})
		if c.freeMemory.Swap(false) {
			debug.FreeOSMemory() // a look at everything leaves several times what is kept
		}
	}
}

// waitForPause waits until nothing was saved for a while, or until room runs out.
func (c *maintenance) waitForPause(ctx context.Context) bool {
	last := time.NewTimer(maxPauseWait)
	defer last.Stop()
	for {
		quiet := time.NewTimer(savePause)
		select {
		case <-ctx.Done():
			quiet.Stop()
			return false
		case <-last.C:
			quiet.Stop()
			return true
		case <-quiet.C:
			return true
		case <-c.wakeup:
			if quiet.Stop(); c.svc.isSpaceRunningOut() {
				return true
			}
		}
	}
}

// spoolStep is how often we look whether a signal waits that no hook could tell: one
// that gave up while we were busy comes to nobody else.
const queuePollInterval = 2 * time.Second

func (c *maintenance) runQueueLoop(ctx context.Context) {
	t := time.NewTicker(queuePollInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.svc.background(taskEvents, func() error {
				_, err := c.svc.handleOlderSignals("")
				return err
			})
		}
	}
}

// A check looks at every file; it may take this share of one processor.
const checkCostFactor = 1000

const minCheckInterval = 10 * time.Minute

// runCheckLoop compares now and then, when nobody works, all files with what the tracker
// told. The next one waits a thousand times as long as the last one took.
func (c *maintenance) runCheckLoop(ctx context.Context) {
	next := map[retake.WorkspaceID]time.Time{}
	t := time.NewTicker(checkInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		c.svc.evictIdleCaches()
		c.svc.background(taskTurns, func() error { c.svc.endAllDeadTurns(ctx); return nil })
		c.svc.background(taskDrill, func() error { return c.svc.runDueDrills(ctx) })
		if c.svc.isDiskLow() { // and no save may be let in that would tell
			c.requestRun()
		}
		for _, id := range c.svc.watchedWorkspaces() {
			now := c.svc.parts.Clock.Now()
			if next[id].IsZero() {
				next[id] = now.Add(minCheckInterval)
			}
			if now.Before(next[id]) {
				continue
			}
			c.svc.background(taskCrossCheck, func() error {
				_, err := c.svc.CrossCheck(ctx, id)
				if retake.IsKind(err, retake.NotFound) {
					return nil // a root that is away is told by whoever needs it
				}
				return err
			})
			took := c.svc.parts.Clock.Now().Sub(now)
			next[id] = c.svc.parts.Clock.Now().Add(max(minCheckInterval, checkCostFactor*took))
		}
	}
}

// watchedWorkspaces are the workspaces that a tracker follows.
func (s *Service) watchedWorkspaces() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []retake.WorkspaceID
	for id, l := range s.caches {
		if l.mu.TryLock() { // one that is being saved is not idle
			if l.watch != nil && l.rescanReason == "" {
				out = append(out, id)
			}
			l.mu.Unlock()
		}
	}
	return out
}

// CrossCheck looks at every file and names what changed without the tracker having
// told of it. Then it is not trusted any more: every save looks at everything.
func (s *Service) CrossCheck(ctx context.Context, id retake.WorkspaceID) (retake.CrossCheck, error) {
	ws, root, err := s.openRoot(ctx, id)
	if err != nil {
		return retake.CrossCheck{}, err
	}
	defer root.Close() //nolint:errcheck // only looked
	l := s.cacheFor(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.cancelCheck.Store(&end)
	defer l.cancelCheck.Store(nil)
	s.drainTracker(l, ws.Root)
	out := retake.CrossCheck{At: s.parts.Clock.Now()}
	if l.rescanReason != "" || l.index == nil || l.tip == nil {
		return out, nil // the next save looks at everything anyway
	}
	out.Files = l.tip.Files
	missed, err := s.findMissedPaths(ctx, l, ws, root)
	if err != nil {
		return out, wrapError("the workspace cannot be compared", unchanged, err)
	}
	if out.Missed = missed; len(missed) > 0 {
		l.noWatchReason = "the tracker missed changes: " + strings.Join(missed[:min(3, len(missed))], ", ")
		l.trackerDistrusted = true
		s.stopWatch(l)
	}
	l.lastCheck = &out
	return out, nil
}

// findMissedPaths are the paths that differ and are not found by a look at what was told. What
// comes and goes between two looks is asked for twice.
func (s *Service) findMissedPaths(ctx context.Context, l *workspaceCache, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	first, err := s.findUnreportedPaths(ctx, l, ws, root)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := s.findUnreportedPaths(ctx, l, ws, root)
	return slices.DeleteFunc(again, func(p string) bool { return !slices.Contains(first, p) }), err
}

func (s *Service) findUnreportedPaths(ctx context.Context, l *workspaceCache, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	o, err := s.captureOptions(ws.ID, ws.Root, 0, nil)
	if err != nil {
		return nil, err
	}
	all, _, err := capture.Diff(ctx, root, l.index, o, s.matchesStored)
	if err != nil {
		return nil, err
	}
	if s.drainTracker(l, ws.Root); l.rescanReason != "" {
		return nil, nil
	}
	l.limitToDirty(&o)
	told, _, err := capture.Diff(ctx, root, l.index, o, s.matchesStored)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range told {
		known[c.Path] = true
	}
	var out []string
	for _, c := range all {
		if !known[c.Path] {
			out = append(out, c.Path)
		}
	}
	return out, nil
}
