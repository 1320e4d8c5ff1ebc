package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// From this many columns on, what was said and printed stands beside the facts.
const besideFrom = 140

// cardIndent is where the values of a card begin.
const cardIndent = 13

// renderCard draws the words of a moment, then its facts. A wide screen shows what was
// said beside them, or below where a line of them is too long.
func renderCard(l look, c card) string {
	cp := c.Checkpoint
	marks := ""
	if ms := l.badges(c.answers()); len(ms) > 0 {
		marks = strings.TrimRight(l.verifyCell(ms, min(badgesWidth(ms), 30), func(s string) string { return s }), " ")
	}
	lead := fmt.Sprintf("%d  %s  ", cp.Number, l.clock(cp.Time))
	text, _ := l.titled(cp, c.goals)
	room := l.width - screen.Width(lead)
	if marks != "" {
		room -= l.shownWidth(marks) + 2
	}
	text = l.g.Cut(text, max(room, 16))
	head := l.bold(fmt.Sprint(cp.Number)) + strings.TrimPrefix(lead, fmt.Sprint(cp.Number)) + l.bold(text)
	if marks != "" {
		head = l.ends(head, marks, screen.Width(lead)+screen.Width(text), l.shownWidth(marks))
	}
	rest := fmt.Sprintf("retake diff %d --stat", cp.Number)
	body := func(l look) string { return cardFields(l, c) + renderStory(l, c.Story, rest) }
	if l.width < besideFrom {
		return head + "\n\n" + body(l)
	}
	left := l
	left.width = l.width*19/40 - 2
	right := l.beside(c, l.width-left.width-5)
	lines := strings.Split(strings.TrimSuffix(body(left), "\n"), "\n")
	switch {
	case len(right) == 0:
		return head + "\n\n" + body(l)
	case slices.ContainsFunc(lines, func(s string) bool { return l.shownWidth(s) > left.width }):
		return head + "\n\n" + body(l) + "\n" + strings.Join(right, "\n") + "\n"
	}
	return head + "\n\n" + l.sideBySide(lines, right, left.width+2)
}

// sideBySide sets two lists of lines beside each other.
func (l look) sideBySide(left, right []string, width int) string {
	var b strings.Builder
	for i := range max(len(left), len(right)) {
		a, z := "", ""
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			z = right[i]
		}
		line := a + strings.Repeat(" ", max(width-l.shownWidth(a), 0)) + l.dim(l.g.Bar) + "  " + z
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// cardFields are the rows of a card.
func cardFields(l look, c card) string {
	var b strings.Builder
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %s%s\n", l.dim(screen.Pad(name, cardIndent-2)), value)
		}
	}
	list := func(name string, values []string) {
		for _, v := range values {
			field(name, v)
			name = ""
		}
	}
	cp := c.Checkpoint
	if t := cp.Turn; t != nil {
		title, _ := l.titled(cp, c.goals)
		field("turn", turnText(l, t, title))
		field("by", l.facts(strings.TrimSpace(screen.Escape(t.Agent+" "+t.Version)), l.dim(l.turnFacts(t))))
		field("tasks", taskLine(t.Tasks))
	}
	list("verify", l.verifyLines(c))
	field("coverage", l.facts(grade(l, cp.Coverage.Grade), files(cp.Files)+", "+screen.Bytes(cp.Bytes), screen.Bytes(cp.NewBytes)+" new"))
	b.WriteString(gapLines(l, cp.Coverage.Gaps, strings.Repeat(" ", cardIndent)))
	list("effects", effectFields(l, cp))
	list("flags", l.flagFields(c))
	names := make([]string, len(c.Pins))
	for i, p := range c.Pins {
		names[i] = screen.Escape(p.Name)
	}
	field("pins", strings.Join(names, ", "))
	if cp.Return != nil {
		for _, f := range cp.Return.Failed {
			field("not done", screen.Escape(f.Path)+"  "+l.dim(screen.Escape(f.Why)))
		}
	}
	field("left out", policyFacts(l, cp.Policy))
	field("taken", l.facts(cp.Time.In(l.now.Location()).Format("Mon 2 Jan 2006 15:04:05"), l.dim(l.ago(cp.Time)), triggerWord(cp.Trigger)))
	field("id", l.dim(string(cp.ID)))
	return b.String()
}

// flagFields are the flags of a card, each with its reason. Coverage has its own field.
func (l look) flagFields(c card) []string {
	gist := retake.Gist{Flags: c.Story.Flags}
	if len(gist.Flags) == 0 && c.finding.Gist != nil {
		gist = *c.finding.Gist
	}
	whole := c.Checkpoint
	whole.Coverage = retake.Coverage{Grade: retake.Complete}
	var out []string
	for _, f := range l.flagsOf(whole, &gist) {
		lines := wrap(f.why, max(l.width-cardIndent-screen.Width(f.word)-2, 20))
		for i, line := range lines {
			lead := strings.Repeat(" ", screen.Width(f.word))
			if i == 0 {
				lead = f.color(f.word)
			}
			out = append(out, lead+"  "+line)
		}
	}
	return out
}

// effectFields are what stays done; of a turn it is said that there is nothing.
func effectFields(l look, cp retake.Checkpoint) []string {
	if len(cp.Effects) == 0 && cp.Turn != nil {
		return []string{"none"}
	}
	var out []string
	for _, e := range cp.Effects {
		out = append(out, l.yellow(screen.Escape(e.ID))+"  "+l.clock(e.Time)+"  "+screen.Escape(e.Text)+"  "+l.dim(staysDone))
	}
	return out
}

// turnText is what was asked. Words that the head says already are left out.
func turnText(l look, t *retake.Turn, title string) string {
	text := promptLine(l, t.Prompt, max(l.width-cardIndent-4, 20))
	if t.Machine && text != "" {
		text += l.dim("  no person wrote it")
	}
	first, _, _ := strings.Cut(t.Prompt, "\n")
	if said := l.g.Quote(screen.Escape(first)); first != "" && strings.Contains(title, said) {
		text = strings.TrimPrefix(text, said)
		return strings.Replace(text, "  ", "", 1)
	}
	return text
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
