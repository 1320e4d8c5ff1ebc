package term

import (
	"context"
	"fmt"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

// TargetTitles maps checkpoints that others went back to, or started from, to a name: the
// number of a checkpoint, or a fork. The names are not escaped.
type TargetTitles = view.Titles

// ReadTargetTitles reads the names that the titles of cs need. A target that cannot be found,
// because it was forgotten, has no name.
func ReadTargetTitles(ctx context.Context, s retake.Service, ws retake.Workspace, cs []retake.Checkpoint) TargetTitles {
	g := TargetTitles{}
	if o := ws.Origin; o != nil {
		g[o.Checkpoint] = CheckpointNumber(o.Number)
	}
	forks := sync.OnceValue(func() []retake.WorkspaceState {
		all, err := s.Forks(ctx, ws.ID)
		if err != nil {
			return nil
		}
		return all
	})
	g.Read(cs, lookupFromService(ctx, s, ws.ID), func(id retake.CheckpointID) (retake.WorkspaceState, bool) {
		return findForkOf(ctx, s, forks(), id)
	})
	return g
}

// maxLookups is how many checkpoints are asked for because a picture does not hold them.
const maxLookups = 32

// lookupFromService returns a lookup that reads checkpoints from the service, a bounded number
// of times.
func lookupFromService(ctx context.Context, s retake.Service, ws retake.WorkspaceID) view.Lookup {
	left := maxLookups
	return func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
		if left--; left < 0 {
			return nil, false
		}
		c, err := s.Find(ctx, ws, string(id))
		return &c, err == nil
	}
}

// findForkOf finds the fork that a checkpoint belongs to.
func findForkOf(ctx context.Context, s retake.Service, forks []retake.WorkspaceState, id retake.CheckpointID) (retake.WorkspaceState, bool) {
	for _, f := range forks {
		if f.Latest != nil && f.Latest.ID == id {
			return f, true
		}
	}
	for _, f := range forks {
		if _, err := s.Find(ctx, f.ID, string(id)); err == nil {
			return f, true
		}
	}
	return retake.WorkspaceState{}, false
}

// CheckpointTitle returns the title of a checkpoint; what a user asked an agent for is quoted.
func (l Style) CheckpointTitle(c retake.Checkpoint, g TargetTitles) (text string, said bool) {
	text, said = view.Title(&c, g)
	return l.EscapeText(text), said
}

// turnWorkText leads from a turn with nothing more to the checkpoints that hold its work.
func turnWorkText(l Style, work []int64) string {
	if len(work) == 0 {
		return ""
	}
	return fmt.Sprintf("\n  the work of this turn is in %s: retake show %d\n", asciiSigns(l, view.RangeText(work)), work[len(work)-1])
}
