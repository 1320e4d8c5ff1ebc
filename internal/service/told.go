package service

import (
	"context"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/agents/session"
)

// attribute says of a checkpoint what is known of the agents: the effects since the one
// before, and the turn that was going on, whoever asked for it.
func (s *Service) attribute(cp *retake.Checkpoint) {
	h := s.hearingOf(cp.Workspace)
	cp.Effects = h.ended(cp.Time)
	if cp.Turn == nil && (cp.Trigger == retake.TriggerManual || cp.Trigger == retake.TriggerComplete) {
		cp.Turn = h.going(cp.Time)
	}
}

// told ends what a sealed checkpoint carries on.
func (s *Service) told(cp retake.Checkpoint) {
	if len(cp.Effects) == 0 {
		return
	}
	s.hearingOf(cp.Workspace).settled(cp.Effects)
}

// going is the turn that goes on at a time, if there is one.
func (h *hearing) going(at time.Time) *retake.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range slices.Backward(h.state.Sessions) {
		if t := h.state.OngoingTurn(i, at); t != nil {
			return t
		}
	}
	return nil
}

// agents are the processes of the sessions that are known.
func (h *hearing) agents() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []int
	for _, x := range h.state.Sessions {
		if x.PID > 0 && x.Phase != session.Away {
			out = append(out, x.PID)
		}
	}
	return out
}

// turnKey names a turn among those of all sessions.
type turnKey struct{ agent, session, id string }

// turnOf is the turn that a checkpoint was taken in, or at the end of.
func turnOf(cp retake.Checkpoint) (turnKey, bool) {
	if !inTurn(cp) || cp.Turn.ID == "" {
		return turnKey{}, false
	}
	return turnKey{cp.Turn.Agent, cp.Turn.Session, cp.Turn.ID}, true
}

// sameTurn reports whether two checkpoints are parts of one turn.
func sameTurn(a, b retake.Checkpoint) bool {
	x, inA := turnOf(a)
	y, inB := turnOf(b)
	return inA && inB && x == y
}

// inTurn reports whether a checkpoint was taken while a turn went on, or at its end.
func inTurn(cp retake.Checkpoint) bool {
	if cp.Turn == nil {
		return false
	}
	switch cp.Trigger {
	case retake.TriggerRisk, retake.TriggerTask, retake.TriggerCall, retake.TriggerTurn, retake.TriggerManual, retake.TriggerComplete, retake.TriggerSession:
		return true
	default:
		return false
	}
}

// CatchUp hears what waits, for a service that lives for one command: no daemon will.
func (s *Service) CatchUp() {
	if s.p.Signals != "" && !queue.IsEmpty(s.p.Signals) {
		s.background(taskEvents, s.hearWaiting)
	}
}

// hearWaiting hears what waits in the spool: signals that came while nobody listened,
// and those that were not done when the service ended.
func (s *Service) hearWaiting() error {
	queue.RemoveStale(s.p.Signals, s.p.Clock.Now().Add(-time.Hour))
	most := 0
	if queue.Count(s.p.Signals) > queue.MaxSignals { // somebody else put them there: nobody waits for all of it
		most = mostOlder
	}
	return queue.ForEach(s.p.Signals, most, func(sig retake.Signal, done func()) bool { // the next start looks again
		s.hearAgain(sig, done)
		return s.life.Err() == nil
	})
}

// hearOlder hears what waits before a signal that comes now: order is what tells a turn's
// end from the next one's. It reports whether the signal itself waits: then whoever sent it
// gave up and went on.
func (s *Service) hearOlder(id retake.SignalID) (waited bool, err error) {
	if s.p.Signals == "" || queue.IsEmpty(s.p.Signals) {
		return false, nil
	}
	s.older.Lock()
	defer s.older.Unlock()
	err = queue.ForEach(s.p.Signals, mostOlder, func(waits retake.Signal, done func()) bool { // the next one looks again
		if waited = waits.ID == id; !waited && !s.underWay(waits) {
			s.hearAgain(waits, done)
		}
		return !waited && s.life.Err() == nil
	})
	return waited, err
}

// mostOlder bounds what a signal waits for; the rest is heard by and by.
const mostOlder = 64

// underWay reports whether a signal was heard and is being done.
func (s *Service) underWay(sig retake.Signal) bool {
	return slices.ContainsFunc(s.allHearings(), func(h *hearing) bool { return h.does(sig.ID) })
}

// tooOld is when a signal is worth nothing any more.
const tooOld = 7 * 24 * time.Hour

// hearAgain hears one that waited. What cannot be done now waits on; what never can be,
// because there is no such workspace, goes.
func (s *Service) hearAgain(sig retake.Signal, drop func()) {
	r, err := s.observe(s.life, sig, true)
	done := err == nil && !r.Later
	for _, never := range []retake.ErrorKind{retake.Invalid, retake.Exists, retake.NotFound, retake.Moved} {
		done = done || retake.IsKind(err, never)
	}
	if done || s.p.Clock.Now().Sub(sig.Time) > tooOld && s.life.Err() == nil {
		drop()
	}
}

// rewound makes every agent that knows the files hear what became of them.
func (s *Service) rewound(ws retake.WorkspaceID, w session.Rewind) {
	s.hearingOf(ws).speak(func(st *session.State) { st.AddRewind(w) })
}

// settle lets what was told become what is known: turns of agents that died, and
// conversations that are being kept.
func (s *Service) settle(ctx context.Context, ws retake.Workspace) {
	h := s.hearingOf(ws.ID)
	if s.habits(ws.ID).Paused {
		return
	}
	h.bury(ws, s.habits(ws.ID))
	for _, j := range h.unfinishedJobs() {
		select {
		case <-j.done:
		case <-ctx.Done():
			return
		}
	}
	for end := s.p.Clock.Now().Add(talkWait); s.p.Clock.Now().Before(end) && ctx.Err() == nil; <-time.After(settleStep) {
		if h.keeps.TryLock() { // whoever keeps a conversation has it until it is kept
			h.keeps.Unlock()
			return
		}
	}
}

const settleStep = 10 * time.Millisecond
