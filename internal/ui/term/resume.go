package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// RenderResume renders how a conversation can be resumed from a checkpoint.
func RenderResume(l Style, r retake.Resumption) string {
	var b strings.Builder
	where := fmt.Sprintf("at %d", r.Checkpoint.Number)
	if !r.Exact {
		where = "with all that was said"
	}
	switch {
	case len(r.Command) > 0:
		fmt.Fprintf(&b, "Continue %s's conversation %s\n", termtext.Escape(r.Agent), where)
		fmt.Fprintf(&b, "  %s\n", l.Bold(resumeCommand(l, r)))
		if !r.Exact && r.Why != "" {
			fmt.Fprintf(&b, "  %s\n", l.Dim(termtext.Escape(r.Why)))
		}
	default:
		fmt.Fprintf(&b, "The conversation of %s cannot be continued from here: %s\n", termtext.Escape(r.Agent), termtext.Escape(r.Why))
	}
	if r.Next != nil {
		n := 0
		for i, t := range r.Tasks {
			if t == *r.Next {
				n = i + 1
			}
		}
		fmt.Fprintf(&b, "  next task %d of %d: %s\n", n, len(r.Tasks), termtext.Escape(r.Next.Title))
	}
	if text := handoverText(r); text != "" {
		for _, line := range Wrap(text, max(l.Width-2, 40)) {
			fmt.Fprintf(&b, "  %s\n", l.Dim(line))
		}
	}
	return b.String()
}

// handoverText returns in short what Retake tells the agent; JSON has the full text.
func handoverText(r retake.Resumption) string {
	if r.Note == "" && !r.Exact { // nobody can go on with it
		return ""
	}
	parts := []string{"to read a file again before it edits it"}
	if r.Exact {
		parts = []string{fmt.Sprintf("the files are as in %d", r.Checkpoint.Number), "what came after is not part of it"}
	}
	if r.Taken != "" {
		parts = append(parts, termtext.Escape(r.Taken)+" was undone")
	}
	if len(r.Effects) > 0 {
		parts = append(parts, effectsText(r.Effects)+" and must not be repeated")
	}
	if len(r.Tasks) > 0 {
		parts = append(parts, "its tasks")
	}
	return "Retake tells the agent: " + strings.Join(parts, "; ")
}

// resumeCommand is what a person types.
func resumeCommand(l Style, r retake.Resumption) string {
	words := []string{}
	for _, w := range r.Command {
		words = append(words, l.ShellPath(w))
	}
	return "cd " + l.ShellPath(r.Dir) + " && " + strings.Join(words, " ")
}
