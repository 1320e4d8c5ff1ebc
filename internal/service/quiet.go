package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
)

// Timing of quiet checkpoints.
const (
	quietPollInterval   = time.Second
	quietAfter          = 2 * time.Second // without a change
	quietMaxWait        = time.Minute     // when the changes do not pause
	quietInUseSteps     = 5               // polls between two checks for newly enabled workspaces among those in memory
	quietAllSteps       = 60              // and among all
	quietCostFactor     = 100             // how many times its duration a comparison without result is not repeated
	quietRetryDelay     = time.Minute     // after a failed save
	quietUnwatchedDelay = 24 * time.Hour  // where no tracker works
)

// runQuietLoop takes checkpoints between turns, in workspaces where that is enabled, when
// files changed and then stayed unchanged for a while. Each workspace is scanned once; from
// then on its tracker reports changes.
func (c *maintenance) runQuietLoop(ctx context.Context) {
	if c.svc.parts.Habits == nil {
		return // it cannot be enabled
	}
	select {
	case <-ctx.Done():
		return
	case <-c.svc.caughtUp: // queued signals come first
	}
	rests := map[retake.WorkspaceID]*changeActivity{}
	for n := 0; ; {
		switch {
		case n%quietAllSteps == 0:
			c.svc.startQuiet(ctx, rests, c.svc.allWorkspaceIDs(ctx))
		case n%quietInUseSteps == 0:
			c.svc.startQuiet(ctx, rests, c.svc.cachedWorkspaces())
		}
		for id, r := range rests {
			if !c.svc.checkQuiet(ctx, id, r) {
				delete(rests, id)
			}
		}
		then := n + 1
		if len(rests) == 0 {
			then = (n/quietInUseSteps + 1) * quietInUseSteps // enabled nowhere: sleep longer
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(then-n) * quietPollInterval):
		}
		n = then
	}
}

// changeActivity is what is known of the changes in a workspace since its last quiet
// checkpoint.
type changeActivity struct {
	events                  int64
	firstChange, lastChange time.Time // zero: nothing changed
	notBefore               time.Time // no checkpoint before this time
	watchNotBefore          time.Time // no attempt to watch before this time
}

// update records the number of tracker events so far.
func (r *changeActivity) update(now time.Time, events int64) {
	if events != r.events {
		r.events, r.lastChange = events, now
		if r.firstChange.IsZero() {
			r.firstChange = now
		}
	}
}

// isDue records the number of tracker events so far. It reports whether a checkpoint is
// due, and whether the changes still go on.
func (r *changeActivity) isDue(now time.Time, events int64) (save, moving bool) {
	r.update(now, events)
	switch {
	case r.firstChange.IsZero(), now.Before(r.notBefore):
		return false, false
	case now.Sub(r.lastChange) >= quietAfter:
		r.firstChange = time.Time{}
		return true, false
	case now.Sub(r.firstChange) >= quietMaxWait:
		r.firstChange = now
		return true, true
	}
	return false, false
}

// startQuiet adds the workspaces in which quiet checkpoints were enabled since.
func (s *Service) startQuiet(ctx context.Context, rests map[retake.WorkspaceID]*changeActivity, among []retake.WorkspaceID) {
	for _, id := range among {
		if rests[id] != nil || !s.habitsOf(id).Quiet {
			continue
		}
		if ws, err := s.loadWorkspace(ctx, id); err == nil && ws.Ended == nil {
			rests[id] = &changeActivity{}
		}
	}
}

// allWorkspaceIDs returns all workspaces in the catalog.
func (s *Service) allWorkspaceIDs(ctx context.Context) []retake.WorkspaceID {
	all, _ := s.parts.Catalog.Workspaces(ctx) // tried again the next time
	var out []retake.WorkspaceID
	for _, ws := range all {
		out = append(out, ws.ID)
	}
	return out
}

// cachedWorkspaces returns the workspaces that are in memory.
func (s *Service) cachedWorkspaces() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.caches))
}

