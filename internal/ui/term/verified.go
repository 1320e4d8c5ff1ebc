package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// maxOutputLines is how many lines of what a run printed are shown; its end tells most.
const maxOutputLines = 40

// RenderVerifications tells every run about a checkpoint, and the end of what each printed.
func RenderVerifications(l Style, c Card) string {
	if len(c.Verifications) == 0 && len(c.answers()) == 0 {
		return "No checks were run on this checkpoint.\n\n" + l.Dim("A check is a command that passes or fails: retake verify -- npm test") + "\n"
	}
	var b strings.Builder
	for _, line := range verificationLines(l, c) {
		b.WriteString("  " + line + "\n")
	}
	for _, v := range c.Verifications {
		b.WriteString("\n" + runHead(l, v) + "\n")
		b.WriteString(runOutput(l, c, v))
	}
	return b.String()
}

func runHead(l Style, v retake.Verification) string {
	sign, color := l.VerdictMark(v.Verdict, v.Claim)
	exit := ""
	if v.Exit != 0 {
		exit = fmt.Sprintf("exit %d", v.Exit)
	}
	as := ""
	if v.Number != 0 {
		as = fmt.Sprintf("on %d", v.Number)
	}
	facts := l.JoinFacts(l.Glyphs.Cut(termtext.Escape(v.Command), 60), exit, l.ShortTime(v.Started), termtext.Duration(v.Took), as, runSource(v))
	return color(sign) + " " + l.Bold(termtext.Escape(v.Name)) + "  " + l.Dim(facts)
}

func runOutput(l Style, c Card, v retake.Verification) string {
	lines := SplitLines(strings.TrimRight(v.Output, "\n"))
	if len(lines) == 0 {
		return "  " + l.Dim("it printed nothing, or nothing is kept") + "\n"
	}
	var b strings.Builder
	if more := len(lines) - maxOutputLines; more > 0 {
		fmt.Fprintf(&b, "  %s\n", l.Dim(fmt.Sprintf("%s %s before: retake show %d --output %s", l.Glyphs.More, CountNoun(int64(more), "line", "lines"), c.Checkpoint.Number, termtext.Escape(v.Name))))
		lines = lines[more:]
	}
	for _, line := range lines {
		b.WriteString("  " + EscapeLine(TrimNewline(line)) + "\n")
	}
	return b.String()
}

// RenderTurnConversation tells what was asked, called and answered in the turn of a checkpoint, and its
// tasks.
func RenderTurnConversation(l Style, c Card) string {
	var out []string
	for _, lines := range [][]string{conversationColumn(l, c, l.Width), taskColumn(l, c, l.Width)} {
		if len(lines) > 0 && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	if len(out) == 0 {
		return "No agent was working, so there are no messages.\n"
	}
	return strings.Join(out, "\n") + "\n"
}
