package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// renderCard draws the words and the facts of a moment.
func renderCard(l look, c card) string {
	cp := c.Checkpoint
	text, _ := l.titled(cp, c.goals)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n\n", l.bold(fmt.Sprint(cp.Number)), l.clock(cp.Time), l.bold(text))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %s%s\n", l.dim(screen.Pad(name, 11)), value)
		}
	}
	field("taken", l.facts(cp.Time.In(l.now.Location()).Format("Mon 2 Jan 2006 15:04:05"), l.dim(l.ago(cp.Time)), triggerWord(cp.Trigger)))
	if t := cp.Turn; t != nil {
		field("agent", l.facts(strings.TrimSpace(screen.Escape(t.Agent+" "+t.Version)), turnFacts(t)))
		field("prompt", promptText(l, t))
		field("tasks", taskLine(t.Tasks))
		field("", turnRemark(l, t))
	}
	for _, e := range cp.Effects {
		field("stays done", screen.Escape(e.ID)+" "+screen.Escape(e.Text))
	}
	names := make([]string, len(c.Pins))
	for i, p := range c.Pins {
		names[i] = screen.Escape(p.Name)
	}
	field("pins", strings.Join(names, ", "))
	field("coverage", l.facts(grade(l, cp.Coverage.Grade), files(cp.Files)+", "+screen.Bytes(cp.Bytes), screen.Bytes(cp.NewBytes)+" new"))
	b.WriteString(gapLines(l, cp.Coverage.Gaps, strings.Repeat(" ", 13)))
	if cp.Return != nil {
		for _, f := range cp.Return.Failed {
			field("not done", screen.Escape(f.Path)+"  "+l.dim(screen.Escape(f.Why)))
		}
	}
	field("left out", policyFacts(l, cp.Policy))
	field("id", l.dim(string(cp.ID)))
	return b.String()
}

func triggerWord(t retake.Trigger) string {
	switch t {
	case retake.TriggerInit:
		return "the first capture"
	case retake.TriggerManual:
		return "by hand"
	case retake.TriggerComplete:
		return "the rest of a capture"
	case retake.TriggerSafety:
		return "by us, before a restore"
	case retake.TriggerReturn:
		return "by going back"
	case retake.TriggerFork:
		return "the first of a fork"
	case retake.TriggerPrompt:
		return "by us, before a turn"
	case retake.TriggerTurn:
		return "after a turn"
	case retake.TriggerTask:
		return "by us, when a task ended"
	case retake.TriggerRisk:
		return "by us, before a risky call"
	case retake.TriggerCall:
		return "by us, after a call"
	case retake.TriggerSession:
		return "by us, at the end of a session"
	}
	return screen.Escape(string(t))
}

func renderSince(l look, c card, gs []group, counts map[string]lineCount) string {
	head := "What it began with"
	if c.Parent != nil {
		head = fmt.Sprintf("What really changed since %d", c.Parent.Number)
	}
	out := fmt.Sprintf("\n%s  %s\n", l.bold(head), files(total(gs)))
	if len(gs) == 0 {
		return out
	}
	return out + "\n" + renderChanges(l, gs, counts)
}
