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

func newWhyCommand(f *commandLine) *cobra.Command {
	ref := ""
	cmd := &cobra.Command{
		Use: "why PATH:LINE", Short: "Show the turn and the prompt that wrote a line", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return printWhy(f, cmd, args[0], ref) },
	}
	cmd.Flags().StringVar(&ref, "at", "", "the line as it was at `REF`")
	return cmd
}

func printWhy(f *commandLine, cmd *cobra.Command, typed, ref string) error {
	path, line, ok := parseFileLine(typed)
	if !ok {
		return usageError("for example: retake why src/auth.ts:12", "Which line? Usage: %s.", usageLine(cmd))
	}
	ctx := cmd.Context()
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	b, err := readBlame(ctx, f, s, ws, path, ref)
	if err != nil {
		return err
	}
	a, err := blameLine(b, path, line)
	if err != nil {
		return err
	}
	a.Before = replacedLines(ctx, s, ws.ID, a)
	g := term.ReadTargetTitles(ctx, s, ws, []retake.Checkpoint{a.Checkpoint})
	err = f.printAnswer(a, func(l term.Style) string {
		l.Titles = g
		return renderWhy(l, a)
	})
	n := a.Checkpoint.Number
	hints := []string{"the checkpoint", fmt.Sprintf("retake show %d", n)}
	if a.Checkpoint.Turn != nil {
		hints = append(hints, "all that was said", fmt.Sprintf("retake show %d --conversation", n))
	}
	f.printHints(hints...)
	return err
}

// blameLine finds the line of a file, as it was typed, and the checkpoint that wrote it.
func blameLine(b retake.Blame, path string, line int) (whyAnswer, error) {
	switch {
	case b.Why != "":
		return whyAnswer{}, usageError("its checkpoints: retake log --path "+quoteShellLine([]string{path}), "%s has no lines: %s.", path, b.Why)
	case line > len(b.Lines):
		return whyAnswer{}, &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("there is no line %d in %s at checkpoint %d", line, path, b.Checkpoint.Number), Safe: nothingChanged,
			Hint: fmt.Sprintf("it has %s: retake blame %s", term.CountNoun(int64(len(b.Lines)), "line", "lines"), quoteShellLine([]string{path})),
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

// parseFileLine parses PATH:LINE. A path may contain colons, so the number is what follows the
// last one.
func parseFileLine(typed string) (path string, line int, ok bool) {
	i := strings.LastIndexByte(typed, ':')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(typed[i+1:])
	return typed[:i], n, err == nil && n > 0
}

// maxReplacedLines is how many lines of before are worth showing.
const maxReplacedLines = 5

// replacedLines is what stood where the line was written. It is help for the reader: what
// cannot be read is left out.
func replacedLines(ctx context.Context, s retake.Service, ws retake.WorkspaceID, a whyAnswer) []string {
	none := []string{}
	if a.Checkpoint.Parent == "" {
		return none
	}
	var sides [2]string
	for i, id := range []retake.CheckpointID{a.Checkpoint.Parent, a.Checkpoint.ID} {
		in, _, err := s.Open(ctx, ws, string(id), a.Path)
		text, err := term.ContentReader{}.ReadText(in, err)
		if err != nil || len(text) > term.MaxTextSize {
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
func renderWhy(l term.Style, a whyAnswer) string {
	var b strings.Builder
	cp := a.Checkpoint
	who := "by " + authorOf(cp)
	if authorOf(cp) == "" {
		who = "outside any turn"
	}
	fmt.Fprintf(&b, "%s  %s\n\n", l.Bold(fmt.Sprintf("%s:%d", termtext.Escape(a.Path), a.Line)), l.Dim(fmt.Sprintf("as of %d, %s", a.At.Number, l.ShortTime(a.At.Time))))
	room := l.Width - 4
	cut := func(s string) string {
		return l.Glyphs.Cut(termtext.Escape(strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\t", "    ")), room)
	}
	for i, line := range a.Before {
		if i == maxReplacedLines {
			fmt.Fprintf(&b, "  %s\n", l.Dim(fmt.Sprintf("%s %s more", l.Glyphs.Minus, term.CountNoun(int64(len(a.Before)-i), "line", "lines"))))
			break
		}
		fmt.Fprintf(&b, "  %s\n", l.Red(l.Glyphs.Minus+" "+cut(line)))
	}
	fmt.Fprintf(&b, "  %s\n\n", l.Green("+ "+cut(a.Text)))
	text, _ := l.CheckpointTitle(cp, l.Titles)
	head := fmt.Sprintf(", %s, %s: ", l.ShortTime(cp.Time), who)
	room = l.Width - termtext.Width("Written in "+term.CheckpointNumber(cp.Number)+head)
	fmt.Fprintf(&b, "Written in %s%s%s\n", l.Bold(term.CheckpointNumber(cp.Number)), head, l.Glyphs.Cut(text, max(room, 16)))
	b.WriteString(renderPrompt(l, cp))
	return b.String()
}

// promptLines is how much of a prompt is shown; the conversation has all of it.
const promptLines = 12

// renderPrompt is what the agent was asked for, line by line.
func renderPrompt(l term.Style, cp retake.Checkpoint) string {
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
		lines = append(lines, term.WrapLine(termtext.Escape(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    ")), l.Width-2)...)
	}
	for i, line := range lines {
		if i == promptLines {
			fmt.Fprintf(&b, "  %s\n", l.Dim("and "+term.CountNoun(int64(len(lines)-i), "line", "lines")+" more"))
			break
		}
		fmt.Fprintln(&b, strings.TrimRight("  "+l.Glyphs.Cut(line, l.Width-2), " "))
	}
	return b.String()
}
