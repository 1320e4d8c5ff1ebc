package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

const (
	maxPrompt = 4 << 10 // of a prompt on a card; the conversation has it whole
	maxIntent = 200
)

// maskAndTruncate masks likely secrets, and then cuts: half a secret would not be
// recognized.
func maskAndTruncate(s string, most int) string {
	out, _ := secrets.Mask(s)
	return truncate(out, most)
}

// promptText returns a prompt as a checkpoint records it.
func promptText(s string) string { return maskAndTruncate(strings.TrimSpace(s), maxPrompt) }

// callText returns a call as one line.
func callText(c *retake.Call) string {
	text := c.Command
	if text == "" {
		text = strings.TrimSpace(c.Server + " " + c.Tool)
	}
	return firstLine(maskAndTruncate(text, maxPrompt))
}

// firstLine returns the first line of a text, cut to what a row can show.
func firstLine(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	first = strings.TrimSpace(first)
	if len(first) > maxIntent {
		return truncate(first, maxIntent) + "…"
	}
	if strings.TrimSpace(rest) != "" {
		return first + " …"
	}
	return first
}

// intentText returns the intent of a checkpoint.
func intentText(t retake.Trigger, turn retake.Turn, tasks []retake.Task) string {
	said := firstLine(turn.Prompt)
	switch t {
	case retake.TriggerPrompt:
		if said == "" {
			return "before a turn"
		}
		return "before “" + said + "”"
	case retake.TriggerRisk:
		return "before `" + firstLine(turn.Command) + "`"
	case retake.TriggerTask:
		return endedTaskText(tasks)
	case retake.TriggerCall:
		return "after a call"
	case retake.TriggerSession:
		return "the session of " + turn.Agent
	default:
		return said
	}
}

// endedTaskText names the last task in the list that was completed or failed.
func endedTaskText(tasks []retake.Task) string {
	for i, t := range slices.Backward(tasks) {
		if t.Status == retake.TaskCompleted || t.Status == retake.TaskFailed {
			return fmt.Sprintf("task %d of %d %s: %s", i+1, len(tasks), t.Status, firstLine(t.Title))
		}
	}
	return "a task"
}

// countTasks counts the tasks by their state, or returns nil if there are none.
func countTasks(tasks []retake.Task) *retake.TaskCount {
	if len(tasks) == 0 {
		return nil
	}
	c := &retake.TaskCount{Total: len(tasks)}
	for _, t := range tasks {
		switch {
		case t.Status == retake.TaskFailed:
			c.Failed++
		case !t.Open():
			c.Done++
		case c.Next == "":
			c.Next = firstLine(t.Title)
		}
	}
	return c
}
