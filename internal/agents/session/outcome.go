package session

import (
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// recordOutcomes notes how the effects of a call ended, as far as its answer tells.
func (n *transition) recordOutcomes(c *retake.Call) {
	if c == nil {
		return
	}
	for _, e := range risk.Judge(*c).Effects {
		text := truncate(e.Text, maxTitle)
		for i := range slices.Backward(n.state.Effects) {
			have := &n.state.Effects[i]
			if have.Outcome == "" && have.Agent == n.session.Agent && have.Session == n.session.ID && have.Call == c.ID && have.Text == text {
				have.Outcome = effectOutcome(c, e)
				break
			}
		}
	}
}

// effectOutcome is how one part of a call ended. A call that failed says nothing of a part
// that may have run before the one that did.
func effectOutcome(c *retake.Call, e risk.ExternalEffect) retake.Outcome {
	switch {
	case c.Unfinished:
		return retake.OutcomeUnknown
	case c.Failed && e.NotIfFailed:
		return retake.OutcomeFailed
	case !c.Failed && e.DoneIfPassed:
		return retake.OutcomeDone
	}
	return retake.OutcomeUnknown
}

// EndedEffects are the effects that a checkpoint takes along: those that were answered, and those
// of turns that are over, which nobody will answer any more. What is still being done
// belongs to the checkpoint after it, not to one that was taken before or meanwhile.
func (s *State) EndedEffects(at time.Time) []retake.Effect {
	var out []retake.Effect
	for _, e := range s.Effects {
		if e.Outcome == "" && s.isAwaited(e, at) {
			continue
		}
		out = append(out, withOutcome(e))
	}
	return out
}

// PendingEffects are all effects since the newest checkpoint.
func (s *State) PendingEffects() []retake.Effect {
	out := []retake.Effect{}
	for _, e := range s.Effects {
		out = append(out, withOutcome(e))
	}
	return out
}

func withOutcome(e retake.Effect) retake.Effect {
	if e.Outcome == "" {
		e.Outcome = retake.OutcomeUnknown
	}
	return e
}

// isAwaited reports whether the answer to an effect may still come.
func (s *State) isAwaited(e retake.Effect, at time.Time) bool {
	x := s.Find(e.Agent + " " + e.Session)
	return x != nil && x.Phase == Working && !e.Time.Before(x.Turn.Since) && at.Sub(x.Last) < staleAfter
}
