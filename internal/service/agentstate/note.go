package agentstate

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// RewindNote says what a restore did: what was undone, in which files, and what stays.
func RewindNote(p *retake.Plan, words string, tasks []retake.Task) string {
	var b strings.Builder
	b.WriteString("Retake: files of this workspace were changed outside this conversation. ")
	b.WriteString(courseNote(p, words))
	b.WriteString(pathsNote(p))
	b.WriteString("Read a file again before you edit it. ")
	b.WriteString(effectsNote(p.Effects))
	b.WriteString(tasksNote(tasks))
	return strings.TrimSpace(b.String())
}

// courseNote says what was done, and to which checkpoint.
func courseNote(p *retake.Plan, words string) string {
	t := p.Target
	switch {
	case t == nil && p.Course == retake.CourseUndo:
		return "Unsaved edits were discarded. "
	case t == nil:
		return fmt.Sprintf("It was: %q. ", words)
	case p.Course == retake.CourseUndo:
		return DescribeItem(*t) + " was undone; what other turns did is still in the files. "
	case p.Course == retake.CourseRedo:
		return DescribeItem(*t) + " was brought back. "
	case p.Course == retake.CourseRestore && len(p.Paths) == 0:
		return fmt.Sprintf("They are now as they were at checkpoint %d; what later turns did is not in the files. ", t.Number)
	case p.Course == retake.CourseRestore:
		return fmt.Sprintf("Some of them are now as they were at checkpoint %d. ", t.Number)
	}
	return fmt.Sprintf("It was: %q. ", words)
}

// maxPromptRunes is how much of a prompt a note repeats.
const maxPromptRunes = 80

// DescribeItem names a checkpoint as a person would.
func DescribeItem(cp retake.Checkpoint) string {
	switch {
	case cp.Turn != nil && cp.Turn.Prompt != "":
		return fmt.Sprintf("The turn %q (checkpoint %d)", shortenText(cp.Turn.Prompt), cp.Number)
	case cp.Return != nil:
		return fmt.Sprintf("The %s of checkpoint %d", cp.Return.Course, cp.Number)
	case cp.Intent != "":
		return fmt.Sprintf("Checkpoint %d, %q,", cp.Number, shortenText(cp.Intent))
	}
	return fmt.Sprintf("Checkpoint %d", cp.Number)
}

// shortenText returns the beginning of a text in one line, with likely secrets masked.
func shortenText(s string) string {
	masked, _ := secrets.Mask(strings.Join(strings.Fields(s), " "))
	if r := []rune(masked); len(r) > maxPromptRunes {
		return string(r[:maxPromptRunes]) + "…"
	}
	return masked
}

// maxNotePaths is how many paths a note lists.
const maxNotePaths = 5

// pathsNote lists the first paths of a plan, deleted ones first.
func pathsNote(p *retake.Plan) string {
	var b strings.Builder
	left := maxNotePaths
	for _, part := range []struct {
		word  string
		steps []retake.Step
	}{{"Deleted", p.Deletes}, {"Written", p.Writes}, {"Merged", p.Merges}} {
		paths := filePaths(part.steps)
		if len(paths) == 0 {
			continue
		}
		shown := paths[:min(len(paths), left)]
		left -= len(shown)
		quoted := make([]string, len(shown))
		for i, path := range shown {
			quoted[i] = fmt.Sprintf("%q", path)
		}
		switch more := len(paths) - len(shown); {
		case len(shown) == 0:
			fmt.Fprintf(&b, "%s: %d files. ", part.word, len(paths))
		case more > 0:
			fmt.Fprintf(&b, "%s: %s and %d more. ", part.word, strings.Join(quoted, ", "), more)
		default:
			fmt.Fprintf(&b, "%s: %s. ", part.word, strings.Join(quoted, ", "))
		}
	}
	return b.String()
}

// filePaths returns the paths of the steps that are not directories.
func filePaths(steps []retake.Step) []string {
	var out []string
	for _, s := range steps {
		e := s.Then
		if e == nil {
			e = s.Now
		}
		if e != nil && e.Kind != retake.KindDir {
			out = append(out, s.Path)
		}
	}
	return out
}

// resumeNote tells a forked conversation at which checkpoint it continues.
func resumeNote(r retake.Resumption) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Retake: this conversation goes on from checkpoint %d; what was said and done after that is not part of it. ", r.Checkpoint.Number)
	b.WriteString(contextNote(r))
	return strings.TrimSpace(b.String())
}

// fullConversationNote is for a conversation that could not be forked and contains
// everything.
func fullConversationNote(r retake.Resumption) string {
	return strings.TrimSpace("Retake: this conversation goes on with everything that was said. " + contextNote(r))
}

// contextNote is what every continued conversation must know.
func contextNote(r retake.Resumption) string {
	var b strings.Builder
	b.WriteString("The files may differ from what you remember: read a file again before you edit it. ")
	b.WriteString(effectsNote(r.Effects))
	b.WriteString(tasksNote(r.Tasks))
	return b.String()
}

// ForkNote tells an agent with an earlier memory that it is in a copy.
func ForkNote(ws retake.Workspace, origin retake.Checkpoint) string {
	return fmt.Sprintf("Retake: this directory is a fork of another workspace as it was at checkpoint %d; the other one, at %q, goes on beside it. Read a file again before you edit it.", origin.Number, ws.Root)
}

const maxNoteEffects = 12

// effectsNote lists external effects, certain and uncertain ones apart.
func effectsNote(effects []retake.Effect) string {
	if len(effects) == 0 {
		return ""
	}
	done, unsure := []retake.Effect{}, []retake.Effect{}
	for _, e := range effects {
		if e.Outcome == retake.OutcomeUnknown {
			unsure = append(unsure, e)
		} else {
			done = append(done, e)
		}
	}
	return listEffects("Done outside, can't be undone, don't repeat it: ", done) +
		listEffects("Perhaps done outside, check before you repeat it: ", unsure)
}

// listEffects lists effects after a lead text, at most maxNoteEffects of them.
func listEffects(lead string, effects []retake.Effect) string {
	if len(effects) == 0 {
		return ""
	}
	var list []string
	for _, e := range effects[:min(len(effects), maxNoteEffects)] {
		list = append(list, fmt.Sprintf("%s %q", e.ID, e.Text))
	}
	more := ""
	if n := len(effects) - maxNoteEffects; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return lead + strings.Join(list, ", ") + more + ". "
}

// tasksNote lists the tasks, quoted, and names the next open one.
func tasksNote(tasks []retake.Task) string {
	if len(tasks) == 0 {
		return ""
	}
	var list []string
	next := 0
	for i, t := range tasks {
		title, _ := secrets.Mask(t.Title)
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
