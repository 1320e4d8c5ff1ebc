package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/session"
)

const (
	quietStep   = time.Second
	quietAfter  = 2 * time.Second // without a change
	quietLatest = time.Minute     // when the changes do not pause
	quietSoon   = 5               // steps between two looks whether it is wanted in a workspace that is in use
	quietBegin  = 60              // and in any
)

// silences takes moments between turns, where somebody wants them: when files changed and
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
			c.s.beginQuiet(ctx, rests, c.s.protected(ctx))
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
}

// due takes in how many changes there were so far. It reports whether a moment is due, and
// whether they still go on.
func (r *resting) due(now time.Time, events int64) (save, moving bool) {
	if events != r.events {
		r.events, r.last = events, now
		if r.first.IsZero() {
			r.first = now
		}
	}
	switch {
	case r.first.IsZero():
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

// beginQuiet begins where it was wanted since. What changed while nobody watched is the
// first moment.
func (s *Service) beginQuiet(ctx context.Context, rests map[retake.WorkspaceID]*resting, among []retake.WorkspaceID) {
	for _, id := range among {
		if rests[id] != nil || !s.wantsQuiet(id) {
			continue
		}
		rests[id] = &resting{}
		_ = s.quietSave(ctx, id, retake.SaveRequest{}, func(retake.Change) bool { return true }) // the next one tries again
	}
}

// protected are all workspaces.
func (s *Service) protected(ctx context.Context) []retake.WorkspaceID {
	all, _ := s.p.Catalog.Workspaces(ctx) // the next look may have more luck
	var out []retake.WorkspaceID
	for _, ws := range all {
		if ws.Ended == nil {
			out = append(out, ws.ID)
		}
	}
	return out
}

// inUse are the workspaces that are in memory.
func (s *Service) inUse() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.lives))
}

func (s *Service) wantsQuiet(id retake.WorkspaceID) bool {
	h := s.habits(id)
	return h.Quiet && !h.Paused
}

// quietStep looks at one workspace. It reports whether that is still wanted.
func (s *Service) quietStep(ctx context.Context, id retake.WorkspaceID, r *resting) bool {
	if !s.wantsQuiet(id) {
		return false
	}
	l := s.liveOf(id)
	if !l.mu.TryLock() {
		return true // somebody is at work
	}
	watch := l.watch
	l.mu.Unlock()
	if watch == nil {
		return true
	}
	if s.hearingOf(id).working() { // the end of the turn is a moment
		*r = resting{events: watch.Events()}
		return true
	}
	save, moving := r.due(s.p.Clock.Now(), watch.Events())
	if !save {
		return true
	}
	req := retake.SaveRequest{}
	if moving {
		req.Intent = retake.StillMoving
	}
	if err := s.quietSave(ctx, id, req, ownWork); errors.Is(err, errBusy) { // of all else, who asks will hear
		r.first = s.p.Clock.Now() // it is due as before
	}
	return true
}

// ownWork reports whether a change is worth a moment. What programs write all day is not.
func ownWork(c retake.Change) bool {
	return countFiles([]retake.Change{c}).Total() > 0 && counts(c.Path, false)
}

var errBusy = errors.New("somebody is at work there")

// quietSave takes a moment when something changed that is worth one. It waits for nobody.
func (s *Service) quietSave(ctx context.Context, id retake.WorkspaceID, req retake.SaveRequest, worth func(retake.Change) bool) error {
	if s.interrupted(ctx, id) != nil {
		return errBusy // what stands there is half of a restore
	}
	ws, root, err := s.openRoot(ctx, id)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	l := s.liveOf(id)
	if !l.mu.TryLock() {
		return errBusy
	}
	defer l.mu.Unlock()
	if s.hearingOf(id).working() {
		return errBusy // an agent that begins now waits for a moment of its own, behind this lock
	}
	if l.tip != nil {
		changes, _, err := s.lookIn(ctx, l, *l.tip)
		if err != nil || !slices.ContainsFunc(changes, worth) {
			return err
		}
	}
	l.saving.Store(true)
	defer l.saving.Store(false)
	req.Workspace, req.Trigger, req.IfChanged = id, retake.TriggerQuiet, true
	_, err = s.saveFor(ctx, l, ws, root, req, asking{})
	return err
}

// working reports whether a turn goes on.
func (h *hearing) working() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.state.Sessions, func(x session.Session) bool { return x.Phase == session.Working })
}
