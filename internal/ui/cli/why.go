package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// whyAnswer is a line and the checkpoint that wrote it.
type whyAnswer struct {
	V          int               `json:"v"`
	Path       string            `json:"path"`
	Line       int               `json:"line"`
	Text       string            `json:"text"`
	Checkpoint retake.Checkpoint `json:"checkpoint"` // that wrote it
	Before     []string          `json:"before"`     // what stood in its place, when it took one
	At         retake.Checkpoint `json:"at"`         // where the line was looked at
}

func (f *face) whyCommand() *cobra.Command {
	ref := ""
	cmd := &cobra.Command{
		Use: "why PATH:LINE", Short: "Show the turn and the prompt that wrote a line", Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.why(cmd, args[0], ref) },
	}
	cmd.Flags().StringVar(&ref, "at", "", "the line as it was at `REF`")
	return cmd
}

func (f *face) why(cmd *cobra.Command, typed, ref string) error {
	path, line, ok := placeOf(typed)
	if !ok {
		return usage("for example: retake why src/auth.ts:12", "Which line? Usage: %s.", useLine(cmd))
	}
	ctx := cmd.Context()
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	b, err := f.blamed(ctx, s, ws, path, ref)
	if err != nil {
		return err
	}
	a, err := lineOf(b, path, line)
	if err != nil {
		return err
	}
	a.Before = replaced(ctx, s, ws.ID, a)
	g := term.GoalsOf(ctx, s, ws, []retake.Checkpoint{a.Checkpoint})
	err = f.emit(a, func(l term.Look) string {
		l.Goals = g
		return renderWhy(l, a)
	})
	n := a.Checkpoint.Number
	hints := []string{"the checkpoint", fmt.Sprintf("retake show %d", n)}
	if a.Checkpoint.Turn != nil {
		hints = append(hints, "all that was said", fmt.Sprintf("retake show %d --conversation", n))
	}
	f.hint(hints...)
	return err
}

// lineOf finds the line of a file, as it was typed, and the checkpoint that wrote it.
func lineOf(b retake.Blame, path string, line int) (whyAnswer, error) {
	switch {
	case b.Why != "":
		return whyAnswer{}, usage("its checkpoints: retake log --path "+shellLine([]string{path}), "%s has no lines: %s.", path, b.Why)
	case line > len(b.Lines):
		return whyAnswer{}, &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("there is no line %d in %s at checkpoint %d", line, path, b.Checkpoint.Number), Safe: nothingChanged,
			Hint: fmt.Sprintf("it has %s: retake blame %s", term.Number(int64(len(b.Lines)), "line", "lines"), shellLine([]string{path})),
		}
	}
	a := whyAnswer{V: 1, Path: b.Path, Line: line, Text: b.Lines[line-1].Text, At: b.Checkpoint}
	for _, m := range b.Checkpoints {
		if m.Number == b.Lines[line-1].Number {
			a.Checkpoint = m
		}
	}
	return a, nil
}

// placeOf reads PATH:LINE. A path may hold colons, a number stands last.
func placeOf(typed string) (path string, line int, ok bool) {
	i := strings.LastIndexByte(typed, ':')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(typed[i+1:])
	return typed[:i], n, err == nil && n > 0
}

// mostReplaced is how many lines of before are worth showing.
const mostReplaced = 5

// replaced is what stood where the line was written. It is help for the reader: what
// cannot be read is left out.
func replaced(ctx context.Context, s retake.Service, ws retake.WorkspaceID, a whyAnswer) []string {
	none := []string{}
	if a.Checkpoint.Parent == "" {
		return none
	}
	var sides [2]string
	for i, id := range []retake.CheckpointID{a.Checkpoint.Parent, a.Checkpoint.ID} {
		in, _, err := s.Open(ctx, ws, string(id), a.Path)
		text, err := term.Content{}.Text(in, err)
		if err != nil || len(text) > term.TextLimit {
			return none
		}
		sides[i] = text
	}
	var minus []string
	found := false
	for _, e := range term.DiffLines(term.SplitLines(sides[0]), term.SplitLines(sides[1])) {
		switch line := strings.TrimRight(e.Line, "\r\n"); {
		case e.Op == '-':
			minus = append(minus, line)
		case e.Op == '+':
			found = found || line == strings.TrimRight(a.Text, "\r\n")
		case found:
			return append(none, minus...)
		default:
			minus = nil
		}
	}
	if found {
		return append(none, minus...)
	}
	return none
}

// renderWhy is the line, who wrote it, and the words that led to it.
func renderWhy(l term.Look, a whyAnswer) string {
	var b strings.Builder
	cp := a.Checkpoint
	who := "by " + writer(cp)
	if writer(cp) == "" {
		who = "outside any turn"
	}
	fmt.Fprintf(&b, "%s  %s\n\n", l.Bold(fmt.Sprintf("%s:%d", termtext.Escape(a.Path), a.Line)), l.Dim(fmt.Sprintf("as of %d, %s", a.At.Number, l.Clock(a.At.Time))))
	room := l.Width - 4
	cut := func(s string) string {
		return l.Glyphs.Cut(termtext.Escape(strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\t", "    ")), room)
	}
	for i, line := range a.Before {
		if i == mostReplaced {
			fmt.Fprintf(&b, "  %s\n", l.Dim(fmt.Sprintf("%s %s more", l.Glyphs.Minus, term.Number(int64(len(a.Before)-i), "line", "lines"))))
			break
		}
		fmt.Fprintf(&b, "  %s\n", l.Red(l.Glyphs.Minus+" "+cut(line)))
	}
	fmt.Fprintf(&b, "  %s\n\n", l.Green("+ "+cut(a.Text)))
	text, _ := l.Titled(cp, l.Goals)
	head := fmt.Sprintf(", %s, %s: ", l.Clock(cp.Time), who)
	room = l.Width - termtext.Width("Written in "+term.Numeral(cp.Number)+head)
	fmt.Fprintf(&b, "Written in %s%s%s\n", l.Bold(term.Numeral(cp.Number)), head, l.Glyphs.Cut(text, max(room, 16)))
	b.WriteString(wholePrompt(l, cp))
	return b.String()
}

// promptLines is how much of a prompt is shown; the conversation has all of it.
const promptLines = 12

// wholePrompt is what the agent was asked for, line by line.
func wholePrompt(l term.Look, cp retake.Checkpoint) string {
	if cp.Turn == nil || cp.Turn.Prompt == "" {
		return ""
	}
	var b strings.Builder
	label := "What was asked for"
	switch {
	case cp.Trigger == retake.TriggerPrompt:
		label = "What was asked for after it was written"
	case cp.Turn.Machine:
		label = "What was asked for, and no person wrote it"
	}
	fmt.Fprintf(&b, "\n%s\n\n", l.Dim(label))
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(cp.Turn.Prompt), "\n") {
		lines = append(lines, term.Wrapped(termtext.Escape(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    ")), l.Width-2)...)
	}
	for i, line := range lines {
		if i == promptLines {
			fmt.Fprintf(&b, "  %s\n", l.Dim("and "+term.Number(int64(len(lines)-i), "line", "lines")+" more"))
			break
		}
		fmt.Fprintln(&b, strings.TrimRight("  "+l.Glyphs.Cut(line, l.Width-2), " "))
	}
	return b.String()
}
