package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
	"github.com/retake-dev/retake/internal/secret"
)

const (
	tailLines = 10 // of what a run printed
	callLines = 6
)

// beside are the lines that a wide card has on its right: the end of a failing run, what
// was said, and the tasks.
func (l look) beside(c card, width int) []string {
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
			part(l.outputTail(c, v, width))
			break
		}
	}
	part(l.saidBeside(c, width))
	part(l.tasksBeside(c, width))
	return out
}

// outputTail is the end of what a run printed, and how much there is before it.
func (l look) outputTail(c card, v retake.Verification, width int) []string {
	title := "The end of the failing run  "
	about := l.facts(screen.Escape(v.Command), l.clock(v.Started), screen.Took(v.Took))
	out := []string{l.bold(title) + l.dim(l.g.Cut(about, max(width-len(title), 0))), ""}
	lines := splitLines(strings.TrimRight(v.Output, "\n"))
	if more := len(lines) - tailLines; more > 0 {
		out = append(out, "  "+l.dim(l.g.Cut(fmt.Sprintf("%s %s more: retake show %d --output %s", l.g.More, number(int64(more), "line", "lines"), c.Checkpoint.Number, screen.Escape(v.Name)), width-2)))
		lines = lines[more:]
	}
	for _, line := range lines {
		text := strings.ReplaceAll(trimNewline(line), "\t", "    ")
		out = append(out, "  "+l.g.Cut(screen.Escape(text), width-2))
	}
	return out
}

// saidBeside is what was asked, called and answered in the turn of a moment.
func (l look) saidBeside(c card, width int) []string {
	t := c.Checkpoint.Turn
	if t == nil {
		return nil
	}
	var out []string
	say := func(who, text string, paint func(string) string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		for i, line := range wrap(screen.Escape(strings.Join(strings.Fields(text), " ")), max(width-12, 20)) {
			if i > 0 {
				who = ""
			}
			if i == 4 {
				out = append(out, strings.Repeat(" ", 12)+l.dim(l.g.More+" retake show "+numeral(c.Checkpoint.Number)+" --conversation"))
				break
			}
			out = append(out, "  "+l.dim(screen.Pad(who, 8))+"  "+paint(l.g.Cut(line, max(width-12, 20))))
		}
	}
	say("you", t.Prompt, plainText)
	if c.state != nil {
		calls := c.state.Calls
		if more := len(calls) - callLines; more > 0 {
			out = append(out, strings.Repeat(" ", 12)+l.dim(l.g.More+" "+number(int64(more), "call", "calls")+" more"))
			calls = calls[more:]
		}
		for _, call := range calls {
			out = append(out, "  "+l.dim(screen.Pad("call", 8))+"  "+l.callLine(call, max(width-12, 20)))
		}
	}
	say(l.g.Cut(agentWord(t.Agent), 8), t.Words, plainText)
	if len(out) == 0 {
		return nil
	}
	return append([]string{l.bold("What was said"), ""}, out...)
}

func (l look) callLine(call retake.Call, width int) string {
	text := call.Command
	switch {
	case text != "":
	case len(call.Paths) > 0:
		text = call.Tool + " " + strings.Join(call.Paths, " ")
	default:
		text = strings.TrimSpace(call.Server + " " + call.Tool)
	}
	text, _ = secret.Mask(text)
	first, _, _ := strings.Cut(text, "\n")
	if !call.Failed {
		return l.dim(l.g.Cut(screen.Escape(first), width))
	}
	return l.dim(l.g.Cut(screen.Escape(first), width-8)) + "  " + l.red("failed")
}

// tasksBeside is the to-do list, in lines that wrap between tasks.
func (l look) tasksBeside(c card, width int) []string {
	if c.state == nil || len(c.state.Tasks) == 0 {
		return nil
	}
	list := c.state.Tasks
	left := len(slices.DeleteFunc(slices.Clone(list), func(t retake.Task) bool { return !t.Open() }))
	out := []string{l.bold("Tasks  ") + l.dim(fmt.Sprintf("%d of %d left", left, len(list))), ""}
	for _, t := range list {
		sign, paint := screen.Pad(l.g.Ring, screen.Width(l.g.Yes)), l.dim
		switch t.Status {
		case retake.TaskCompleted:
			sign = l.green(l.g.Yes)
		case retake.TaskFailed:
			sign = l.red(l.g.No)
		case retake.TaskActive:
			sign, paint = l.bold(screen.Pad(l.g.Point, screen.Width(l.g.Yes))), plainText
		case retake.TaskSkipped, retake.TaskPending:
		}
		out = append(out, "  "+sign+" "+paint(l.g.Cut(screen.Escape(t.Title), max(width-6, 20))))
	}
	return out
}
