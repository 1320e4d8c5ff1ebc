package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// courseWords is how a course is spoken of.
type courseWords struct {
	now, doing, done string // before the name of where it leads
	bring, brought   string
	change, changed  string
}

var courseWordings = map[retake.Course]courseWords{
	retake.CourseRestore: {"Restore", "Restoring", "Restored", "bring back", "brought back", "change", "changed"},
	retake.CourseUndo:    {"Undo", "Undoing", "Undone", "bring back", "brought back", "change back", "changed back"},
	retake.CourseRedo:    {"Redo", "Redoing", "Redone", "bring back", "brought back", "change", "changed"},
	retake.CourseAdopt:   {"Adopt", "Adopting", "Adopted", "add", "added", "change", "changed"},
	retake.CourseFinish:  {"Finish restoring", "Finishing the restore of", "Finished restoring", "bring back", "brought back", "change", "changed"},
	retake.CourseUnwind:  {"Take back the restore of", "Taking back the restore of", "Took back the restore of", "bring back", "brought back", "change back", "changed back"},
}

func wordsOfCourse(c retake.Course) courseWords {
	if w, ok := courseWordings[c]; ok {
		return w
	}
	return courseWordings[retake.CourseRestore]
}

// OfPlan is what is shown of a plan.
func OfPlan(p *retake.Plan) retake.PlanView {
	w, goal, n := wordsOfCourse(p.Course), planGoal(p), countPlan(p)
	v := retake.PlanView{
		Goal: goal, Action: w.now + " " + goal, Doing: w.doing + " " + goal, Done: w.done + " " + goal,
		Idle: IsIdlePlan(p), Edits: keptEditsText(p), Beside: besideText(p, n), Numbers: planNumbers(p, n),
		Counts: n, Sections: planSections(p), Asks: PlanAsks(p), Safety: planSafety(p), Compare: planCompare(p),
	}
	v.Headline, v.Untouched = planHeadline(p, n)
	v.Question = v.Action + " now"
	if len(v.Numbers) > 0 {
		v.Question += ": " + strings.Join(v.Numbers, ", ")
	}
	v.Question += "?"
	switch v.Apply = v.Action; {
	case v.Beside != "":
		v.Apply = fmt.Sprintf("Put %s of %s beside yours", termtext.CountNoun(n.Beside, "version", "versions"), goal)
	case n.Deleted > 0:
		v.Apply += " and delete " + countFiles(n.Deleted)
	}
	return v
}

func countFiles(n int64) string { return termtext.CountNoun(n, "file", "files") }

// planGoal returns where a plan leads: the number of a checkpoint, or a fork.
func planGoal(p *retake.Plan) string {
	switch {
	case p.Course == retake.CourseAdopt && p.Fork != nil:
		return p.Fork.Name
	case p.Target != nil && len(p.Also) > 0:
		return fmt.Sprintf("%d and %d more back to %d", p.Target.Number, len(p.Also), p.Also[len(p.Also)-1])
	case p.Target != nil && len(p.Merges) == 1 && p.Merges[0].Merge != nil && len(p.Merges[0].Merge.Hunks) > 0:
		return fmt.Sprintf("%s of %d", termtext.CountNoun(int64(len(p.Merges[0].Merge.Hunks)), "hunk", "hunks"), p.Target.Number)
	case p.Target != nil:
		return fmt.Sprint(p.Target.Number)
	}
	return fmt.Sprintf("the edits since %d", p.Safety.Number-1) // no checkpoint holds them yet
}

func countPlan(p *retake.Plan) retake.PlanCounts {
	brought, changed := splitWrites(p)
	n := retake.PlanCounts{
		Deleted: countSteps(p.Deletes), Brought: countSteps(brought), Changed: countSteps(changed), Merged: int64(len(p.Merges)),
	}
	for _, s := range p.Deletes {
		n.DeletedBytes += fileSize(s.Now)
	}
	for _, s := range brought {
		n.BroughtBytes += fileSize(s.Then)
	}
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict && k.Side != "" {
			n.Beside++
		} else {
			n.Kept++
		}
	}
	return n
}

// DoneNumbers are the numbers of a plan after it was applied, without the paths that were
// left: "deleted 1,132", "brought back 30".
func DoneNumbers(p *retake.Plan, failed []retake.Failure) []string {
	left := map[string]bool{}
	for _, f := range failed {
		left[f.Path] = true
	}
	stay := func(steps []retake.Step) []retake.Step {
		return slices.DeleteFunc(slices.Clone(steps), func(s retake.Step) bool { return left[s.Path] })
	}
	done := *p
	done.Deletes, done.Writes, done.Merges = stay(p.Deletes), stay(p.Writes), stay(p.Merges)
	w, n := wordsOfCourse(p.Course), countPlan(&done)
	return joinCounts("deleted", n.Deleted, w.brought, n.Brought, w.changed, n.Changed, "merged", n.Merged, "put beside", n.Beside, "left as is", n.Kept)
}

func joinCounts(pairs ...any) []string {
	out := []string{}
	for i := 0; i < len(pairs); i += 2 {
		if n := pairs[i+1].(int64); n > 0 {
			out = append(out, pairs[i].(string)+" "+termtext.Count(n))
		}
	}
	return out
}

// planNumbers is the sum of a plan in words: deletions first.
func planNumbers(p *retake.Plan, n retake.PlanCounts) []string {
	w := wordsOfCourse(p.Course)
	out := joinCounts("delete", n.Deleted, w.bring, n.Brought, w.change, n.Changed, "merge", n.Merged)
	if n.Beside > 0 {
		out = append(out, "put "+termtext.Count(n.Beside)+" beside")
	}
	return out
}

