package cli

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// goals names what moments went to, or grew from: the number of a moment, or a
// fork.
type goals map[retake.CheckpointID]string

// goalsOf finds the names that the titles of some moments need. What cannot be
// found, because it was forgotten, is told without a name.
func goalsOf(ctx context.Context, s retake.Service, ws retake.Workspace, cs []retake.Checkpoint) goals {
	g := goals{}
	for _, c := range cs {
		g[c.ID] = numeral(c.Number)
	}
	if o := ws.Origin; o != nil {
		g[o.Checkpoint] = numeral(o.Number)
	}
	for _, c := range cs {
		if c.Return == nil || c.Intent != "" || g[c.Return.Target] != "" {
			continue
		}
		if c.Return.Course == retake.CourseAdopt {
			g.fork(ctx, s, ws, c.Return.Target)
			continue
		}
		if to, err := s.Find(ctx, ws.ID, string(c.Return.Target)); err == nil {
			g[to.ID] = numeral(to.Number)
		}
	}
	return g
}

// fork finds the fork that a moment belongs to.
func (g goals) fork(ctx context.Context, s retake.Service, ws retake.Workspace, id retake.CheckpointID) {
	forks, err := s.Forks(ctx, ws.ID)
	if err != nil {
		return
	}
	for _, f := range forks {
		if _, err := s.Find(ctx, f.ID, string(id)); err == nil {
			g[id] = screen.Escape(f.Name)
			return
		}
	}
}

// title is the intent, or a sentence from facts when nobody gave one; said
// reports which of the two it is.
func title(c retake.Checkpoint) (text string, said bool) { return titleWith(c, nil) }

func titleWith(c retake.Checkpoint, g goals) (text string, said bool) {
	if c.Intent != "" {
		return screen.Escape(c.Intent), true
	}
	switch c.Trigger {
	case retake.TriggerInit:
		return "start", false
	case retake.TriggerComplete:
		return "the rest, after time ran out", false
	case retake.TriggerSafety:
		return "kept before the restore", false
	case retake.TriggerFork:
		return "grew from " + g.name(c.Parent, "another workspace"), false
	case retake.TriggerReturn:
		if c.Return != nil {
			return returned(*c.Return, g), false
		}
	case retake.TriggerTurn, retake.TriggerCall:
		if c.Turn != nil && c.Changed.Total() == 0 {
			return "a turn of " + screen.Escape(c.Turn.Agent), false
		}
	default:
	}
	if c.Changed.Total() == 0 {
		return "no file changed", false
	}
	return files(c.Changed.Total()) + " changed", false
}

// returned says in what way a moment went somewhere.
func returned(r retake.Return, g goals) string {
	const some = "a moment"
	text := "restored "
	switch r.Course {
	case retake.CourseUndo:
		text = "undid "
	case retake.CourseRedo:
		text = "redid "
	case retake.CourseAdopt:
		return "adopted " + g.name(r.Target, "a fork")
	case retake.CourseUnwind:
		text = "took back the restore of "
	case retake.CourseRestore, retake.CourseFinish:
	}
	text += g.name(r.Target, some)
	if len(r.Paths) > 0 {
		text += ", " + number(int64(len(r.Paths)), "path", "paths")
	}
	return text
}

func (g goals) name(id retake.CheckpointID, none string) string {
	if n := g[id]; n != "" {
		return n
	}
	return none
}
