package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// CheckpointTitle returns the title of a checkpoint; what a user asked an agent for is quoted.
func (l Style) CheckpointTitle(c retake.Checkpoint, g TargetTitles) (text string, said bool) {
	text, said = checkpointTitle(c, g)
	text = l.asciiSigns(text)
	switch {
	case said && c.Trigger == retake.TriggerTurn:
		text = l.Glyphs.Quote(text)
	case said && c.Trigger == retake.TriggerTask:
		text = l.shortenTaskTitle(text)
	}
	return text, said
}

// shortenTaskTitle says which task ended in few words: its place in the list is on the card.
func (l Style) shortenTaskTitle(text string) string {
	if _, task, ok := strings.Cut(text, " completed: "); ok {
		return "after " + l.Glyphs.Quote(task)
	}
	if _, task, ok := strings.Cut(text, " failed: "); ok {
		return l.Glyphs.Quote(task) + " failed"
	}
	return text
}

// EscapeText is text of ours that holds foreign names: escaped, and in signs that the screen has.
func (l Style) EscapeText(s string) string { return l.asciiSigns(termtext.Escape(s)) }

var asciiReplacer = strings.NewReplacer("“", `"`, "”", `"`, "−", "-", "–", "-", "…", "~", "·", "-", "→", ">")

// asciiSigns writes signs that we use in sentences with ASCII, where there is nothing else.
func (l Style) asciiSigns(s string) string {
	if !l.ASCII {
		return s
	}
	return asciiReplacer.Replace(s)
}

// turnFlags are what is odd about how a turn went.
func (l Style) turnFlags(t *retake.Turn) []flag {
	if t == nil {
		return nil
	}
	var out []flag
	if len(t.Contested) > 0 {
		out = append(out, flag{"overlap", l.Cyan, "also at work: " + termtext.Escape(strings.Join(t.Contested, ", "))})
	}
	if t.Running > 0 {
		out = append(out, flag{"not quiescent", l.Cyan, CountNoun(int64(t.Running), "job ran", "jobs ran") + " on in the background"})
	}
	if n := len(t.Subagents); n > 0 {
		out = append(out, flag{CountNoun(int64(n), "sub-agent", "sub-agents"), l.Cyan, subagentsText(t.Subagents)})
	}
	if t.Failed != "" {
		out = append(out, flag{"interrupted", l.Yellow, termtext.Escape(t.Failed)})
	}
	if t.Late > 0 {
		out = append(out, flag{"late", l.Cyan, "the files were read " + termtext.Duration(t.Late) + " after the signal"})
	}
	return out
}

// maxSubagentsShown is how many sub-agents a row names.
const maxSubagentsShown = 4

// subagentsText says what the sub-agents of a turn were asked for.
func subagentsText(all []retake.Subagent) string {
	var out []string
	for _, s := range all[:min(len(all), maxSubagentsShown)] {
		text := s.Task
		if text == "" {
			text = s.Name
		}
		if text == "" {
			text = "no description"
		}
		out = append(out, termtext.Escape(text))
	}
	if more := len(all) - maxSubagentsShown; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, "; ")
}

// taskListText is a to-do list in one line.
func taskListText(t *retake.TaskCount) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d done", t.Done, t.Total)
	if t.Failed > 0 {
		text += fmt.Sprintf(", %d failed", t.Failed)
	}
	if t.Next != "" {
		text += ", next: " + termtext.Escape(t.Next)
	}
	return text
}

// turnFacts are the small facts of a turn.
func (l Style) turnFacts(t *retake.Turn) string {
	calls, dir, session := "", "", ""
	if t.Calls > 0 {
		calls = CountNoun(int64(t.Calls), "call", "calls")
	}
	if t.Dir != "" {
		dir = "in " + termtext.Escape(t.Dir)
	}
	if t.Session != "" {
		session = "session " + termtext.Escape(shortSession(t.Session))
		if len(t.Contested) == 0 {
			session += ", no other session"
		}
	}
	return l.JoinFacts(calls, dir, session)
}

// SessionName names a session as people tell them apart: its agent, and how its id begins.
func SessionName(t *retake.Turn) string {
	return termtext.Escape(t.Agent) + " " + termtext.Escape(shortSession(t.Session))
}

// shortSession is the beginning of a session's name, as people tell them apart.
func shortSession(s string) string {
	const most = 4
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}
