package term

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// From this many columns on, what was said and printed stands beside the facts.
const wideCardFrom = 140

// cardIndent is where the values of a card begin.
const cardIndent = 13

// RenderCard draws the words of a checkpoint, then its facts. A wide screen shows what was
// said beside them, or below where a line of them is too long.
func RenderCard(l Style, c Card) string {
	cp := c.Checkpoint
	marks := ""
	if ms := l.Badges(c.answers()); len(ms) > 0 {
		marks = strings.TrimRight(l.VerificationCell(ms, min(badgesWidth(ms), 30), func(s string) string { return s }), " ")
	}
	lead := fmt.Sprintf("%d  %s  ", cp.Number, l.ShortTime(cp.Time))
	text, _ := l.CheckpointTitle(cp, c.Titles)
	room := l.Width - termtext.Width(lead)
	if marks != "" {
		room -= l.ShownWidth(marks) + 2
	}
	text = l.Glyphs.Cut(text, max(room, 16))
	head := l.Bold(fmt.Sprint(cp.Number)) + strings.TrimPrefix(lead, fmt.Sprint(cp.Number)) + l.Bold(text)
	if marks != "" {
		head = l.AlignEnds(head, marks, termtext.Width(lead)+termtext.Width(text), l.ShownWidth(marks))
	}
	rest := fmt.Sprintf("retake diff %d --stat", cp.Number)
	body := func(l Style) string {
		return intentField(l, c, text) + cardFields(l, c) + renderStory(l, c.Story, rest) + turnWorkText(l, c.Work)
	}
	if l.Width < wideCardFrom {
		return head + "\n\n" + body(l)
	}
	left := l
	left.Width = l.Width*19/40 - 2
	right := sideColumn(l, c, l.Width-left.Width-5)
	lines := strings.Split(strings.TrimSuffix(body(left), "\n"), "\n")
	switch {
	case len(right) == 0:
		return head + "\n\n" + body(l)
	case slices.ContainsFunc(lines, func(s string) bool { return l.ShownWidth(s) > left.Width }):
		return head + "\n\n" + body(l) + "\n" + strings.Join(right, "\n") + "\n"
	}
	return head + "\n\n" + sideBySide(l, lines, right, left.Width+2)
}

// sideBySide sets two lists of lines beside each other.
func sideBySide(l Style, left, right []string, width int) string {
	var b strings.Builder
	for i := range max(len(left), len(right)) {
		a, z := "", ""
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			z = right[i]
		}
		line := a + strings.Repeat(" ", max(width-l.ShownWidth(a), 0)) + l.Dim(l.Glyphs.Bar) + "  " + z
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// intentField is an intent that the head of a card has no room for: nowhere else can all of
// it be read. The prompt of a turn is kept with the conversation.
func intentField(l Style, c Card, shown string) string {
	intent, _ := l.CheckpointTitle(c.Checkpoint, c.Titles)
	if intent == shown || c.Checkpoint.Turn != nil {
		return ""
	}
	var b strings.Builder
	name := "intent"
	for _, line := range breakText(l, intent, max(l.Width-cardIndent, 20)) {
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad(name, cardIndent-2)), line)
		name = ""
	}
	return b.String()
}

// cardFields are the rows of a card.
func cardFields(l Style, c Card) string {
	var b strings.Builder
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s\n", l.HangingIndent("  "+l.Dim(termtext.Pad(name, cardIndent-2))+value, cardIndent))
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
		title, _ := l.CheckpointTitle(cp, c.Titles)
		field("turn", promptText(l, t, title))
		field("by", l.JoinFacts(strings.TrimSpace(termtext.Escape(t.Agent+" "+t.Version)), l.Dim(turnFacts(l, t))))
		field("tasks", taskListText(t.Tasks))
	}
	list("checks", verificationLines(l, c))
	field("saved", l.JoinFacts(GradeText(l, cp.Coverage.Grade), CountFiles(cp.Files)+", "+termtext.Bytes(cp.Bytes), termtext.Bytes(cp.NewBytes)+" new"))
	b.WriteString(GapLines(l, cp.Coverage.Gaps, strings.Repeat(" ", cardIndent)))
	list("also saved", rescueFields(l, cp.Rescues, true))
	list("not saved", rescueFields(l, cp.Rescues, false))
	list("external", effectFields(l, cp, c.Effects))
	list("flags", flagFields(l, c))
	names := make([]string, len(c.Pins))
	for i, p := range c.Pins {
		names[i] = termtext.Escape(p.Name)
	}
	field("pins", strings.Join(names, ", "))
	if cp.Return != nil {
		for _, f := range cp.Return.Failed {
			field("not done", termtext.Escape(f.Path)+"  "+l.Dim(termtext.Escape(f.Why)))
		}
	}
	field("left out", policyFacts(l, cp.Policy))
	field("taken", l.JoinFacts(cp.Time.In(l.Now.Location()).Format("Mon 2 Jan 2006 15:04:05"), l.Dim(l.Ago(cp.Time)), triggerWord(cp.Trigger)))
	field("id", l.Dim(termtext.Escape(string(cp.ID))))
	return b.String()
}

