package maintenance

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
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

// autoSaver takes auto-checkpoints: those between turns that nobody asked for.
type autoSaver struct {
	*Maintenance
	activity map[retake.WorkspaceID]*changeActivity // by workspace in which they are enabled
}

// run takes checkpoints between turns, in workspaces where that is enabled, when
// files changed and then stayed unchanged for a while. Each workspace is scanned once; from
// then on its tracker reports changes.
func (s *autoSaver) run(ctx context.Context) {
	if s.workspaces.Habits == nil {
		return // it cannot be enabled
	}
	select {
	case <-ctx.Done():
		return
	case <-s.agents.CaughtUp(): // queued signals come first
	}
	for n := 0; ; {
		s.workspaces.RunTask(workspace.TaskAutoSaves, func() error {
			s.checkAll(ctx, n)
			return nil
		})
		then := n + 1
		if len(s.activity) == 0 {
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

// checkAll takes the auto-checkpoints that are due at the n-th look.
func (s *autoSaver) checkAll(ctx context.Context, n int) {
	switch {
	case n%quietAllSteps == 0:
		s.startQuiet(ctx, s.allWorkspaceIDs(ctx))
	case n%quietInUseSteps == 0:
		s.startQuiet(ctx, s.workspaces.CachedWorkspaces())
	}
	for id, r := range s.activity {
		if !s.checkQuiet(ctx, id, r) {
			delete(s.activity, id)
		}
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
func (s *autoSaver) startQuiet(ctx context.Context, among []retake.WorkspaceID) {
	for _, id := range among {
		if s.activity[id] != nil || !s.workspaces.HabitsOf(id).Quiet {
			continue
		}
		if ws, err := s.workspaces.LoadWorkspace(ctx, id); err == nil && ws.Ended == nil {
			s.activity[id] = &changeActivity{}
		}
	}
}

// allWorkspaceIDs returns all workspaces in the catalog.
func (s *autoSaver) allWorkspaceIDs(ctx context.Context) []retake.WorkspaceID {
	all, _ := s.workspaces.Catalog.Workspaces(ctx) // tried again the next time
	var out []retake.WorkspaceID
	for _, ws := range all {
		out = append(out, ws.ID)
	}
	return out
}

// checkQuiet checks one workspace and reports whether quiet checkpoints are still wanted
// there. A workspace without a watch is scanned first: what changed meanwhile becomes a
// checkpoint.
func (s *autoSaver) checkQuiet(ctx context.Context, id retake.WorkspaceID, r *changeActivity) bool {
	if !s.workspaces.HabitsOf(id).Quiet {
		return false
	}
	l := s.workspaces.CacheFor(id)
	if !l.Mu.TryLock() {
		return true // another operation is running
	}
	watch := l.Watch
	l.Mu.Unlock()
	now := s.workspaces.Clock.Now()
	switch {
	case watch == nil && now.Before(r.watchNotBefore):
	case watch == nil:
		_, err := s.saveQuiet(ctx, id, retake.SaveRequest{}, anyChange)
		if r.watchNotBefore = now.Add(quietRetryDelay); err == nil {
			r.watchNotBefore = now.Add(quietUnwatchedDelay) // there is a watch now, or none is possible
		}
		return !retake.IsKind(err, retake.NotFound)
	case s.agents.StateOf(id).OngoingTurn(now) != nil: // the end of the turn makes a checkpoint
		r.update(now, watch.EventCount())
		r.lastChange = now
	default:
		s.saveIfQuiet(ctx, id, r, watch.EventCount())
	}
	return true
}

// saveIfQuiet takes a checkpoint if one is due. A comparison that found nothing is not
// repeated at once; a failed one is.
func (s *autoSaver) saveIfQuiet(ctx context.Context, id retake.WorkspaceID, r *changeActivity, events int64) {
	began := s.workspaces.Clock.Now()
	save, moving := r.isDue(began, events)
	if !save {
		return
	}
	req := retake.SaveRequest{}
	if moving {
		req.Intent = retake.StillMoving
	}
	saved, err := s.saveQuiet(ctx, id, req, isWorthSaving)
	now := s.workspaces.Clock.Now()
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
	return workspace.CountFiles([]retake.Change{c}).Total() > 0 && isWorthyPath(c.Path)
}

var errBusy = errors.New("another operation is running there")

// saveQuiet takes a checkpoint if a worthy change happened. It returns errBusy instead of
// waiting for a lock, an interrupted restore or an agent's turn.
func (s *autoSaver) saveQuiet(ctx context.Context, id retake.WorkspaceID, req retake.SaveRequest, worth func(retake.Change) bool) (bool, error) {
	ws, root, err := s.workspaces.OpenRoot(ctx, id)
	if err != nil {
		return false, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	l := s.workspaces.CacheFor(id)
	if !l.Mu.TryLock() {
		return false, errBusy
	}
	defer l.Mu.Unlock()
	if s.workspaces.InterruptionOf(ctx, id) != nil || s.agents.StateOf(id).OngoingTurn(s.workspaces.Clock.Now()) != nil {
		return false, errBusy // an interrupted restore, or an agent in a turn, which takes its own checkpoint
	}
	if some, err := s.hasWorthyChange(ctx, l, ws, worth); err != nil || !some {
		return false, err
	}
	l.IsSaving.Store(true)
	defer l.IsSaving.Store(false)
	req.Workspace, req.Trigger, req.IfChanged = id, retake.TriggerQuiet, true
	_, err = s.checkpoints.SaveIfChanged(ctx, l, ws, root, req, checkpoint.Options{})
	return err == nil, err
}

// hasWorthyChange reports whether something changed that is worth a checkpoint. It reads
// files only if one of the dirty paths can be worthy. Without a tip or a watch anything may
// have changed.
func (s *autoSaver) hasWorthyChange(ctx context.Context, l *workspace.Cache, ws retake.Workspace, worth func(retake.Change) bool) (bool, error) {
	if l.Tip == nil || l.Watch == nil {
		return true, nil
	}
	s.workspaces.DrainTracker(l, ws.Root)
	if l.RescanReason == "" && len(l.DirtyInodes) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(l.DirtyPaths)), isWorthyPath) {
		return false, nil
	}
	used := l.LastUsed
	changes, _, err := s.history.CompareLiveLocked(ctx, l, *l.Tip)
	l.LastUsed = used // this is not a use
	return slices.ContainsFunc(changes, worth), err
}

// isWorthyPath reports whether a change of this path can be a reason for a quiet
// checkpoint. Files that programs write all the time and git's own files are not.
func isWorthyPath(path string) bool { return !restore.IsVolatile(path) && !restore.InRepository(path) }