// checkQuiet checks one workspace and reports whether quiet checkpoints are still wanted
// there. A workspace without a watch is scanned first: what changed meanwhile becomes a
// checkpoint.
func (s *Service) checkQuiet(ctx context.Context, id retake.WorkspaceID, r *changeActivity) bool {
	if !s.habitsOf(id).Quiet {
		return false
	}
	l := s.cacheFor(id)
	if !l.mu.TryLock() {
		return true // another operation is running
	}
	watch := l.watch
	l.mu.Unlock()
	now := s.parts.Clock.Now()
	switch {
	case watch == nil && now.Before(r.watchNotBefore):
	case watch == nil:
		_, err := s.saveQuiet(ctx, id, retake.SaveRequest{}, anyChange)
		if r.watchNotBefore = now.Add(quietRetryDelay); err == nil {
			r.watchNotBefore = now.Add(quietUnwatchedDelay) // there is a watch now, or none is possible
		}
		return !retake.IsKind(err, retake.NotFound)
	case s.agentStateOf(id).ongoingTurn(now) != nil: // the end of the turn makes a checkpoint
		r.update(now, watch.EventCount())
		r.lastChange = now
	default:
		s.saveIfQuiet(ctx, id, r, watch.EventCount())
	}
	return true
}

// saveIfQuiet takes a checkpoint if one is due. A comparison that found nothing is not
// repeated at once; a failed one is.
func (s *Service) saveIfQuiet(ctx context.Context, id retake.WorkspaceID, r *changeActivity, events int64) {
	began := s.parts.Clock.Now()
	save, moving := r.isDue(began, events)
	if !save {
		return
	}
	req := retake.SaveRequest{}
	if moving {
		req.Intent = retake.StillMoving
	}
	saved, err := s.saveQuiet(ctx, id, req, isWorthSaving)
	now := s.parts.Clock.Now()
	switch {
	case errors.Is(err, errBusy):
		r.firstChange = now // still due
	case err != nil: // the next explicit save reports it
		r.firstChange, r.notBefore = now, now.Add(quietRetryDelay)
	case !saved:
		r.notBefore = now.Add(quietCostFactor * now.Sub(began))
	}
}

func anyChange(retake.Change) bool { return true }

// isWorthSaving reports whether a change is worth a quiet checkpoint.
func isWorthSaving(c retake.Change) bool {
	return countFiles([]retake.Change{c}).Total() > 0 && isWorthyPath(c.Path)
}

var errBusy = errors.New("another operation is running there")

// saveQuiet takes a checkpoint if a worthy change happened. It returns errBusy instead of
// waiting for a lock, an interrupted restore or an agent's turn.
func (s *Service) saveQuiet(ctx context.Context, id retake.WorkspaceID, req retake.SaveRequest, worth func(retake.Change) bool) (bool, error) {
	ws, root, err := s.openRoot(ctx, id)
	if err != nil {
		return false, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	l := s.cacheFor(id)
	if !l.mu.TryLock() {
		return false, errBusy
	}
	defer l.mu.Unlock()
	if s.interruptionOf(ctx, id) != nil || s.agentStateOf(id).ongoingTurn(s.parts.Clock.Now()) != nil {
		return false, errBusy // an interrupted restore, or an agent in a turn, which takes its own checkpoint
	}
	if some, err := s.hasWorthyChange(ctx, l, ws, worth); err != nil || !some {
		return false, err
	}
	l.isSaving.Store(true)
	defer l.isSaving.Store(false)
	req.Workspace, req.Trigger, req.IfChanged = id, retake.TriggerQuiet, true
	_, err = s.saveIfChanged(ctx, l, ws, root, req, saveOptions{})
	return err == nil, err
}

// hasWorthyChange reports whether something changed that is worth a checkpoint. It reads
// files only if one of the dirty paths can be worthy. Without a tip or a watch anything may
// have changed.
func (s *Service) hasWorthyChange(ctx context.Context, l *workspaceCache, ws retake.Workspace, worth func(retake.Change) bool) (bool, error) {
	if l.tip == nil || l.watch == nil {
		return true, nil
	}
	s.drainTracker(l, ws.Root)
	if l.rescanReason == "" && len(l.dirtyInodes) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(l.dirtyPaths)), isWorthyPath) {
		return false, nil
	}
	used := l.lastUsed
	changes, _, err := s.compareLiveLocked(ctx, l, *l.tip)
	l.lastUsed = used // this is not a use
	return slices.ContainsFunc(changes, worth), err
}

// isWorthyPath reports whether a change of this path can be a reason for a quiet
// checkpoint. Files that programs write all the time and git's own files are not.
func isWorthyPath(path string) bool { return !restore.IsVolatile(path) && !restore.InRepository(path) }
