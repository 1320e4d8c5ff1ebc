package agentstate

import (
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// CatchUp handles the queued signals. It is for a service that lives for one command, where
// no daemon does it.
func (s *Agents) CatchUp() {
	if s.workspaces.SignalDir != "" && !queue.IsEmpty(s.workspaces.SignalDir) {
		s.workspaces.RunTask(workspace.TaskEvents, s.handleQueuedSignals)
	}
}

// KeepReserve makes the room again that the queue keeps for a full disk.
func (s *Agents) KeepReserve() {
	if s.workspaces.SignalDir != "" {
		s.workspaces.Diag.Note(workspace.TaskReserve, queue.FillReserve(s.workspaces.SignalDir))
	}
}

// handleQueuedSignals handles the signals in the queue: those that arrived while no service
// was running, and those that were not finished when the last one ended.
func (s *Agents) handleQueuedSignals() error {
	queue.RemoveStale(s.workspaces.SignalDir, s.workspaces.Clock.Now().Add(-time.Hour))
	most := 0
	if queue.Count(s.workspaces.SignalDir) > queue.MaxSignals { // more than we ever queue: handle only some
		most = maxOlderSignals
	}
	return queue.ForEach(s.workspaces.SignalDir, most, func(sig retake.Signal, done func()) bool { // the next start continues
		s.handleQueuedSignal(sig, done)
		return s.workspaces.Lifetime.Err() == nil
	})
}

// HandleOlderSignals handles the signals that were queued before the given one, because
// only their order tells the end of one turn from that of the next. It reports whether the
// signal itself is in the queue: then its sender gave up waiting.
func (s *Agents) HandleOlderSignals(id retake.SignalID) (waited bool, err error) {
	if s.workspaces.SignalDir == "" || queue.IsEmpty(s.workspaces.SignalDir) {
		return false, nil
	}
	s.queueMu.Lock()
	defer s.queueMu.Unlock()
	err = queue.ForEach(s.workspaces.SignalDir, maxOlderSignals, func(waits retake.Signal, done func()) bool { // the next signal continues
		if waited = waits.ID == id; !waited && !s.isSignalQueued(waits) {
			s.handleQueuedSignal(waits, done)
		}
		return !waited && s.workspaces.Lifetime.Err() == nil
	})
	return waited, err
}

// maxOlderSignals bounds how many queued signals a new one waits for; the rest is handled
// later.
const maxOlderSignals = 64

// isSignalQueued reports whether a signal is being handled already.
func (s *Agents) isSignalQueued(sig retake.Signal) bool {
	return slices.ContainsFunc(s.allAgentStates(), func(h *State) bool { return h.hasQueued(sig.ID) })
}

// maxSignalAge is the age from which a queued signal is dropped.
const maxSignalAge = 7 * 24 * time.Hour

// handleQueuedSignal handles one signal from the queue and calls drop when it is finished.
// A signal that fails for now stays in the queue; one that can never succeed, such as for
// an unknown workspace, is dropped.
func (s *Agents) handleQueuedSignal(sig retake.Signal, drop func()) {
	r, err := s.observeSignal(s.workspaces.Lifetime, sig, true)
	done := err == nil && !r.Later
	for _, never := range []retake.ErrorKind{retake.Invalid, retake.Exists, retake.NotFound, retake.Moved} {
		done = done || retake.IsKind(err, never)
	}
	if done || s.workspaces.Clock.Now().Sub(sig.Time) > maxSignalAge && s.workspaces.Lifetime.Err() == nil {
		drop()
	}
}
