package session

import (
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// recordOutcomes records how the effects of a call ended, as far as its result tells.
func (n *transition) recordOutcomes(c *retake.Call) {
	if c == nil {
		return
	}
	for _, e := range risk.JudgeWith(n.habits.Risk, *c).Effects {
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

// effectOutcome returns how one part of a call ended. A failed call says nothing about a
// part that may have run before the one that failed.
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

// EndedEffects returns the effects that a checkpoint takes along: those with a result, and
// those of turns that are over, which will get none. An effect that is still going on
// belongs to the next checkpoint.
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

// PendingEffects returns all effects since the newest checkpoint.
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

// isAwaited reports whether the result of an effect may still arrive.
func (s *State) isAwaited(e retake.Effect, at time.Time) bool {
	x := s.Find(e.Agent + " " + e.Session)
	return x != nil && x.Phase == Working && !e.Time.Before(x.Turn.Since) && at.Sub(x.Last) < staleAfter
}
