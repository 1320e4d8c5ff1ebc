package view

import (
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Titles maps checkpoints that others went back to, or started from, to a name: the number of
// a checkpoint, or a fork.
type Titles map[retake.CheckpointID]string

// nameAll names every checkpoint that is shown, what the workspace was forked from, and what
// the input names.
func (in *Input) nameAll() Titles {
	out := make(Titles, len(in.Checkpoints)+len(in.Titles)+1)
	if o := in.Workspace.Origin; o != nil {
		out[o.Checkpoint] = strconv.FormatInt(o.Number, 10)
	}
	for i := range in.Checkpoints {
		out[in.Checkpoints[i].ID] = strconv.FormatInt(in.Checkpoints[i].Number, 10)
	}
	for id, name := range in.Titles {
		out[id] = name
	}
	return out
}

func (t Titles) has(id retake.CheckpointID) bool { return t[id] != "" }

// number is the number of a checkpoint; 0 if it is not known.
func (t Titles) number(id retake.CheckpointID) int64 {
	n, err := strconv.ParseInt(t[id], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (t Titles) nameOr(id retake.CheckpointID, none string) string {
	if n := t[id]; n != "" {
		return n
	}
	return none
}

// Title returns the title of a checkpoint; what a user asked an agent for is quoted. Written
// reports whether somebody wrote it.
func Title(c *retake.Checkpoint, t Titles) (text string, written bool) {
	text, written = PlainTitle(c, t)
	switch {
	case written && c.Trigger == retake.TriggerTurn:
		text = quote(text)
	case written && c.Trigger == retake.TriggerTask:
		text = shortenTaskTitle(text)
	}
	return text, written
}

func quote(s string) string { return "“" + s + "”" }

// shortenTaskTitle says which task ended in few words: its place in the list is on the card.
func shortenTaskTitle(text string) string {
	if _, task, ok := strings.Cut(text, " completed: "); ok {
		return "after " + quote(task)
	}
	if _, task, ok := strings.Cut(text, " failed: "); ok {
		return quote(task) + " failed"
	}
	return text
}

// PlainTitle returns the intent, or a sentence made from facts if there is none; written
// reports which of the two it is.
func PlainTitle(c *retake.Checkpoint, t Titles) (text string, written bool) {
	if c.Intent != "" {
		return c.Intent, true
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
		return "forked from " + t.nameOr(c.Parent, "another workspace"), false
	case retake.TriggerReturn:
		if c.Return != nil {
			return returnTitle(c.Return, t), false
		}
	case retake.TriggerTurn, retake.TriggerCall:
		if c.Turn != nil && c.Changed.Total() == 0 {
			return "a turn of " + c.Turn.Agent, false
		}
	default:
	}
	if c.Changed.Total() == 0 {
		return "no file changed", false
	}
	return countFiles(c.Changed.Total()) + " changed", false
}

// returnTitle returns the title of a checkpoint that a restore made.
func returnTitle(r *retake.Return, t Titles) string {
	text := "restored "
	switch r.Course {
	case retake.CourseUndo:
		text = "undid "
	case retake.CourseRedo:
		text = "redid "
	case retake.CourseAdopt:
		return "adopted " + t.nameOr(r.Target, "a fork")
	case retake.CourseUnwind:
		text = "took back the restore of "
	case retake.CourseRestore, retake.CourseFinish:
	}
	if len(r.Hunks) > 0 {
		text += termtext.CountNoun(int64(len(r.Hunks)), "hunk", "hunks") + " of "
	}
	text += t.nameOr(r.Target, "a checkpoint")
	if len(r.Hunks) == 0 && len(r.Paths) > 0 {
		text += ", " + termtext.CountNoun(int64(len(r.Paths)), "path", "paths")
	}
	return text
}

// Read adds the names that the titles of checkpoints need, and returns by which of them each
// fork was adopted. A target that cannot be found, because it was forgotten, has no name.
func (t Titles) Read(cs []retake.Checkpoint, find Lookup, forkOf func(retake.CheckpointID) (retake.WorkspaceState, bool)) map[retake.WorkspaceID][]retake.CheckpointID {
	for i := range cs {
		t[cs[i].ID] = strconv.FormatInt(cs[i].Number, 10)
	}
	adopted := map[retake.WorkspaceID][]retake.CheckpointID{}
	for i := range cs {
		c := &cs[i]
		switch {
		case c.Return == nil:
		case c.Return.Course == retake.CourseAdopt:
			if f, ok := forkOf(c.Return.Target); ok {
				t[c.Return.Target] = f.Name
				adopted[f.ID] = append(adopted[f.ID], c.ID)
			}
		case c.Intent != "" || t.has(c.Return.Target): // the title needs no name, or has it
		default:
			if to, ok := find(c.Return.Target); ok {
				t[to.ID] = strconv.FormatInt(to.Number, 10)
			}
		}
	}
	return adopted
}
