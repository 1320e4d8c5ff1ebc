package service

import (
	"context"
	"time"

	"github.com/retake-dev/retake"
)

// A clock that jumps ahead must not delete history at once, so the date counts for
// the last day of a checkpoint only when it was confirmed: two clean-ups at least
// confirmAfter apart saw it, or it is no more than jumpAhead beyond the last date that
// was confirmed.
const (
	maxClockJump      = 24 * time.Hour
	clockConfirmTime  = 24 * time.Hour
	clockSaveInterval = time.Hour // how far the clock goes on before that is written again
)

// clockState are what clean-ups know of the clock. They are kept with the other notes.
type clockState struct {
	Confirmed time.Time `json:"confirmed,omitzero"` // the latest date that is believed
	Jumped    time.Time `json:"jumped,omitzero"`    // when a later one was first seen
}

// observe takes in what the clock says now.
func (n clockState) observe(now time.Time) clockState {
	ahead := now.Sub(n.Confirmed)
	switch {
	case n.Confirmed.IsZero():
		return clockState{Confirmed: now}
	case ahead < 0: // it went back: what it said before may still be right
		return clockState{Confirmed: n.Confirmed}
	case ahead <= maxClockJump:
		return clockState{Confirmed: now}
	case n.Jumped.IsZero() || now.Before(n.Jumped):
		return clockState{Confirmed: n.Confirmed, Jumped: now}
	case now.Sub(n.Jumped) >= clockConfirmTime:
		return clockState{Confirmed: now}
	}
	return n
}

// trustedDate is the date that the last day of checkpoints is counted from: not later than the
// clock says, nor later than what is believed.
func (n clockState) trustedDate(now time.Time) time.Time {
	if n = n.observe(now); n.Confirmed.Before(now) {
		return n.Confirmed
	}
	return now
}

// confirmClock takes in what the clock says at a clean-up.
func (s *Service) confirmClock(ctx context.Context) {
	notes, err := s.loadCleanupState(ctx)
	if err != nil {
		return // then no date is believed beyond what was
	}
	was, is := notes.Clock, notes.Clock.observe(s.parts.Clock.Now())
	if is.Jumped.Equal(was.Jumped) && is.Confirmed.Sub(was.Confirmed) < clockSaveInterval && !was.Confirmed.IsZero() {
		return
	}
	s.updateCleanupState(ctx, func(n *cleanupState) { n.Clock = is })
}

// removeBefore is the date from before which nothing of a workspace is kept; zero when
// nothing was set.
func (s *Service) removeBefore(ctx context.Context, id retake.WorkspaceID) time.Time {
	after := s.removeAfter(id)
	if after <= 0 {
		return time.Time{}
	}
	notes, err := s.loadCleanupState(ctx)
	if err != nil {
		return time.Time{}
	}
	return notes.Clock.trustedDate(s.parts.Clock.Now()).Add(-after)
}

func (s *Service) removeAfter(id retake.WorkspaceID) time.Duration {
	if s.parts.GoneAfter == nil {
		return 0
	}
	return s.parts.GoneAfter(id)
}
