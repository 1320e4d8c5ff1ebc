package service

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/secret"
)

// Notes are for the agent: short, plain, and without a word of the workspace that
// could be taken for an order, but for the tasks, which are quoted.

// rewindNote tells what a restore did.
func rewindNote(p *retake.Plan, words string, tasks []retake.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Retake: the files of this workspace were changed outside this conversation: %q. ", words)
	fmt.Fprintf(&b, "%d files were deleted, %d written, %d merged. ", noted(p.Deletes), noted(p.Writes), len(p.Merges))
	if t := p.Target; t != nil && p.Course == retake.CourseRestore {
		fmt.Fprintf(&b, "They are now as they were at moment %d; what later turns did is not in the files. ", t.Number)
	}
	b.WriteString("Read a file again before you edit it. ")
	b.WriteString(effectsNote(p.Effects))
	b.WriteString(tasksNote(tasks))
	return strings.TrimSpace(b.String())
}

// noted counts the files among steps.
func noted(steps []retake.Step) (n int) {
	for _, s := range steps {
		if s.Then != nil && s.Then.Kind != retake.KindDir || s.Then == nil && s.Now != nil && s.Now.Kind != retake.KindDir {
			n++
		}
	}
	return n
}

// resumeNote tells a forked conversation where it stands.
func resumeNote(r retake.Resumption) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Retake: this conversation goes on from moment %d; what was said and done after that is not part of it. ", r.Checkpoint.Number)
	b.WriteString("The files may differ from what you remember: read a file again before you edit it. ")
	b.WriteString(effectsNote(r.Effects))
	b.WriteString(tasksNote(r.Tasks))
	return strings.TrimSpace(b.String())
}

// forkNote tells an agent that comes with its memory that it is in a copy.
func forkNote(ws retake.Workspace, origin retake.Checkpoint) string {
	return fmt.Sprintf("Retake: this directory is a fork of another workspace as it was at moment %d; the other one, at %q, goes on beside it. Read a file again before you edit it.", origin.Number, ws.Root)
}

const maxNoted = 12

func effectsNote(effects []retake.Effect) string {
	if len(effects) == 0 {
		return ""
	}
	var list []string
	for _, e := range effects[:min(len(effects), maxNoted)] {
		list = append(list, fmt.Sprintf("%s %q", e.ID, e.Text))
	}
	more := ""
	if n := len(effects) - maxNoted; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "Done outside, still done, not to be repeated: " + strings.Join(list, ", ") + more + ". "
}

func tasksNote(tasks []retake.Task) string {
	if len(tasks) == 0 {
		return ""
	}
	var list []string
	next := 0
	for i, t := range tasks {
		title, _ := secret.Mask(t.Title)
		list = append(list, fmt.Sprintf("%d. %q is %s", i+1, title, t.Status))
		if t.Open() && next == 0 {
			next = i + 1
		}
	}
	out := "Tasks: " + strings.Join(list, "; ") + ". "
	if next > 0 {
		out += fmt.Sprintf("Go on with task %d; do not repeat those that are completed.", next)
	}
	return out
}
