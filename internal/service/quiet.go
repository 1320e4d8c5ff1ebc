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

const (
	quietStep   = time.Second
	quietAfter  = 2 * time.Second // without a change
	quietLatest = time.Minute     // when the changes do not pause
	quietSoon   = 5               // steps between two looks whether it is wanted in a workspace that is in use
	quietBegin  = 60              // and in any
	quietShare  = 100             // a look that found nothing may take this part of one processor
	quietRetry  = time.Minute     // after one that did not work out
	quietNever  = 24 * time.Hour  // where no tracker works
)

// silences takes checkpoints between turns, where somebody wants them: when files changed and
// came to rest. A workspace is looked through once, and from then on its tracker tells.
func (c *care) silences(ctx context.Context) {
	if c.s.p.Habits == nil {
		return // nobody can want it
	}
	select {
	case <-ctx.Done():
		return
	case <-c.s.caughtUp: // what agents told before comes first
	}
	rests := map[retake.WorkspaceID]*resting{}
	for n := 0; ; {
		switch {
		case n%quietBegin == 0:
			c.s.beginQuiet(ctx, rests, c.s.listed(ctx))
		case n%quietSoon == 0:
			c.s.beginQuiet(ctx, rests, c.s.inUse())
		}
		for id, r := range rests {
			if !c.s.quietStep(ctx, id, r) {
				delete(rests, id)
			}
		}
		then := n + 1
		if len(rests) == 0 {
			then = (n/quietSoon + 1) * quietSoon // nobody wants it: sleep on
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(then-n) * quietStep):
		}
		n = then
	}
}

// resting is what is known of the changes in a workspace since the last rest.
type resting struct {
	events      int64
	first, last time.Time // zero: nothing changed
	until       time.Time // nobody looks before
	begin       time.Time // nobody tries to watch before
}

// hear takes in how many changes there were so far.
func (r *resting) hear(now time.Time, events int64) {
	if events != r.events {
		r.events, r.last = events, now
		if r.first.IsZero() {
			r.first = now
		}
	}
}

// due takes in how many changes there were so far. It reports whether a checkpoint is due, and
// whether they still go on.
func (r *resting) due(now time.Time, events int64) (save, moving bool) {
	r.hear(now, events)
	switch {
	case r.first.IsZero(), now.Before(r.until):
		return false, false
	case now.Sub(r.last) >= quietAfter:
		r.first = time.Time{}
		return true, false
	case now.Sub(r.first) >= quietLatest:
		r.first = now
		return true, true
	}
	return false, false
}

// beginQuiet begins where it was wanted since.
func (s *Service) beginQuiet(ctx context.Context, rests map[retake.WorkspaceID]*resting, among []retake.WorkspaceID) {
	for _, id := range among {
		if rests[id] != nil || !s.habits(id).Quiet {
			continue
		}
		if ws, err := s.row(ctx, id); err == nil && ws.Ended == nil {
			rests[id] = &resting{}
		}
	}
}

// listed are all workspaces.
func (s *Service) listed(ctx context.Context) []retake.WorkspaceID {
	all, _ := s.p.Catalog.Workspaces(ctx) // the next look may have more luck
	var out []retake.WorkspaceID
	for _, ws := range all {
		out = append(out, ws.ID)
	}
	return out
}

// inUse are the workspaces that are in memory.
func (s *Service) inUse() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.lives))
}

// quietStep looks at one workspace. It reports whether that is still wanted. One that
// nobody watches is looked through first: what changed meanwhile is a checkpoint.
func (s *Service) quietStep(ctx context.Context, id retake.WorkspaceID, r *resting) bool {
	if !s.habits(id).Quiet {
		return false
	}
	l := s.liveOf(id)
	if !l.mu.TryLock() {
		return true // somebody is at work
	}
	watch := l.watch
	l.mu.Unlock()
	now := s.p.Clock.Now()
	switch {
	case watch == nil && now.Before(r.begin):
	case watch == nil:
		_, err := s.quietSave(ctx, id, retake.SaveRequest{}, anyChange)
		if r.begin = now.Add(quietRetry); err == nil {
			r.begin = now.Add(quietNever) // there is a watch now, or there can be none
		}
		return !retake.IsKind(err, retake.NotFound)
	case s.hearingOf(id).going(now) != nil: // the end of the turn is a checkpoint
		r.hear(now, watch.EventCount())
		r.last = now
	default:
		s.quietLook(ctx, id, r, watch.EventCount())
	}
	return true
}

// quietLook takes a checkpoint when one is due. A look that found nothing is not repeated at
// once, and one that did not work out is.
func (s *Service) quietLook(ctx context.Context, id retake.WorkspaceID, r *resting, events int64) {
	began := s.p.Clock.Now()
	save, moving := r.due(began, events)
	if !save {
		return
	}
	req := retake.SaveRequest{}
	if moving {
		req.Intent = retake.StillMoving
	}
	saved, err := s.quietSave(ctx, id, req, ownWork)
	now := s.p.Clock.Now()
	switch {
	case errors.Is(err, errBusy):
		r.first = now // it is due as before
	case err != nil: // who asks will hear
		r.first, r.until = now, now.Add(quietRetry)
	case !saved:
		r.until = now.Add(quietShare * now.Sub(began))
	}
}

func anyChange(retake.Change) bool { return true }

// ownWork reports whether a change is worth a checkpoint. What programs write all day is not.
func ownWork(c retake.Change) bool {
	return countFiles([]retake.Change{c}).Total() > 0 && worthSaving(c.Path)
}

var errBusy = errors.New("another operation is running there")

// quietSave takes a checkpoint when something changed that is worth one. It waits for nobody.
func (s *Service) quietSave(ctx context.Context, id retake.WorkspaceID, req retake.SaveRequest, worth func(retake.Change) bool) (bool, error) {
	ws, root, err := s.openRoot(ctx, id)
	if err != nil {
		return false, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	l := s.liveOf(id)
	if !l.mu.TryLock() {
		return false, errBusy
	}
	defer l.mu.Unlock()
	if s.interrupted(ctx, id) != nil || s.hearingOf(id).going(s.p.Clock.Now()) != nil {
		return false, errBusy // half of a restore, or an agent that began: it waits for a checkpoint of its own, behind this lock
	}
	if some, err := s.changedSome(ctx, l, ws, worth); err != nil || !some {
		return false, err
	}
	l.saving.Store(true)
	defer l.saving.Store(false)
	req.Workspace, req.Trigger, req.IfChanged = id, retake.TriggerQuiet, true
	_, err = s.saveFor(ctx, l, ws, root, req, asking{})
	return err == nil, err
}

// changedSome looks whether something changed that is worth a checkpoint: at the paths that were
// told, and at the files only if one of those can be. A workspace that was not looked
// through yet may have anything.
func (s *Service) changedSome(ctx context.Context, l *live, ws retake.Workspace, worth func(retake.Change) bool) (bool, error) {
	if l.tip == nil || l.watch == nil {
		return true, nil
	}
	s.drain(l, ws.Root)
	if l.doubt == "" && len(l.inodes) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(l.dirt)), worthSaving) {
		return false, nil
	}
	used := l.used
	changes, _, err := s.lookIn(ctx, l, *l.tip)
	l.used = used // nobody asked for it
	return slices.ContainsFunc(changes, worth), err
}

// worthSaving reports whether a change of this path is a reason for a quiet checkpoint. What
// programs write all day, and what git keeps, is none.
func worthSaving(path string) bool { return !restore.IsVolatile(path) && !restore.InRepository(path) }
