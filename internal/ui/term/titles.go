package term

import (
	"context"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// TargetTitles maps checkpoints that others went back to, or started from, to a name: the
// number of a checkpoint, or a fork.
type TargetTitles map[retake.CheckpointID]string

// ReadTargetTitles reads the names that the titles of cs need. A target that cannot be found,
// because it was forgotten, has no name.
func ReadTargetTitles(ctx context.Context, s retake.Service, ws retake.Workspace, cs []retake.Checkpoint) TargetTitles {
	g := TargetTitles{}
	g.fillTitles(ctx, s, ws, cs, LazyForks(ctx, s, ws))
	return g
}

// LazyForks returns a function that reads the forks of a workspace on its first call. If that
// fails there are none.
func LazyForks(ctx context.Context, s retake.Service, ws retake.Workspace) func() []retake.WorkspaceState {
	return sync.OnceValue(func() []retake.WorkspaceState {
		forks, err := s.Forks(ctx, ws.ID)
		if err != nil {
			return nil
		}
		return forks
	})
}

// fillTitles adds the names, and returns by which checkpoints each fork was adopted.
func (g TargetTitles) fillTitles(ctx context.Context, s retake.Service, ws retake.Workspace, cs []retake.Checkpoint, forks func() []retake.WorkspaceState) map[retake.WorkspaceID][]retake.CheckpointID {
	adopted := map[retake.WorkspaceID][]retake.CheckpointID{}
	for _, c := range cs {
		g[c.ID] = CheckpointNumber(c.Number)
	}
	if o := ws.Origin; o != nil {
		g[o.Checkpoint] = CheckpointNumber(o.Number)
	}
	for _, c := range cs {
		if c.Return == nil {
			continue
		}
		if c.Return.Course == retake.CourseAdopt {
			if f, ok := findForkOf(ctx, s, forks(), c.Return.Target); ok {
				g[c.Return.Target] = termtext.Escape(f.Name)
				adopted[f.ID] = append(adopted[f.ID], c.ID)
			}
			continue
		}
		if c.Intent != "" || g[c.Return.Target] != "" {
			continue
		}
		if to, err := s.Find(ctx, ws.ID, string(c.Return.Target)); err == nil {
			g[to.ID] = CheckpointNumber(to.Number)
		}
	}
	return adopted
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

// ReadDetails reads what drawing needs besides the timeline itself: names, and the forks of
// the checkpoints shown.
func (v *TimelineView) ReadDetails(ctx context.Context, s retake.Service, ws retake.Workspace, forks func() []retake.WorkspaceState) {
	v.Titles = TargetTitles{}
	adopted := v.Titles.fillTitles(ctx, s, ws, v.Checkpoints, forks)
	v.readEarlier(ctx, s, ws)
	if !v.Tree {
		return
	}
	shown := map[retake.CheckpointID]bool{}
	for _, c := range v.Checkpoints {
		shown[c.ID] = true
	}
	for _, f := range forks() {
		if f.Origin != nil && shown[f.Origin.Checkpoint] && f.Latest != nil && (!f.Gone && f.Ended == nil || adopted[f.ID] != nil) {
			v.Forks = append(v.Forks, ForkLine{WorkspaceState: f, Adopted: adopted[f.ID]})
		}
	}
	slices.SortStableFunc(v.Forks, compareForks)
	rows := map[retake.CheckpointID]int{}
	for i, f := range v.Forks { // those that have a row of their own
		if rows[f.Origin.Checkpoint]++; rows[f.Origin.Checkpoint] > maxForksShown {
			continue
		}
		if t, err := s.Log(ctx, retake.LogQuery{Workspace: f.ID, Limit: 1}); err == nil {
			v.Forks[i].Finding = t.Findings[f.Latest.ID]
		}
	}
}

// checkpointTitle returns the intent, or a sentence made from facts if there is none; said
// reports which of the two it is.
func checkpointTitle(c retake.Checkpoint, g TargetTitles) (text string, said bool) {
	if c.Intent != "" {
		return termtext.Escape(c.Intent), true
	}
	switch c.Trigger {
	case retake.TriggerInit:
		if c.Parent != "" { // its protection had ended
			return "protected again", false
		}
		return "start", false
	case retake.TriggerComplete:
		return "the rest, after time ran out", false
	case retake.TriggerSafety:
		return "saved before the restore", false
	case retake.TriggerFork:
		return "forked from " + g.titleOr(c.Parent, "another workspace"), false
	case retake.TriggerReturn:
		if c.Return != nil {
			return returnTitle(*c.Return, g), false
		}
	case retake.TriggerTurn, retake.TriggerCall:
		if c.Turn != nil && c.Changed.Total() == 0 {
			return "a turn of " + termtext.Escape(c.Turn.Agent), false
		}
	default:
	}
	if c.Changed.Total() == 0 {
		return "no file changed", false
	}
	return CountFiles(c.Changed.Total()) + " changed", false
}

// returnTitle returns the title of a checkpoint that a restore made.
func returnTitle(r retake.Return, g TargetTitles) string {
	const some = "a checkpoint"
	text := "restored "
	switch r.Course {
	case retake.CourseUndo:
		text = "undid "
	case retake.CourseRedo:
		text = "redid "
	case retake.CourseAdopt:
		return "adopted " + g.titleOr(r.Target, "a fork")
	case retake.CourseUnwind:
		text = "took back the restore of "
	case retake.CourseRestore, retake.CourseFinish:
	}
	if len(r.Hunks) > 0 {
		text += CountNoun(int64(len(r.Hunks)), "hunk", "hunks") + " of "
	}
	text += g.titleOr(r.Target, some)
	if len(r.Hunks) == 0 && len(r.Paths) > 0 {
		text += ", " + CountNoun(int64(len(r.Paths)), "path", "paths")
	}
	return text
}

func (g TargetTitles) titleOr(id retake.CheckpointID, none string) string {
	if n := g[id]; n != "" {
		return n
	}
	return none
}
