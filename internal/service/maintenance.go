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
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// maintenance looks after the store and the trackers between saves. It runs when saves
// pause, or after a while when they do not, and never during a save.
type maintenance struct {
	svc        *Service
	wakeup     chan struct{}
	freeMemory atomic.Bool // a large scan left memory that can be given back
	loops      sync.WaitGroup
}

const (
	savePause     = 300 * time.Millisecond // since the last save
	maxPauseWait  = 5 * time.Second        // if saves do not pause
	checkInterval = time.Minute            // how often to see whether a check is due
)

// startMaintenance starts the background loops of a service.
func startMaintenance(s *Service) *maintenance {
	ctx, c := s.serving, &maintenance{svc: s, wakeup: make(chan struct{}, 1)}
	c.loops.Go(func() { c.runUpkeepLoop(ctx) })
	c.loops.Go(func() { c.runCheckLoop(ctx) })
	c.loops.Go(func() { c.runQueueLoop(ctx) })
	c.loops.Go(func() { c.runQuietLoop(ctx) })
	return c
}

// stop waits for the loops, which end when the service begins to close.
func (c *maintenance) stop() { c.loops.Wait() }

// requestRun asks for an upkeep run after the next pause. It never blocks; a nil
// maintenance ignores it.
func (c *maintenance) requestRun() {
	if c == nil {
		return
	}
	select {
	case c.wakeup <- struct{}{}:
	default:
	}
}

// heavyScanFiles is the number of files from which a full scan uses much memory.
const heavyScanFiles = 50_000

// noteFullScan records that all files were scanned, so that the memory is given back later.
func (c *maintenance) noteFullScan(files int64) {
	if c != nil && files > heavyScanFiles {
		c.freeMemory.Store(true)
	}
}

// runUpkeepLoop maintains the store in the pauses between saves. What fails is tried again
// after the next save.
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
		st := c.svc.storeIfOpen()
		if st != nil {
			c.svc.background(taskMaintenance, func() error { return st.Maintain(ctx) })
		}
		c.svc.background(taskRetention, func() error {
			more, err := c.svc.tryCleanup(ctx, st)
			if more {
				c.requestRun()
			}
			return err
		})
		if c.freeMemory.Swap(false) {
			debug.FreeOSMemory() // a full scan leaves much unused memory
		}
	}
}

// waitForPause waits until nothing was saved for savePause, for at most maxPauseWait, or
// until disk space runs out. It returns false when ctx ends.
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

// queuePollInterval is how often the signal queue is checked. A hook that gave up while the
// service was busy leaves its signal there.
const queuePollInterval = 2 * time.Second

// runQueueLoop handles queued signals at a fixed interval.
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

// checkCostFactor is how many times its own duration the service waits after a cross-check,
// because a check reads every file.
const checkCostFactor = 1000

const minCheckInterval = 10 * time.Minute

// runCheckLoop does the periodic work of an idle service: it evicts caches, ends turns of
// dead agents, runs drills, and cross-checks watched workspaces against their trackers.
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
		if c.svc.isDiskLow() { // saves may be refused, so none would trigger a run
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
					return diag.ErrSkipped // commands that need the root report it
				}
				return err
			})
			took := c.svc.parts.Clock.Now().Sub(now)
			next[id] = c.svc.parts.Clock.Now().Add(max(minCheckInterval, checkCostFactor*took))
		}
	}
}

// watchedWorkspaces returns the idle workspaces whose tracker can be trusted.
func (s *Service) watchedWorkspaces() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []retake.WorkspaceID
	for id, l := range s.caches {
		if l.mu.TryLock() { // a workspace that is being saved is not idle
			if l.watch != nil && l.rescanReason == "" {
				out = append(out, id)
			}
			l.mu.Unlock()
		}
	}
	return out
}

// CrossCheck compares every file with the index and returns the changes that the tracker
// missed. If there are any, the tracker is not trusted any more and every save scans all
// files.
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
		return out, nil // the next save scans everything anyway
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

// findMissedPaths returns the changed paths that the tracker did not report. It looks twice
// and returns only what both looks found, because files may change in between.
func (s *Service) findMissedPaths(ctx context.Context, l *workspaceCache, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	first, err := s.findUnreportedPaths(ctx, l, ws, root)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := s.findUnreportedPaths(ctx, l, ws, root)
	return slices.DeleteFunc(again, func(p string) bool { return !slices.Contains(first, p) }), err
}

// findUnreportedPaths compares a full scan with a scan of the dirty set and returns the
// paths that only the full scan found. The tracker is drained in between.
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
