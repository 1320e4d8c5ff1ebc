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

// maskAndTruncate covers likely secrets, and then cuts: half of one is one too.
func maskAndTruncate(s string, most int) string {
	out, _ := secrets.Mask(s)
	return truncate(out, most)
}

// promptText is what a card says of a prompt.
func promptText(s string) string { return maskAndTruncate(strings.TrimSpace(s), maxPrompt) }

// callText are a call in one line.
func callText(c *retake.Call) string {
	text := c.Command
	if text == "" {
		text = strings.TrimSpace(c.Server + " " + c.Tool)
	}
	return firstLine(maskAndTruncate(text, maxPrompt))
}

// firstLine is the first line of a text, cut to what a row can show.
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

// intentText is what a checkpoint says of itself.
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

// endedTaskText says which task came to its end: the last one in the list that did.
func endedTaskText(tasks []retake.Task) string {
	for i, t := range slices.Backward(tasks) {
		if t.Status == retake.TaskCompleted || t.Status == retake.TaskFailed {
			return fmt.Sprintf("task %d of %d %s: %s", i+1, len(tasks), t.Status, firstLine(t.Title))
		}
	}
	return "a task"
}

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
