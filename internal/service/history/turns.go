package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// TurnKey identifies a turn across all sessions.
type TurnKey struct{ Agent, Session, ID string }

// TurnKeyOf returns the turn during which, or at the end of which, a checkpoint was taken.
func TurnKeyOf(cp retake.Checkpoint) (TurnKey, bool) {
	if !isInTurn(cp) || cp.Turn.ID == "" {
		return TurnKey{}, false
	}
	return TurnKey{cp.Turn.Agent, cp.Turn.Session, cp.Turn.ID}, true
}

// IsSameTurn reports whether two checkpoints belong to the same turn.
func IsSameTurn(a, b retake.Checkpoint) bool {
	x, inA := TurnKeyOf(a)
	y, inB := TurnKeyOf(b)
	return inA && inB && x == y
}

// isInTurn reports whether a checkpoint was taken during a turn or at its end.
func isInTurn(cp retake.Checkpoint) bool {
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

// HasOverlap reports whether other sessions worked during a turn whose start is known.
func HasOverlap(cp retake.Checkpoint) bool {
	_, turn := TurnKeyOf(cp)
	return turn && len(cp.Turn.Contested) > 0 && !cp.Turn.Began.IsZero()
}

// stateBeforeTurn returns the checkpoint that a turn with overlap started from. Checkpoints
// of other sessions may be between its own.
func (s *History) stateBeforeTurn(ctx context.Context, item retake.Checkpoint) (retake.Checkpoint, error) {
	key, _ := TurnKeyOf(item)
	at := item
	var begin *retake.Checkpoint
	err := s.WalkTimeline(ctx, item.Workspace, item.Number, func(cp, _ retake.Checkpoint) (bool, error) {
		if cp.ID == item.ID {
			return true, nil
		}
		if cp.Return != nil || PromptTurnKey(cp) == key || cp.Time.Before(item.Turn.Began) {
			begin = &cp
			return false, nil
		}
		at = cp
		return true, nil
	})
	switch {
	case err != nil:
		return retake.Checkpoint{}, err
	case begin == nil || begin.Number != at.Number-1:
		return retake.Checkpoint{}, forgottenStateError(item)
	}
	return *begin, nil
}

// PromptTurnKey returns the turn that starts with a checkpoint.
func PromptTurnKey(cp retake.Checkpoint) TurnKey {
	if cp.Trigger != retake.TriggerPrompt || cp.Turn == nil {
		return TurnKey{}
	}
	return TurnKey{cp.Turn.Agent, cp.Turn.Session, cp.Turn.ID}
}

// StateBeforeItem returns the checkpoint that an item started from. paths limits the
// comparison; none means all.
func (s *History) StateBeforeItem(ctx context.Context, item retake.Checkpoint, paths []string) (retake.Checkpoint, error) {
	if item.Return != nil {
		cp, err := s.workspaces.LoadCheckpoint(ctx, item.Return.Before)
		if errors.Is(err, catalog.ErrNotFound) {
			err = forgottenStateError(item)
		}
		return cp, err
	}
	if HasOverlap(item) {
		before, err := s.stateBeforeTurn(ctx, item)
		if err != nil {
			return before, err
		}
		if differs, err := s.differInPaths(ctx, before, item, paths); err != nil || differs {
			return before, err
		} // it only reverted changes of others since it began
	}
	at := item
	for {
		older, err := s.workspaces.Catalog.Page(ctx, retake.LogQuery{Workspace: item.Workspace, Before: at.Number, Limit: 1})
		switch {
		case err != nil:
			return retake.Checkpoint{}, err
		case len(older) == 0:
			return retake.Checkpoint{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is nothing before checkpoint %d", item.Number), Safe: workspace.Unchanged, Hint: RestoreHint}
		case at.ID != item.ID && isAutomatic(at, older[0]): // the completion of the checkpoint at the prompt
			return at, nil
		case IsSameTurn(older[0], at), at.Trigger == retake.TriggerComplete && ranOutOfTime(older[0]):
			at = older[0] // part of the same turn, or the partial half of a capture
		case older[0].Number != at.Number-1:
			return retake.Checkpoint{}, forgottenStateError(item)
		default:
			return older[0], nil
		}
	}
}

const RestoreHint = "go to a checkpoint: retake help restore\nlist checkpoints: retake log"

func forgottenStateError(item retake.Checkpoint) error {
	return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("what was there before checkpoint %d was forgotten", item.Number), Safe: workspace.Unchanged, Hint: RestoreHint}
}

func ranOutOfTime(cp retake.Checkpoint) bool { return cp.Coverage.Count()[retake.ReasonBudget] > 0 }
