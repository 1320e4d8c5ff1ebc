package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// titled is the title of a moment; what a person asked an agent for is quoted.
func (l look) titled(c retake.Checkpoint, g goals) (text string, said bool) {
	text, said = titleWith(c, g)
	if said && c.Trigger == retake.TriggerTurn {
		text = l.g.Quote(text)
	}
	return text, said
}

// turnRemark is what a person must know of a turn before they trust its moment, the
// gravest first: a flag in colour and its reason.
func turnRemark(l look, t *retake.Turn) string {
	switch {
	case t == nil:
		return ""
	case t.Risk != "":
		return l.yellow("risky") + "  " + l.dim(screen.Escape(t.Risk))
	case len(t.Contested) > 0:
		return l.cyan("contested") + "  " + l.dim("also at work: "+screen.Escape(strings.Join(t.Contested, ", ")))
	case t.Running > 0:
		return l.cyan("not quiescent") + "  " + l.dim(number(int64(t.Running), "job ran", "jobs ran")+" on in the background")
	case t.Failed != "":
		return l.yellow("cut off") + "  " + l.dim(screen.Escape(t.Failed))
	case t.Late > 0:
		return l.cyan("late") + "  " + l.dim("the files were read "+screen.Took(t.Late)+" after the signal")
	}
	return ""
}

// effectRows are what was done outside before a moment, the newest on top. They are
// moments of the world, so nothing takes them back.
func effectRows(l look, c columns, effects []retake.Effect) string {
	var b strings.Builder
	for i := len(effects) - 1; i >= 0; i-- {
		e := effects[i]
		room := c.title + 2 + filesColumns
		if c.wide {
			room += 2 + flagColumns
		}
		text := l.g.Cut(screen.Escape(e.Text), room)
		line := l.g.Arrow + screen.PadLeft(screen.Escape(e.ID), c.number) + "  " + l.dim(screen.Pad(l.clock(e.Time), c.when)) + "  " +
			text + strings.Repeat(" ", max(room-screen.Width(text), 0)) + "  " + l.yellow("stays done")
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}

// taskLine is a to-do list in one line.
func taskLine(t *retake.TaskCount) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d done", t.Done, t.Total)
	if t.Next != "" {
		text += ", next: " + screen.Escape(t.Next)
	}
	return text
}

// turnFacts are the small facts of a turn.
func turnFacts(t *retake.Turn) string {
	var parts []string
	if t.Calls > 0 {
		parts = append(parts, number(int64(t.Calls), "call", "calls"))
	}
	if t.Dir != "" {
		parts = append(parts, "in "+screen.Escape(t.Dir))
	}
	return strings.Join(parts, ", ")
}

// promptText is what was asked, in one line; the conversation has all of it.
func promptText(l look, t *retake.Turn) string {
	if t.Prompt == "" {
		return ""
	}
	first, rest, _ := strings.Cut(t.Prompt, "\n")
	text := l.g.Quote(l.g.Cut(screen.Escape(first), max(l.width-17, 20)))
	if n := strings.Count(rest, "\n") + 1; rest != "" {
		text += l.dim(fmt.Sprintf("  +%s", number(int64(n), "line", "lines")))
	}
	if t.Machine {
		text += l.dim("  no person wrote it")
	}
	return text
}
