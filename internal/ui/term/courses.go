package term

import (
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// courseWords is how a course is spoken of.
type courseWords struct {
	now, done      string // before the name of where it leads
	bring, brought string
	change, turned string
}

var courseWordings = map[retake.Course]courseWords{
	retake.CourseRestore: {"Restore", "Restored", "bring back", "brought back", "change", "changed"},
	retake.CourseUndo:    {"Undo", "Undone", "bring back", "brought back", "change back", "changed back"},
	retake.CourseRedo:    {"Redo", "Redone", "bring back", "brought back", "change", "changed"},
	retake.CourseAdopt:   {"Adopt", "Adopted", "add", "added", "change", "changed"},
	retake.CourseFinish:  {"Finish restoring", "Finished restoring", "bring back", "brought back", "change", "changed"},
	retake.CourseUnwind:  {"Take back the restore of", "Took back the restore of", "bring back", "brought back", "change back", "changed back"},
}

func wordsOfCourse(c retake.Course) courseWords {
	if w, ok := courseWordings[c]; ok {
		return w
	}
	return courseWordings[retake.CourseRestore]
}

// targetText returns where a plan leads: the number of a checkpoint, or a fork. It is not
// escaped.
func targetText(p *retake.Plan) string {
	switch {
	case p.Course == retake.CourseAdopt && p.Fork != nil:
		return p.Fork.Name
	case p.Target != nil && len(p.Also) > 0:
		return fmt.Sprintf("%d and %d more back to %d", p.Target.Number, len(p.Also), p.Also[len(p.Also)-1])
	case p.Target != nil && len(p.Merges) == 1 && p.Merges[0].Merge != nil && len(p.Merges[0].Merge.Hunks) > 0:
		return fmt.Sprintf("%s of %d", CountNoun(int64(len(p.Merges[0].Merge.Hunks)), "hunk", "hunks"), p.Target.Number)
	case p.Target != nil:
		return fmt.Sprint(p.Target.Number)
	}
	return fmt.Sprintf("the edits since %d", p.Safety.Number-1) // no checkpoint holds them yet
}

// planCounts counts the paths of a plan as people read them.
type planCounts struct {
	deleted, brought, changed, merged, sideCopies, kept int64
}

func countPlan(p *retake.Plan) planCounts {
	brought, changed := splitWrites(p)
	t := planCounts{
		deleted: countPaths(p.Deletes).dominant(), merged: int64(len(p.Merges)),
		brought: countPaths(brought).dominant(), changed: countPaths(changed).dominant(),
	}
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict {
			t.sideCopies++
		} else {
			t.kept++
		}
	}
	return t
}

// splitWrites splits what a plan writes into paths that do not exist now and paths that do.
func splitWrites(p *retake.Plan) (brought, changed []retake.Step) {
	for _, s := range p.Writes {
		if s.What == retake.Added {
			brought = append(brought, s)
		} else {
			changed = append(changed, s)
		}
	}
	return brought, changed
}

func (t planCounts) total() int64 { return t.deleted + t.brought + t.changed + t.merged }

// IsIdlePlan reports whether applying a plan would do nothing. An interrupted restore is never
// idle, because it must be ended.
func IsIdlePlan(p *retake.Plan) bool {
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
	to := termtext.Escape(targetText(p))
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

// RenderIdlePlan renders that there is nothing to do, and what is kept anyway.
func RenderIdlePlan(l Style, p *retake.Plan) string {
	out := idleText(p) + "\n"
	if len(p.Keeps) == 0 {
		return out
	}
	for _, s := range fileSections(p) {
		out += "\n" + drawSection(l, s, fitSectionColumns([]planSection{s}, []int{s.most}), l.Width, s.most)
	}
	return out
}
