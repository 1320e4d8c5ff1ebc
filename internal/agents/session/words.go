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

// masked covers likely secrets, and then cuts: half of one is one too.
func masked(s string, most int) string {
	out, _ := secrets.Mask(s)
	return cut(out, most)
}

// prompt is what a card says of a prompt.
func prompt(s string) string { return masked(strings.TrimSpace(s), maxPrompt) }

// words are a call in one line.
func words(c *retake.Call) string {
	text := c.Command
	if text == "" {
		text = strings.TrimSpace(c.Server + " " + c.Tool)
	}
	return line(masked(text, maxPrompt))
}

// line is the first line of a text, cut to what a row can show.
func line(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	first = strings.TrimSpace(first)
	if len(first) > maxIntent {
		return cut(first, maxIntent) + "…"
	}
	if strings.TrimSpace(rest) != "" {
		return first + " …"
	}
	return first
}

// intent is what a checkpoint says of itself.
func intent(t retake.Trigger, turn retake.Turn, tasks []retake.Task) string {
	said := line(turn.Prompt)
	switch t {
	case retake.TriggerPrompt:
		if said == "" {
			return "before a turn"
		}
		return "before “" + said + "”"
	case retake.TriggerRisk:
		return "before `" + line(turn.Command) + "`"
	case retake.TriggerTask:
		return ended(tasks)
	case retake.TriggerCall:
		return "after a call"
	case retake.TriggerSession:
		return "the session of " + turn.Agent
	default:
		return said
	}
}

// ended says which task came to its end: the last one in the list that did.
func ended(tasks []retake.Task) string {
	for i, t := range slices.Backward(tasks) {
		if t.Status == retake.TaskCompleted || t.Status == retake.TaskFailed {
			return fmt.Sprintf("task %d of %d %s: %s", i+1, len(tasks), t.Status, line(t.Title))
		}
	}
	return "a task"
}

func counted(tasks []retake.Task) *retake.TaskCount {
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
			c.Next = line(t.Title)
		}
	}
	return c
}
