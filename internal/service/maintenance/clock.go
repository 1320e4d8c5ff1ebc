package maintenance

import (
	"context"
	"time"

	"github.com/retake-dev/retake"
)

// A clock that jumps ahead must not delete history at once. So a date counts only when it
// is confirmed: two cleanups at least clockConfirmTime apart saw it, or it is at most
// maxClockJump after the last confirmed date.
const (
	maxClockJump      = 24 * time.Hour
	clockConfirmTime  = 24 * time.Hour
	clockSaveInterval = time.Hour // how far the clock advances before that is stored again
)

// clockState is what cleanups know of the clock. It is part of cleanupState.
type clockState struct {
	Confirmed time.Time `json:"confirmed,omitzero"` // the latest date that is believed
	Jumped    time.Time `json:"jumped,omitzero"`    // when a later one was first seen
}

// observe returns the state after the clock showed the given time.
func (n clockState) observe(now time.Time) clockState {
	ahead := now.Sub(n.Confirmed)
	switch {
	case n.Confirmed.IsZero():
		return clockState{Confirmed: now}
	case ahead < 0: // it went back: the earlier date may still be right
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

// trustedDate returns the date for removing checkpoints: never later than the clock nor
// than the confirmed date.
func (n clockState) trustedDate(now time.Time) time.Time {
	if n = n.observe(now); n.Confirmed.Before(now) {
		return n.Confirmed
	}
	return now
}

// confirmClock records the time of a cleanup.
func (s *Maintenance) confirmClock(ctx context.Context) {
	notes, err := s.loadCleanupState(ctx)
	if err != nil {
		return // then only the confirmed date counts
	}
	was, is := notes.Clock, notes.Clock.observe(s.workspaces.Clock.Now())
	if is.Jumped.Equal(was.Jumped) && is.Confirmed.Sub(was.Confirmed) < clockSaveInterval && !was.Confirmed.IsZero() {
		return
	}
	s.updateCleanupState(ctx, func(n *cleanupState) { n.Clock = is })
}

// removeBefore returns the date before which nothing of a workspace is kept, or zero if
// there is none.
func (s *Maintenance) removeBefore(ctx context.Context, id retake.WorkspaceID) time.Time {
	after := s.removeAfter(id)
	if after <= 0 {
		return time.Time{}
	}
	notes, err := s.loadCleanupState(ctx)
	if err != nil {
		return time.Time{}
	}
	return notes.Clock.trustedDate(s.workspaces.Clock.Now()).Add(-after)
}

// TrustedDate is the time for deleting: not the clock's while that has jumped ahead.
func (s *Maintenance) TrustedDate() time.Time {
	now := s.workspaces.Clock.Now()
	notes, err := s.loadCleanupState(context.Background())
	if err != nil {
		return time.Time{}
	}
	return notes.Clock.trustedDate(now)
}

func (s *Maintenance) removeAfter(id retake.WorkspaceID) time.Duration {
	if s.opts.GoneAfter == nil {
		return 0
	}
	return s.opts.GoneAfter(id)
}
