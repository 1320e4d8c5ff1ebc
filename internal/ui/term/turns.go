package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Titled is the title of a checkpoint; what a person asked an agent for is quoted.
func (l Look) Titled(c retake.Checkpoint, g Goals) (text string, said bool) {
	text, said = titleWith(c, g)
	text = l.plain(text)
	switch {
	case said && c.Trigger == retake.TriggerTurn:
		text = l.Glyphs.Quote(text)
	case said && c.Trigger == retake.TriggerTask:
		text = l.afterTask(text)
	}
	return text, said
}

// afterTask says which task ended in few words: its place in the list is on the card.
func (l Look) afterTask(text string) string {
	if _, task, ok := strings.Cut(text, " completed: "); ok {
		return "after " + l.Glyphs.Quote(task)
	}
	if _, task, ok := strings.Cut(text, " failed: "); ok {
		return l.Glyphs.Quote(task) + " failed"
	}
	return text
}

// Words is text of ours that holds foreign names: escaped, and in signs that the screen has.
func (l Look) Words(s string) string { return l.plain(termtext.Escape(s)) }

var plainSigns = strings.NewReplacer("“", `"`, "”", `"`, "−", "-", "–", "-", "…", "~", "·", "-", "→", ">")

// plain writes signs that we use in sentences with ASCII, where there is nothing else.
func (l Look) plain(s string) string {
	if !l.ASCII {
		return s
	}
	return plainSigns.Replace(s)
}

// turnFlags are what is odd about how a turn went.
func (l Look) turnFlags(t *retake.Turn) []flag {
	if t == nil {
		return nil
	}
	var out []flag
	if len(t.Contested) > 0 {
		out = append(out, flag{"overlap", l.Cyan, "also at work: " + termtext.Escape(strings.Join(t.Contested, ", "))})
	}
	if t.Running > 0 {
		out = append(out, flag{"not quiescent", l.Cyan, Number(int64(t.Running), "job ran", "jobs ran") + " on in the background"})
	}
	if n := len(t.Subagents); n > 0 {
		out = append(out, flag{Number(int64(n), "sub-agent", "sub-agents"), l.Cyan, subagentNames(t.Subagents)})
	}
	if t.Failed != "" {
		out = append(out, flag{"interrupted", l.Yellow, termtext.Escape(t.Failed)})
	}
	if t.Late > 0 {
		out = append(out, flag{"late", l.Cyan, "the files were read " + termtext.Duration(t.Late) + " after the signal"})
	}
	return out
}

// subagentsShown is how many sub-agents a row names.
const subagentsShown = 4

// subagentNames says what the sub-agents of a turn were asked for.
func subagentNames(all []retake.Subagent) string {
	var out []string
	for _, s := range all[:min(len(all), subagentsShown)] {
		text := s.Task
		if text == "" {
			text = s.Name
		}
		if text == "" {
			text = "no description"
		}
		out = append(out, termtext.Escape(text))
	}
	if more := len(all) - subagentsShown; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, "; ")
}

// taskLine is a to-do list in one line.
func taskLine(t *retake.TaskCount) string {
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
func (l Look) turnFacts(t *retake.Turn) string {
	calls, dir, session := "", "", ""
	if t.Calls > 0 {
		calls = Number(int64(t.Calls), "call", "calls")
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
	return l.Facts(calls, dir, session)
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
