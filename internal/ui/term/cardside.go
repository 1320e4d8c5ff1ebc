package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

const (
	tailLines = 10 // of what a run printed
	callLines = 6
)

// sideColumn are the lines that a wide card has on its right: the end of a failing run, what
// was said, and the tasks.
func sideColumn(l Style, c Card, width int) []string {
	var out []string
	part := func(lines []string) {
		if len(lines) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	for _, v := range c.Verifications {
		if v.Verdict == retake.Failed && !v.Claim && v.Output != "" {
			part(outputTail(l, c, v, width))
			break
		}
	}
	part(conversationColumn(l, c, width))
	part(taskColumn(l, c, width))
	return out
}

// outputTail is the end of what a run printed, and how much there is before it.
func outputTail(l Style, c Card, v retake.Verification, width int) []string {
	title := "The end of the failing run  "
	about := l.JoinFacts(termtext.Escape(v.Command), l.ShortTime(v.Started), termtext.Duration(v.Took))
	out := []string{l.Bold(title) + l.Dim(l.Glyphs.Cut(about, max(width-len(title), 0))), ""}
	lines := SplitLines(strings.TrimRight(v.Output, "\n"))
	if more := len(lines) - tailLines; more > 0 {
		out = append(out, "  "+l.Dim(l.Glyphs.Cut(fmt.Sprintf("%s %s more: retake show %d --output %s", l.Glyphs.More, CountNoun(int64(more), "line", "lines"), c.Checkpoint.Number, termtext.Escape(v.Name)), width-2)))
		lines = lines[more:]
	}
	for _, line := range lines {
		text := strings.ReplaceAll(TrimNewline(line), "\t", "    ")
		out = append(out, "  "+l.Glyphs.Cut(termtext.Escape(text), width-2))
	}
	return out
}

// conversationColumn is what was asked, called and answered in the turn of a checkpoint.
func conversationColumn(l Style, c Card, width int) []string {
	t := c.Checkpoint.Turn
	if t == nil {
		return nil
	}
	var out []string
	say := func(who, text string, paint func(string) string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		for i, line := range Wrap(termtext.Escape(strings.Join(strings.Fields(text), " ")), max(width-12, 20)) {
			if i > 0 {
				who = ""
			}
			if i == 4 {
				out = append(out, strings.Repeat(" ", 12)+l.Dim(l.Glyphs.More+" retake show "+CheckpointNumber(c.Checkpoint.Number)+" --conversation"))
				break
			}
			out = append(out, "  "+l.Dim(termtext.Pad(who, 8))+"  "+paint(l.Glyphs.Cut(line, max(width-12, 20))))
		}
	}
	say("you", t.Prompt, Unpainted)
	if c.State != nil {
		calls := c.State.Calls
		if more := len(calls) - callLines; more > 0 {
			out = append(out, strings.Repeat(" ", 12)+l.Dim(l.Glyphs.More+" "+CountNoun(int64(more), "call", "calls")+" more"))
			calls = calls[more:]
		}
		for _, call := range calls {
			out = append(out, "  "+l.Dim(termtext.Pad("call", 8))+"  "+callLine(l, call, max(width-12, 20)))
		}
	}
	say(l.Glyphs.Cut(termtext.Escape(view.AgentName(t.Agent)), 8), t.Words, Unpainted)
	if len(out) == 0 {
		return nil
	}
	return append([]string{l.Bold("What was said"), ""}, out...)
}

func callLine(l Style, call retake.Call, width int) string {
	text := call.Command
	switch {
	case text != "":
	case len(call.Paths) > 0:
		text = call.Tool + " " + strings.Join(call.Paths, " ")
	default:
		text = strings.TrimSpace(call.Server + " " + call.Tool)
	}
	text, _ = secrets.Mask(text)
	first, _, _ := strings.Cut(text, "\n")
	if !call.Failed {
		return l.Dim(l.Glyphs.Cut(termtext.Escape(first), width))
	}
	return l.Dim(l.Glyphs.Cut(termtext.Escape(first), width-8)) + "  " + l.Red("failed")
}

// taskColumn is the to-do list, in lines that wrap between tasks.
func taskColumn(l Style, c Card, width int) []string {
	if c.State == nil || len(c.State.Tasks) == 0 {
		return nil
	}
	list := c.State.Tasks
	left := len(slices.DeleteFunc(slices.Clone(list), func(t retake.Task) bool { return !t.Open() }))
	out := []string{l.Bold("Tasks  ") + l.Dim(fmt.Sprintf("%d of %d left", left, len(list))), ""}
	for _, t := range list {
		sign, paint := termtext.Pad(l.Glyphs.Ring, termtext.Width(l.Glyphs.Yes)), l.Dim
		switch t.Status {
		case retake.TaskCompleted:
			sign = l.Green(l.Glyphs.Yes)
		case retake.TaskFailed:
			sign = l.Red(l.Glyphs.No)
		case retake.TaskActive:
			sign, paint = l.Bold(termtext.Pad(l.Glyphs.Point, termtext.Width(l.Glyphs.Yes))), Unpainted
		case retake.TaskSkipped, retake.TaskPending:
		}
		out = append(out, "  "+sign+" "+paint(l.Glyphs.Cut(termtext.Escape(t.Title), max(width-6, 20))))
	}
	return out
}
