package maintenance

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// upkeepLoops looks after the store and the trackers between saves. It runs when saves
// pause, or after a while when they do not, and never during a save.
type upkeepLoops struct {
	svc        *Maintenance
	wakeup     chan struct{}
	freeMemory atomic.Bool // a large scan left memory that can be given back
	loops      sync.WaitGroup
	named      knownDamage // the damage whose checkpoints were looked for; of the upkeep loop alone
}

const (
	savePause     = 300 * time.Millisecond // since the last save
	maxPauseWait  = 5 * time.Second        // if saves do not pause
	checkInterval = time.Minute            // how often to see whether a check is due
)

// startLoops starts the background loops of a service.
func startLoops(s *Maintenance) *upkeepLoops {
	ctx, c := s.workspaces.Serving, &upkeepLoops{svc: s, wakeup: make(chan struct{}, 1)}
	c.loops.Go(func() { c.runUpkeepLoop(ctx) })
	c.loops.Go(func() { c.runCheckLoop(ctx) })
	c.loops.Go(func() { c.runQueueLoop(ctx) })
	auto := &autoSaver{Maintenance: s, activity: map[retake.WorkspaceID]*changeActivity{}}
	c.loops.Go(func() { auto.run(ctx) })
	return c
}

// requestRun asks for an upkeep run after the next pause. It never blocks; a nil
// maintenance ignores it.
func (c *upkeepLoops) requestRun() {
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
func (c *upkeepLoops) noteFullScan(files int64) {
	if c != nil && files > heavyScanFiles {
		c.freeMemory.Store(true)
	}
}

// runUpkeepLoop maintains the store in the pauses between saves. What fails is tried again
// after the next save.
func (c *upkeepLoops) runUpkeepLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wakeup:
		}
		if !c.waitForPause(ctx) {
			return
		}
		st := c.svc.workspaces.StoreIfOpen()
		if st != nil {
			c.svc.workspaces.RunTask(workspace.TaskMaintenance, func() error { return st.Maintain(ctx) })
			c.svc.workspaces.RunTask(workspace.TaskMaintenance, func() error { return c.nameDamage(ctx, st) })
		}
		c.svc.workspaces.RunTask(workspace.TaskRetention, func() error {
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
func (c *upkeepLoops) waitForPause(ctx context.Context) bool {
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
func (c *upkeepLoops) runQueueLoop(ctx context.Context) {
	t := time.NewTicker(queuePollInterval)
	defer t.Stop()
	for {
		c.svc.agents.KeepReserve()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.svc.workspaces.RunTask(workspace.TaskEvents, func() error {
				_, err := c.svc.agents.HandleOlderSignals("")
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
func (c *upkeepLoops) runCheckLoop(ctx context.Context) {
	next := map[retake.WorkspaceID]time.Time{}
	t := time.NewTicker(checkInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		c.svc.workspaces.RunTask(workspace.TaskCaches, func() error { c.svc.workspaces.EvictIdleCaches(); return nil })
		c.svc.workspaces.RunTask(workspace.TaskTurns, func() error { c.svc.agents.EndAllDeadTurns(ctx); return nil })
		c.svc.workspaces.RunTask(workspace.TaskDrill, func() error { return c.svc.runDueDrills(ctx) })
		if c.svc.isDiskLow() { // saves may be refused, so none would trigger a run
			c.requestRun()
		}
		for _, id := range c.svc.workspaces.WatchedWorkspaces() {
			now := c.svc.workspaces.Clock.Now()
			if next[id].IsZero() {
				next[id] = now.Add(minCheckInterval)
			}
			if now.Before(next[id]) {
				continue
			}
			c.svc.workspaces.RunTask(workspace.TaskCrossCheck, func() error {
				_, err := c.svc.CrossCheck(ctx, id)
				if retake.IsKind(err, retake.NotFound) {
					return diag.ErrSkipped // commands that need the root report it
				}
				return err
			})
			took := c.svc.workspaces.Clock.Now().Sub(now)
			next[id] = c.svc.workspaces.Clock.Now().Add(max(minCheckInterval, checkCostFactor*took))
		}
	}
}