// IsIdlePlan reports whether applying a plan would do nothing. An interrupted restore is never
// idle, because it must be ended.
func IsIdlePlan(p *retake.Plan) bool {
	if p.Course == retake.CourseFinish || p.Course == retake.CourseUnwind || p.Total() > 0 || p.Lost != nil || len(p.Others) > 0 {
		return false
	}
	return !slices.ContainsFunc(p.Keeps, func(k retake.Keep) bool { return k.Side != "" })
}

// planHeadline says how much would change, and that nothing has been changed yet.
func planHeadline(p *retake.Plan, n retake.PlanCounts) (headline, untouched string) {
	if IsIdlePlan(p) {
		return idleText(p), ""
	}
	headline = strings.Replace(countFiles(n.Deleted+n.Brought+n.Changed+n.Merged), "no files", "No file", 1) + " would change"
	switch {
	case p.To != "":
		headline = strings.Replace(headline, "would change", "would be written", 1)
	case p.Lost != nil && p.Lost.There:
		headline = "Another directory is at " + p.Lost.Root + " now."
	case p.Lost != nil:
		headline = p.Lost.Root + " is created again and keeps its timeline."
	}
	if p.Course == retake.CourseFinish || p.Course == retake.CourseUnwind { // what was interrupted changed something
		return headline, "This plan has changed nothing yet."
	}
	return headline, "Nothing has been changed yet."
}

// idleText says that everything is as it would become.
func idleText(p *retake.Plan) string {
	switch to := planGoal(p); p.Course {
	case retake.CourseUndo:
		return "Nothing of " + to + " is left to undo: it changed again since."
	case retake.CourseRedo:
		return "All of " + to + " is there again already. Nothing to do."
	case retake.CourseAdopt:
		return "All that the fork " + to + " changed is here already. Nothing to do."
	default:
		return "The files are already as in " + to + ". Nothing to do."
	}
}

// keptEditsText says which edits an undo leaves in place.
func keptEditsText(p *retake.Plan) string {
	if p.Edits == nil {
		return ""
	}
	var in []string
	for _, n := range slices.Backward(p.Edits.Checkpoints) {
		in = append(in, fmt.Sprint(n))
	}
	if most := 3; len(in) > most {
		in = append(in[:most], fmt.Sprintf("%d more", len(in)-most))
	}
	those := strings.Join(in, ", ")
	switch {
	case len(in) == 0:
		return "Your unsaved edits stay."
	case p.Edits.Unsaved == 0:
		return "Your edits in " + those + " stay."
	default:
		return "Your unsaved edits and those in " + those + " stay."
	}
}

// besideText says of a plan that writes only other versions why it changes no file that is
// there.
func besideText(p *retake.Plan, n retake.PlanCounts) string {
	if p.Total() > 0 || n.Beside == 0 {
		return ""
	}
	whose := "The other"
	if p.Course == retake.CourseAdopt {
		whose = "The fork's"
	}
	if n.Beside == 1 {
		return "No file that you have is changed: 1 file was changed on both sides. " + whose + " version is put beside yours as a new file."
	}
	many := termtext.Count(n.Beside)
	return "No file that you have is changed: " + many + " files were changed on both sides. " + whose + " versions are put beside yours as " + many + " new files."
}

// planSafety says how all that is there now comes back. Undo goes one further each time, so
// it does not take an undo back.
func planSafety(p *retake.Plan) retake.PlanSafety {
	n := p.Safety.Number
	switch {
	case IsIdlePlan(p):
		return retake.PlanSafety{Text: "No checkpoint is added"}
	case p.To != "" && !slices.ContainsFunc(p.Obstacles, func(o retake.Obstacle) bool { return o.Class == retake.ObstacleChanged }):
		return retake.PlanSafety{Text: "Nothing that is there is replaced"}
	case p.To != "":
		return retake.PlanSafety{Text: fmt.Sprintf("First the files that are replaced are saved with checkpoint %d", n)}
	case p.Lost != nil && p.Safety.There:
		return retake.PlanSafety{Text: fmt.Sprintf("Nothing is there to be saved first: checkpoint %d is the last known state", n)}
	}
	s := retake.PlanSafety{Text: fmt.Sprintf("First your files are saved as checkpoint %d", n), Course: retake.CourseUndo, Brings: "brings them back"}
	if p.Safety.There {
		s.Text, s.Brings = fmt.Sprintf("Checkpoint %d has everything you have now", n), "brings it back"
	}
	switch p.Course {
	case retake.CourseUndo:
		s.Course = retake.CourseRedo
	case retake.CourseUnwind:
		s.Course, s.Brings = "", ""
	}
	return s
}

// planCompare says where the changes of a plan can be compared. Of a restore that was
// interrupted a part is done already, so there is no such place.
func planCompare(p *retake.Plan) *retake.PlanCompare {
	t := p.Target
	if p.To != "" {
		return nil
	}
	c := retake.PlanCompare{Workspace: p.Workspace, Back: p.Course != retake.CourseRedo && p.Course != retake.CourseAdopt}
	switch {
	case p.Course == retake.CourseRestore && t != nil:
		c.From = fmt.Sprint(t.Number)
	case p.Course == retake.CourseUndo && t == nil:
		c.From = "latest"
	case (p.Course == retake.CourseUndo || p.Course == retake.CourseRedo) && t != nil && t.Parent != "":
		c.From, c.To = string(t.Parent), string(t.ID)
	case p.Course == retake.CourseAdopt && p.Fork != nil && t != nil:
		c.Workspace, c.From, c.To = p.Fork.ID, "start", string(t.ID)
	default:
		return nil
	}
	return &c
}
