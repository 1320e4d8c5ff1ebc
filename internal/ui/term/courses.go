package term

import (
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// wording is how a course is spoken of.
type wording struct {
	now, done      string // before the name of where it leads
	bring, brought string
	change, turned string
}

var wordings = map[retake.Course]wording{
	retake.CourseRestore: {"Restore", "Restored", "bring back", "brought back", "change", "changed"},
	retake.CourseUndo:    {"Undo", "Undone", "bring back", "brought back", "change back", "changed back"},
	retake.CourseRedo:    {"Redo", "Redone", "bring back", "brought back", "change", "changed"},
	retake.CourseAdopt:   {"Adopt", "Adopted", "add", "added", "change", "changed"},
	retake.CourseFinish:  {"Finish restoring", "Finished restoring", "bring back", "brought back", "change", "changed"},
	retake.CourseUnwind:  {"Take back the restore of", "Took back the restore of", "bring back", "brought back", "change back", "changed back"},
}

func wordsOf(c retake.Course) wording {
	if w, ok := wordings[c]; ok {
		return w
	}
	return wordings[retake.CourseRestore]
}

// goal is what a plan leads to, in a word: the number of a checkpoint, or a fork. It
// is not escaped yet.
func goal(p *retake.Plan) string {
	switch {
	case p.Course == retake.CourseAdopt && p.Fork != nil:
		return p.Fork.Name
	case p.Target != nil && len(p.Also) > 0:
		return fmt.Sprintf("%d and %d more back to %d", p.Target.Number, len(p.Also), p.Also[len(p.Also)-1])
	case p.Target != nil && len(p.Merges) == 1 && p.Merges[0].Merge != nil && len(p.Merges[0].Merge.Hunks) > 0:
		return fmt.Sprintf("%s of %d", Number(int64(len(p.Merges[0].Merge.Hunks)), "hunk", "hunks"), p.Target.Number)
	case p.Target != nil:
		return fmt.Sprint(p.Target.Number)
	}
	return fmt.Sprintf("the edits since %d", p.Safety.Number-1) // no checkpoint holds them yet
}

// tally counts the paths of a plan as people read them.
type tally struct {
	deleted, brought, changed, merged, beside, kept int64
}

func tallyOf(p *retake.Plan) tally {
	brought, changed := written(p)
	t := tally{
		deleted: countOf(p.Deletes).most(), merged: int64(len(p.Merges)),
		brought: countOf(brought).most(), changed: countOf(changed).most(),
	}
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict {
			t.beside++
		} else {
			t.kept++
		}
	}
	return t
}

// written parts what a plan writes into what is not there now and what is.
func written(p *retake.Plan) (brought, changed []retake.Step) {
	for _, s := range p.Writes {
		if s.What == retake.Added {
			brought = append(brought, s)
		} else {
			changed = append(changed, s)
		}
	}
	return brought, changed
}

func (t tally) touched() int64 { return t.deleted + t.brought + t.changed + t.merged }

// Idle reports whether applying a plan would do nothing. What was cut off must be
// ended even so.
func Idle(p *retake.Plan) bool {
	if p.Course == retake.CourseFinish || p.Course == retake.CourseUnwind || p.Total() > 0 || p.Lost != nil {
		return false
	}
	for _, k := range p.Keeps {
		if k.Side != "" {
			return false
		}
	}
	return true
}

// idleText says that everything is as it would become.
func idleText(p *retake.Plan) string {
	to := termtext.Escape(goal(p))
	switch p.Course {
	case retake.CourseUndo:
		text := "Nothing of " + to + " is left to undo: it changed again since."
		if p.Next > 0 {
			text += fmt.Sprintf(" The change before it: retake undo %d", p.Next)
		}
		return text
	case retake.CourseRedo:
		return "All of " + to + " is there again already. Nothing to do."
	case retake.CourseAdopt:
		return "All that the fork " + to + " changed is here already. Nothing to do."
	default:
		return "The files are already as in " + to + ". Nothing to do."
	}
}

// RenderIdle says that there is nothing to do, and what is kept all the same.
func RenderIdle(l Look, p *retake.Plan) string {
	out := idleText(p) + "\n"
	if len(p.Keeps) == 0 {
		return out
	}
	for _, s := range fileParts(p) {
		out += "\n" + drawPart(l, s, columnsOf([]part{s}, []int{s.most}), l.Width, s.most)
	}
	return out
}
