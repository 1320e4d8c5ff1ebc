package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// EscapeText is text of ours that holds foreign names: escaped, and in signs that the screen has.
func (l Style) EscapeText(s string) string { return asciiSigns(l, termtext.Escape(s)) }

var asciiReplacer = strings.NewReplacer("“", `"`, "”", `"`, "−", "-", "–", "-", "…", "~", "·", "-", "→", ">")

// asciiSigns writes signs that we use in sentences with ASCII, where there is nothing else.
func asciiSigns(l Style, s string) string {
	if !l.ASCII {
		return s
	}
	return asciiReplacer.Replace(s)
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
func turnFacts(l Style, t *retake.Turn) string {
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