// rescueFields are what was saved from outside of the workspace, or what was not.
func rescueFields(l Style, rescues []retake.Rescue, saved bool) []string {
	var out []string
	for _, r := range rescues {
		text := view.NotSavedText(&r)
		if saved {
			text = view.SavedText(&r)
		}
		if r.IsSaved() != saved {
			continue
		}
		text = termtext.Escape(text)
		if r.Dir != "" {
			text = strings.Replace(text, termtext.Escape(r.Place()), l.DisplayPath(r.Place()), 1)
		}
		if !saved && r.Dir != "" {
			text = l.Yellow(text)
		}
		out = append(out, text)
	}
	return out
}

// flagFields are the flags of a card, each with its reason. Coverage and rescues have their own fields.
func flagFields(l Style, c Card) []string {
	gist := retake.Gist{Flags: c.Story.Flags}
	if len(gist.Flags) == 0 && c.Finding.Gist != nil {
		gist = *c.Finding.Gist
	}
	whole := c.Checkpoint
	whole.Coverage, whole.Rescues = retake.Coverage{Grade: retake.Complete}, nil
	var out []string
	for _, f := range paintFlags(l, view.Flags(&whole, retake.Finding{Gist: &gist, Damaged: c.Finding.Damaged})) {
		lines := Wrap(f.why, max(l.Width-cardIndent-termtext.Width(f.word)-2, 20))
		for i, line := range lines {
			lead := strings.Repeat(" ", termtext.Width(f.word))
			if i == 0 {
				lead = f.color(f.word)
			}
			out = append(out, lead+"  "+line)
		}
	}
	return out
}

// effectFields are what stays done; of a turn it is said that there is nothing.
func effectFields(l Style, cp retake.Checkpoint, before []retake.Effect) []string {
	effects := append(slices.Clone(before), cp.Effects...)
	if len(effects) == 0 && cp.Turn != nil {
		return []string{"none"}
	}
	var out []string
	for _, e := range effects {
		lead := termtext.Escape(e.ID) + "  " + l.ShortTime(e.Time) + "  "
		lines := breakText(l, termtext.Escape(e.Text), max(l.Width-cardIndent-termtext.Width(lead)-len(e.Word())-2, 20))
		for i, line := range lines {
			head := strings.Repeat(" ", termtext.Width(lead))
			if i == 0 {
				head = l.Yellow(termtext.Escape(e.ID)) + strings.TrimPrefix(lead, termtext.Escape(e.ID))
			}
			if i == len(lines)-1 {
				line += "  " + l.Dim(e.Word())
			}
			out = append(out, head+line)
		}
	}
	return out
}

// effectLines is how many lines of one effect are shown.
const effectLines = 4

// breakText breaks text into a few lines of that width, also inside long words. What does not
// fit is counted.
func breakText(l Style, text string, width int) []string {
	var out []string
	for _, line := range WrapLine(text, width) {
		for termtext.Width(line) > width {
			head := termtext.Cut(line, width) // with a sign in place of the last one
			head = strings.TrimSuffix(head, "…")
			if head == "" {
				break
			}
			out, line = append(out, head), line[len(head):]
		}
		out = append(out, line)
	}
	if len(out) <= effectLines {
		return out
	}
	rest := 0
	for _, line := range out[effectLines-1:] {
		rest += utf8.RuneCountInString(line)
	}
	return append(out[:effectLines-1], l.Dim(l.Glyphs.More+" "+CountNoun(int64(rest), "letter", "letters")+" more, --json"))
}

// promptText is what was asked. Words that the head says already are left out.
func promptText(l Style, t *retake.Turn, title string) string {
	text := promptLine(l, t.Prompt, max(l.Width-cardIndent-4, 20))
	if t.Machine && text != "" {
		text += l.Dim("  no person wrote it")
	}
	first, _, _ := strings.Cut(t.Prompt, "\n")
	if said := l.Glyphs.Quote(termtext.Escape(first)); first != "" && strings.Contains(title, said) {
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
		return "automatic, before a restore"
	case retake.TriggerReturn:
		return "by going back"
	case retake.TriggerFork:
		return "the first of a fork"
	case retake.TriggerPrompt:
		return "automatic, before a turn"
	case retake.TriggerTurn:
		return "after a turn"
	case retake.TriggerTask:
		return "automatic, when a task ended"
	case retake.TriggerRisk:
		return "automatic, before a risky call"
	case retake.TriggerCall:
		return "automatic, after a call"
	case retake.TriggerSession:
		return "automatic, at the end of a session"
	case retake.TriggerQuiet:
		return "automatic, when files came to rest"
	}
	return termtext.Escape(string(t))
}
