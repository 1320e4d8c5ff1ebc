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
	jumpAhead    = 24 * time.Hour
	confirmAfter = 24 * time.Hour
	noteClock    = time.Hour // how far the clock goes on before that is written again
)

// clockNotes are what clean-ups know of the clock. They are kept with the other notes.
type clockNotes struct {
	Confirmed time.Time `json:"confirmed,omitzero"` // the latest date that is believed
	Jumped    time.Time `json:"jumped,omitzero"`    // when a later one was first seen
}

// see takes in what the clock says now.
func (n clockNotes) see(now time.Time) clockNotes {
	ahead := now.Sub(n.Confirmed)
	switch {
	case n.Confirmed.IsZero():
		return clockNotes{Confirmed: now}
	case ahead < 0: // it went back: what it said before may still be right
		return clockNotes{Confirmed: n.Confirmed}
	case ahead <= jumpAhead:
		return clockNotes{Confirmed: now}
	case n.Jumped.IsZero() || now.Before(n.Jumped):
		return clockNotes{Confirmed: n.Confirmed, Jumped: now}
	case now.Sub(n.Jumped) >= confirmAfter:
		return clockNotes{Confirmed: now}
	}
	return n
}

// date is the date that the last day of checkpoints is counted from: not later than the
// clock says, nor later than what is believed.
func (n clockNotes) date(now time.Time) time.Time {
	if n = n.see(now); n.Confirmed.Before(now) {
		return n.Confirmed
	}
	return now
}

// confirmClock takes in what the clock says at a clean-up.
func (s *Service) confirmClock(ctx context.Context) {
	notes, err := s.tidyNotes(ctx)
	if err != nil {
		return // then no date is believed beyond what was
	}
	was, is := notes.Clock, notes.Clock.see(s.p.Clock.Now())
	if is.Jumped.Equal(was.Jumped) && is.Confirmed.Sub(was.Confirmed) < noteClock && !was.Confirmed.IsZero() {
		return
	}
	s.noteTidy(ctx, func(n *tidyNotes) { n.Clock = is })
}

// goneBefore is the date from before which nothing of a workspace is kept; zero when
// nothing was set.
func (s *Service) goneBefore(ctx context.Context, id retake.WorkspaceID) time.Time {
	after := s.goneAfter(id)
	if after <= 0 {
		return time.Time{}
	}
	notes, err := s.tidyNotes(ctx)
	if err != nil {
		return time.Time{}
	}
	return notes.Clock.date(s.p.Clock.Now()).Add(-after)
}

func (s *Service) goneAfter(id retake.WorkspaceID) time.Duration {
	if s.p.GoneAfter == nil {
		return 0
	}
	return s.p.GoneAfter(id)
}
